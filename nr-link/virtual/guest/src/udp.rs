// SPDX-License-Identifier: Apache-2.0
//! A UDP flow at a constant rate, with iperf3's header in each datagram: seconds, microseconds and a
//! number that counts from 1, 32 bits each, big-endian.

use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{Context, Result, bail};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockType, SockaddrStorage, connect, recvmsg, send, setsockopt,
    sockopt,
};
use nix::sys::time::TimeSpec;
use nr_link_virtual_plan::{Datagrams, Flow as Plan, FlowReport, Interval, Transport};

use crate::clock::{self, Nanos, SECOND, nanos, seconds};
use crate::flow::{Flow, FlowContext};
use crate::socket;

const HEADER_BYTES: usize = 12;
/// The interval at which datagrams that have become due are sent, as in iperf3.
const PACING: Nanos = SECOND / 1000;
/// The interval at which the receiver reads.
const READING: Nanos = SECOND / 100;
/// Holds what comes between two readings at any rate.
const BUFFER_BYTES: usize = 64 << 20;
/// The last has come, if for so long none comes after the sender's end.
const SILENCE: Nanos = SECOND / 2;
/// The longest wait after the sender's end; later datagrams count as lost. A deep queue before a slow link empties for minutes.
const LONGEST_DRAINING: Nanos = 10 * SECOND;
const INTERVAL: Nanos = SECOND;

/// Both ends of a flow.
#[derive(Debug)]
pub struct UdpFlow {
    plan: Plan,
    datagram: Vec<u8>,
    /// Time between two datagrams.
    spacing_ns: f64,
    start: Nanos,
    sender: Option<OwnedFd>,
    receiver: OwnedFd,
    next_sending: Nanos,
    next_reading: Nanos,
    next_interval: Nanos,
    last_arrival: Nanos,
    highest_number: u64,
    /// UTC of arrival less UTC of sending of the last datagram, ns.
    transit_ns: Option<i64>,
    over: bool,
    report: FlowReport,
    /// At the last interval's end.
    counted: Counted,
}

#[derive(Debug, Default)]
struct Counted {
    at: Nanos,
    sent_bytes: u64,
    sent_datagrams: u64,
    received_bytes: u64,
    datagrams: Datagrams,
}

impl UdpFlow {
    /// Makes both sockets of a flow whose second 0 is `start`.
    pub fn listen(plan: &Plan, start: Nanos, context: &FlowContext) -> Result<Self> {
        let Transport::Udp {
            rate_bps,
            length_bytes,
        } = plan.transport
        else {
            bail!("flow {} is not of UDP", plan.id);
        };
        let [from, to] = [
            (plan.sender, plan.sending_port),
            (plan.receiver, plan.listening_port),
        ]
        .map(|(host, port)| SocketAddr::new(context.hosts.address(host), port));
        context.hosts.enter(plan.receiver)?;
        let receiver = socket::bound(SockType::Datagram, to)?;
        setsockopt(&receiver, sockopt::RcvBufForce, &BUFFER_BYTES).context("SO_RCVBUFFORCE")?;
        setsockopt(&receiver, sockopt::ReceiveTimestampns, &true).context("SO_TIMESTAMPNS")?;
        context.hosts.enter(plan.sender)?;
        let sender = socket::bound(SockType::Datagram, from)?;
        connect(sender.as_raw_fd(), &SockaddrStorage::from(to)).context("connecting")?;
        let start = start + nanos(plan.start_s);
        Ok(Self {
            datagram: vec![0; (length_bytes as usize).max(HEADER_BYTES)],
            spacing_ns: f64::from(length_bytes) * 8e9 / rate_bps,
            start,
            sender: Some(sender),
            receiver,
            next_sending: start,
            next_reading: start + READING,
            next_interval: start + INTERVAL,
            last_arrival: start,
            highest_number: 0,
            transit_ns: None,
            over: false,
            report: FlowReport {
                id: plan.id.clone(),
                segment_bytes: length_bytes,
                ..FlowReport::default()
            },
            counted: Counted {
                at: start,
                ..Counted::default()
            },
            plan: plan.clone(),
        })
    }

    fn end(&self) -> Nanos {
        self.start + nanos(self.plan.duration_s)
    }

    /// Sends what is due by `now`.
    fn send(&mut self, now: Nanos) -> Result<()> {
        let sender = self.sender.as_ref().context("no sender")?;
        let utc = clock::utc()?;
        if self.report.sent_datagrams == 0 {
            self.report.start_utc_ns = utc as i64;
        }
        let seconds_part = ((utc / SECOND) as u32).to_be_bytes();
        let microseconds = ((utc % SECOND / 1000) as u32).to_be_bytes();
        self.datagram[..4].copy_from_slice(&seconds_part);
        self.datagram[4..8].copy_from_slice(&microseconds);
        while self.sending(self.report.sent_datagrams) <= now {
            let number = self.report.sent_datagrams + 1;
            self.datagram[8..12].copy_from_slice(&(number as u32).to_be_bytes());
            match send(sender.as_raw_fd(), &self.datagram, MsgFlags::empty()) {
                Ok(length) => self.report.sent_bytes += length as u64,
                Err(Errno::EAGAIN) => break,
                Err(error) => bail!("flow {}: sending: {error}", self.plan.id),
            }
            self.report.sent_datagrams = number;
        }
        self.next_sending = self
            .sending(self.report.sent_datagrams)
            .max(now + PACING)
            .min(self.end());
        Ok(())
    }

    /// When a datagram is due, by its number from 0.
    fn sending(&self, number: u64) -> Nanos {
        self.start + (number as f64 * self.spacing_ns) as Nanos
    }

    fn receive(&mut self, now: Nanos) -> Result<()> {
        while let Some((length, header, arrival_utc)) = receive(&self.receiver)? {
            let word = |at: usize| {
                u32::from_be_bytes(header[at..at + 4].try_into().expect("four bytes")).into()
            };
            let (seconds_part, microseconds, number): (u64, u64, u64) = (word(0), word(4), word(8));
            let sent_utc = seconds_part * SECOND + microseconds * 1000;
            self.last_arrival = now;
            self.report.received_bytes += length as u64;
            let datagrams = &mut self.report.datagrams;
            datagrams.received += 1;
            if number > self.highest_number {
                datagrams.lost += number - self.highest_number - 1;
                self.highest_number = number;
            } else {
                datagrams.out_of_order += 1;
                datagrams.lost = datagrams.lost.saturating_sub(1);
            }
            let transit_ns = arrival_utc as i64 - sent_utc as i64;
            if let Some(before_ns) = self.transit_ns.replace(transit_ns) {
                let change_ms = (transit_ns - before_ns).abs() as f64 / 1e6;
                datagrams.jitter_ms += (change_ms - datagrams.jitter_ms) / 16.0;
            }
            self.report.receiving_s = seconds(now - self.start);
        }
        Ok(())
    }

    fn end_interval(&mut self, now: Nanos) -> Result<()> {
        self.receive(now)?;
        self.next_interval = now + INTERVAL;
        let counted = &self.counted;
        if now == counted.at {
            return Ok(());
        }
        let interval = |bytes, datagrams| Interval {
            start_s: seconds(counted.at - self.start),
            end_s: seconds(now - self.start),
            bytes,
            tcp: None,
            datagrams: Some(datagrams),
        };
        if self.sender.is_some() {
            let sent = Datagrams {
                received: self.report.sent_datagrams - counted.sent_datagrams,
                ..Datagrams::default()
            };
            let bytes = self.report.sent_bytes - counted.sent_bytes;
            self.report.sender.push(interval(bytes, sent));
        }
        let (now_counted, before) = (self.report.datagrams, counted.datagrams);
        let bytes = self.report.received_bytes - counted.received_bytes;
        self.report.receiver.push(interval(
            bytes,
            Datagrams {
                received: now_counted.received - before.received,
                lost: now_counted.lost.saturating_sub(before.lost),
                out_of_order: now_counted.out_of_order - before.out_of_order,
                jitter_ms: now_counted.jitter_ms,
            },
        ));
        self.counted = Counted {
            at: now,
            sent_bytes: self.report.sent_bytes,
            sent_datagrams: self.report.sent_datagrams,
            received_bytes: self.report.received_bytes,
            datagrams: now_counted,
        };
        Ok(())
    }
}

impl Flow for UdpFlow {
    fn due(&self) -> Option<Nanos> {
        if self.over {
            return None;
        }
        let sending = self.sender.as_ref().map(|_| self.next_sending);
        let due = [self.next_reading, self.next_interval].into_iter();
        due.chain(sending).min()
    }

    fn run(&mut self, now: Nanos, _context: &FlowContext) -> Result<()> {
        if now >= self.next_interval {
            self.end_interval(now)?;
        }
        if now >= self.next_reading {
            self.receive(now)?;
            self.next_reading = now + READING;
        }
        if self.sender.is_none() {
            let silent = now >= self.last_arrival.max(self.end()) + SILENCE;
            if silent || now >= self.end() + LONGEST_DRAINING {
                self.end_interval(now)?;
                // What has not come by now is lost, too.
                let datagrams = &mut self.report.datagrams;
                datagrams.lost = self.report.sent_datagrams - datagrams.received;
                self.over = true;
            }
        } else if now >= self.end() {
            self.end_interval(now)?;
            self.report.sending_s = seconds(now - self.start);
            self.sender = None;
        } else if now >= self.next_sending {
            self.send(now)?;
        }
        Ok(())
    }

    fn ready(&mut self, _socket: u8, _now: Nanos, _context: &FlowContext) -> Result<()> {
        Ok(())
    }

    fn change_cc(&mut self, _cc: &str) -> Result<Option<(String, String)>> {
        Ok(None)
    }

    fn report(&mut self) -> Option<FlowReport> {
        self.over.then(|| std::mem::take(&mut self.report))
    }
}

/// The next datagram: its length, iperf3's header and when it came (UTC); none: there is none.
fn receive(socket: &OwnedFd) -> Result<Option<(usize, [u8; HEADER_BYTES], Nanos)>> {
    let mut header = [0; HEADER_BYTES];
    let mut buffers = [IoSliceMut::new(&mut header)];
    let mut control = cmsg_space!(TimeSpec);
    let flags = MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT;
    let message = match recvmsg::<()>(socket.as_raw_fd(), &mut buffers, Some(&mut control), flags) {
        Ok(message) => message,
        Err(Errno::EAGAIN) => return Ok(None),
        Err(error) => return Err(error).context("receiving"),
    };
    let Some(ControlMessageOwned::ScmTimestampns(time)) = message.cmsgs()?.next() else {
        bail!("a datagram came without the time of its arrival")
    };
    let arrival = time.tv_sec() as Nanos * SECOND + time.tv_nsec() as Nanos;
    Ok(Some((message.bytes, header, arrival)))
}
