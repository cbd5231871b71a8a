// SPDX-License-Identifier: Apache-2.0
//! The end that receives: it counts what arrives, and discards it.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use quinn_proto::{ClientConfig, Connection, Dir, Event, ReadableError, StreamEvent, StreamId};
use serde::Serialize;

use crate::ending::{self, DONE, RESUME};

/// The receiver's report.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// Payload received, each byte once: also that behind a gap, which the end of the flow may leave in a stream.
    pub received_bytes: u64,
    /// The time from the flow's first payload to its last.
    pub receiving_s: f64,
    /// Streams opened.
    pub streams: u64,
    /// Datagrams (RFC 9221) received.
    pub datagrams: u64,
    /// UDP datagrams received.
    pub udp_datagrams: u64,
    /// UDP payload received.
    pub udp_bytes: u64,
}

/// The receiver's application.
pub struct Receiver {
    ends: Instant,
    limit: Duration,
    connections: u64,
    over: bool,
    first: Option<Instant>,
    last: Option<Instant>,
    report: Report,
}

impl Receiver {
    /// Makes a receiver that gives up `limit` after `now`.
    pub fn new(limit: Duration, now: Instant) -> Self {
        Self {
            ends: now + limit,
            limit,
            connections: 0,
            over: false,
            first: None,
            last: None,
            report: Report::default(),
        }
    }

    /// Returns the report, at the end.
    ///
    /// # Errors
    /// Nobody came.
    pub fn report(mut self) -> Result<Report> {
        if self.connections == 0 {
            let limit_s = self.limit.as_secs_f64();
            bail!("no sender came within {limit_s} s. Look for a firewall that blocks UDP");
        }
        if let (Some(first), Some(last)) = (self.first, self.last) {
            self.report.receiving_s = (last - first).as_secs_f64();
        }
        Ok(self.report)
    }

    fn take(&mut self, bytes: usize, now: Instant) {
        if bytes > 0 {
            self.report.received_bytes += bytes as u64;
            self.first.get_or_insert(now);
            self.last = Some(now);
        }
    }

    fn read(&mut self, connection: &mut Connection, id: StreamId, now: Instant) {
        let mut bytes = 0;
        let mut stream = connection.recv_stream(id);
        // In any order: a byte behind a loss has arrived, and counts once.
        match stream.read(false) {
            Ok(mut chunks) => {
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    bytes += chunk.bytes.len();
                }
                let _ = chunks.finalize(); // the next transmission takes place in any case
            }
            Err(ReadableError::ClosedStream | ReadableError::IllegalOrderedRead) => {}
        }
        self.take(bytes, now);
    }

    fn count(&mut self, connection: &Connection) {
        let stats = connection.stats();
        self.report.udp_datagrams = stats.udp_rx.datagrams;
        self.report.udp_bytes = stats.udp_rx.bytes;
    }
}

impl super::endpoint::Application for Receiver {
    fn event(&mut self, connection: &mut Connection, event: Event, now: Instant) -> Result<()> {
        match event {
            Event::Connected => self.connections += 1,
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                while let Some(id) = connection.streams().accept(Dir::Uni) {
                    self.report.streams += 1;
                    self.read(connection, id, now);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(connection, id, now),
            Event::DatagramReceived => {
                while let Some(datagram) = connection.datagrams().recv() {
                    self.report.datagrams += 1;
                    self.take(datagram.len(), now);
                }
            }
            Event::ConnectionLost { reason } => match ending::code_of_peer(&reason) {
                Some(DONE) => {
                    self.count(connection);
                    self.over = true;
                }
                Some(RESUME) => self.report.streams = 0,
                _ => bail!("{}", ending::explain(&reason, connection.remote_address())),
            },
            _ => {}
        }
        Ok(())
    }

    fn work(&mut self, connection: &mut Connection, now: Instant) -> Result<()> {
        if now >= self.ends {
            self.count(connection);
        }
        Ok(())
    }

    fn due(&self) -> Option<Instant> {
        (!self.over).then_some(self.ends)
    }

    fn wanted(&mut self) -> Option<ClientConfig> {
        None
    }

    /// Stays for the draining period (RFC 9000 section 10.2.2), in which the last packets arrive.
    fn is_over(&self, connected: bool, now: Instant) -> bool {
        (self.over && !connected) || now >= self.ends
    }
}
