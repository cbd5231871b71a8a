// SPDX-License-Identifier: Apache-2.0
//! The end that sends: for a time, or a volume; on streams, or in datagrams.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use bytes::Bytes;
use quinn_proto::{
    ClientConfig, Connection, Dir, Event, FinishError, SendDatagramError, StreamEvent, StreamId,
    WriteError,
};
use serde::Serialize;

use crate::ending::{self, DONE, RESUME};

/// The bytes that one write offers to a stream.
const CHUNK: Bytes = Bytes::from_static(&[0; 1 << 16]);

/// The load that is sent.
#[derive(Debug, Clone)]
pub struct Load {
    /// The longest time that it takes.
    pub duration: Duration,
    /// The volume; none: as much as the time allows.
    pub volume_bytes: Option<u64>,
    /// Streams at once.
    pub streams: u64,
    /// In datagrams (RFC 9221) in place of streams.
    pub in_datagrams: bool,
    /// Makes a first connection, so that the flow's own begins with 0-RTT.
    pub with_zero_rtt: bool,
    /// The time that the handshake may take.
    pub patience: Duration,
}

/// The sender's report.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Payload that quinn took.
    pub written_bytes: u64,
    /// The time from the start of the connection until the last was written, or acknowledged if there is a volume.
    pub sending_s: f64,
    /// The time until the handshake was complete.
    pub handshake_s: f64,
    /// Whether data was sent with the first packets, and the receiver took it.
    pub zero_rtt: Option<bool>,
    /// Datagrams (RFC 9221) that quinn took.
    pub datagrams: u64,
    /// UDP datagrams sent.
    pub udp_datagrams: u64,
    /// UDP payload sent.
    pub udp_bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Their bytes.
    pub lost_bytes: u64,
    /// Reductions of the window.
    pub congestion_events: u64,
    /// The largest UDP payload that the path was found to carry.
    pub path_mtu_bytes: u16,
    /// Least RTT.
    pub min_rtt_ms: f64,
}

#[derive(Debug, PartialEq)]
enum Stage {
    /// The first connection, whose ticket the flow's own needs.
    Resuming,
    Sending,
    Closing,
}

/// The sender's application.
pub struct Sender {
    load: Load,
    config: ClientConfig,
    stage: Stage,
    wanted: bool,
    began: Instant,
    handshaken: Option<Instant>,
    /// The bytes of each stream that remain to be written; none: no limit.
    streams: BTreeMap<StreamId, Option<u64>>,
    opened: u64,
    number: u64,
    /// The room for datagrams in the connection while it holds none.
    room_bytes: usize,
    report: Report,
    offered_zero_rtt: bool,
}

impl Sender {
    /// Makes a sender that starts at `now`.
    pub fn new(load: Load, config: ClientConfig, now: Instant) -> Self {
        let stage = if load.with_zero_rtt {
            Stage::Resuming
        } else {
            Stage::Sending
        };
        Self {
            load,
            config,
            stage,
            wanted: true,
            began: now,
            handshaken: None,
            streams: BTreeMap::new(),
            opened: 0,
            number: 0,
            room_bytes: 0,
            report: Report::default(),
            offered_zero_rtt: false,
        }
    }

    /// Returns the report, at the end.
    pub fn report(self) -> Report {
        self.report
    }

    fn until(&self) -> Instant {
        self.began + self.load.duration
    }

    fn share_of_a_stream(&self) -> Option<u64> {
        let volume = self.load.volume_bytes?;
        let extra = u64::from(self.opened < volume % self.load.streams);
        Some(volume / self.load.streams + extra)
    }

    fn open_streams(&mut self, connection: &mut Connection) -> Result<()> {
        while self.opened < self.load.streams {
            let Some(id) = connection.streams().open(Dir::Uni) else {
                break;
            };
            let share = self.share_of_a_stream();
            if share == Some(0) {
                finish(connection, id)?;
            }
            self.streams.insert(id, share);
            self.opened += 1;
        }
        Ok(())
    }

    fn write_streams(&mut self, connection: &mut Connection) -> Result<()> {
        self.open_streams(connection)?;
        let mut progress = true;
        while progress {
            progress = false;
            for (id, remaining) in &mut self.streams {
                if *remaining == Some(0) {
                    continue;
                }
                let most = remaining.map_or(CHUNK.len(), |bytes| CHUNK.len().min(bytes as usize));
                let mut stream = connection.send_stream(*id);
                match stream.write_chunks(&mut [CHUNK.slice(..most)]) {
                    Ok(written) => {
                        self.report.written_bytes += written.bytes as u64;
                        progress |= written.bytes > 0;
                        if let Some(bytes) = remaining {
                            *bytes -= written.bytes as u64;
                            if *bytes == 0 {
                                finish(connection, *id)?;
                            }
                        }
                    }
                    Err(WriteError::Blocked) => {}
                    Err(error) => bail!("stream {id}: {error}"),
                }
            }
        }
        Ok(())
    }

    fn write_datagrams(&mut self, connection: &mut Connection) -> Result<()> {
        while self
            .load
            .volume_bytes
            .is_none_or(|volume| self.report.written_bytes < volume)
        {
            let mut datagrams = connection.datagrams();
            let Some(most) = datagrams.max_size() else {
                bail!("the receiver takes no datagrams (RFC 9221). Leave out --datagrams");
            };
            // The last one is shorter, but has its number.
            let left = self
                .load
                .volume_bytes
                .map(|volume| volume - self.report.written_bytes);
            let most = left.map_or(most, |left| most.min(left.max(8) as usize));
            let mut content = vec![0; most];
            content[..8].copy_from_slice(&self.number.to_be_bytes());
            match datagrams.send(content.into(), false) {
                Ok(()) => {
                    self.number += 1;
                    self.report.datagrams += 1;
                    self.report.written_bytes += most as u64;
                }
                Err(SendDatagramError::Blocked(_)) => return Ok(()),
                Err(error) => bail!("datagrams: {error}"),
            }
        }
        Ok(())
    }

    fn close(&mut self, connection: &mut Connection, now: Instant) {
        let stats = connection.stats();
        let report = &mut self.report;
        report.sending_s = (now - self.began).as_secs_f64();
        report.udp_datagrams = stats.udp_tx.datagrams;
        report.udp_bytes = stats.udp_tx.bytes;
        report.packets = stats.path.sent_packets;
        report.lost_packets = stats.path.lost_packets;
        report.lost_bytes = stats.path.lost_bytes;
        report.congestion_events = stats.path.congestion_events;
        report.path_mtu_bytes = stats.path.current_mtu;
        report.min_rtt_ms = connection.min_rtt().as_secs_f64() * 1e3;
        connection.close(now, DONE, Bytes::new());
        self.stage = Stage::Closing;
    }

    fn late(&self) -> anyhow::Error {
        let volume = self.load.volume_bytes.unwrap_or_default() as f64 / 1e6;
        let duration_s = self.load.duration.as_secs_f64();
        anyhow::anyhow!("{volume} MB were not sent within {duration_s} s. Choose a longer duration")
    }
}

fn finish(connection: &mut Connection, id: StreamId) -> Result<()> {
    match connection.send_stream(id).finish() {
        Ok(()) | Err(FinishError::ClosedStream) => Ok(()),
        Err(error) => bail!("stream {id}: {error}"),
    }
}

impl super::endpoint::Application for Sender {
    fn event(&mut self, connection: &mut Connection, event: Event, now: Instant) -> Result<()> {
        match event {
            Event::Connected => {
                self.handshaken = Some(now);
                self.room_bytes = connection.datagrams().send_buffer_space();
                self.report.handshake_s = (now - self.began).as_secs_f64();
                if self.stage == Stage::Resuming {
                    let stream = connection.streams().open(Dir::Uni);
                    if let Some(id) = stream {
                        finish(connection, id)?;
                    }
                } else if self.load.with_zero_rtt {
                    self.report.zero_rtt =
                        Some(self.offered_zero_rtt && connection.accepted_0rtt());
                }
            }
            Event::Stream(StreamEvent::Finished { id }) => {
                if self.stage == Stage::Resuming {
                    connection.close(now, RESUME, Bytes::new());
                }
                self.streams.remove(&id);
            }
            Event::ConnectionLost { reason } if self.stage != Stage::Closing => {
                if ending::is_our_close(&reason) && self.stage == Stage::Resuming {
                    return Ok(());
                }
                bail!("{}", ending::explain(&reason, connection.remote_address()));
            }
            _ => {}
        }
        Ok(())
    }

    fn work(&mut self, connection: &mut Connection, now: Instant) -> Result<()> {
        if connection.is_closed() {
            if self.stage == Stage::Resuming {
                self.stage = Stage::Sending;
                self.wanted = true;
                self.handshaken = None;
                self.began = now;
            }
            return Ok(());
        }
        if self.handshaken.is_none()
            && now >= self.began + self.load.patience.min(self.load.duration)
        {
            bail!(
                "{}",
                ending::no_answer(
                    connection.remote_address(),
                    self.load.patience.min(self.load.duration)
                )
            );
        }
        if self.stage != Stage::Sending {
            return Ok(());
        }
        if self.handshaken.is_none() {
            self.offered_zero_rtt |= connection.has_0rtt();
            if !connection.has_0rtt() {
                return Ok(());
            }
        }
        if now >= self.until() {
            if self.load.volume_bytes.is_some() {
                return Err(self.late());
            }
            self.close(connection, now);
            return Ok(());
        }
        if !self.load.in_datagrams {
            self.write_streams(connection)?;
        } else if self.handshaken.is_some() {
            self.write_datagrams(connection)?;
        }
        let written = self
            .load
            .volume_bytes
            .is_some_and(|volume| self.report.written_bytes >= volume);
        if written && self.all_left(connection) {
            self.close(connection, now);
        }
        Ok(())
    }

    fn due(&self) -> Option<Instant> {
        match (self.stage == Stage::Closing, self.handshaken) {
            (true, _) => None,
            (false, None) => Some(self.began + self.load.patience.min(self.load.duration)),
            (false, Some(_)) => Some(self.until()),
        }
    }

    fn wanted(&mut self) -> Option<ClientConfig> {
        std::mem::take(&mut self.wanted).then(|| self.config.clone())
    }

    fn is_over(&self, connected: bool, _now: Instant) -> bool {
        self.stage == Stage::Closing && !connected
    }
}

impl Sender {
    /// Returns whether streams have arrived whole, and whether no datagram waits to be sent.
    fn all_left(&self, connection: &mut Connection) -> bool {
        if self.load.in_datagrams {
            connection.datagrams().send_buffer_space() >= self.room_bytes
        } else {
            self.streams.is_empty() && self.opened == self.load.streams
        }
    }
}
