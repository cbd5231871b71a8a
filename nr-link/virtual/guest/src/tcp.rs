// SPDX-License-Identifier: Apache-2.0
//! A TCP flow: as fast as the congestion control lets it, with as few system calls as possible.
//!
//! The sender sends pages of a file in memory, so that nothing is copied. The receiver discards in the
//! kernel (MSG_TRUNC), and wakes for an eighth of its buffer (SO_RCVLOWAT): often enough for the
//! kernel to enlarge that buffer as it does for any reader.

use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::epoll::EpollFlags;
use nix::sys::sendfile::sendfile;
use nix::sys::socket::{
    Backlog, Shutdown, SockFlag, SockType, SockaddrStorage, accept4, connect, getsockopt, listen,
    shutdown, sockopt,
};
use nr_link_virtual_plan::{Flow as Plan, FlowReport, Interval, TcpState, Transport};

use crate::clock::{self, Nanos, SECOND, nanos, seconds};
use crate::flow::{Flow, FlowContext};
use crate::socket::{self, tcp_info};

/// Numbers by which `Flow::ready` identifies a flow's sockets.
const SENDER: u8 = 0;
const LISTENER: u8 = 1;
const RECEIVER: u8 = 2;

const PAYLOAD_BYTES: usize = 1 << 20;
const LARGEST_LOWAT_BYTES: usize = 1 << 20;
/// More than any socket holds.
const EVERYTHING: usize = 1 << 30;
/// Length of the intervals in a flow's report, as iperf3's.
const INTERVAL: Nanos = SECOND;

/// The next step of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The flow waits for its start.
    Idle,
    /// The sender has sent its SYN.
    Connecting,
    /// The sender writes.
    Sending,
    /// The volume is written; the receiver reads the remainder of it.
    Draining,
    /// The duration is over; the receiver reads until this time, one more RTT.
    Ending(Nanos),
    /// Both ends are closed.
    Over,
}

/// Both ends of a flow.
#[derive(Debug)]
pub struct TcpFlow {
    plan: Plan,
    stage: Stage,
    start: Nanos,
    /// When the connection was made.
    connected: Nanos,
    next_interval: Nanos,
    listener: Option<OwnedFd>,
    sender: Option<OwnedFd>,
    receiver: Option<OwnedFd>,
    payload: OwnedFd,
    /// Bytes of the volume that the sender has yet to write; `None` for a flow of a duration.
    left_bytes: Option<u64>,
    /// SO_RCVLOWAT of the receiver.
    lowat_bytes: usize,
    report: FlowReport,
    counted: Counted,
}

/// Time and counters at the end of the last interval.
#[derive(Debug, Default)]
struct Counted {
    at: Nanos,
    sent_bytes: u64,
    received_bytes: u64,
    retransmissions: u64,
}

impl TcpFlow {
    /// Listens for a flow whose second 0 is `start`.
    pub fn listen(plan: &Plan, start: Nanos, context: &FlowContext) -> Result<Self> {
        let Transport::Tcp {
            cc, volume_bytes, ..
        } = &plan.transport
        else {
            bail!("flow {} is not of TCP", plan.id);
        };
        context.hosts.enter(plan.receiver)?;
        let address = context.hosts.address(plan.receiver);
        let listener = socket::bound(
            SockType::Stream,
            SocketAddr::new(address, plan.listening_port),
        )?;
        // DCTCP has ECN only where both ends ask for it.
        socket::set_congestion_control(&listener, cc)?;
        listen(&listener, Backlog::new(1)?).context("listening")?;
        context.watch(listener.as_fd(), LISTENER, EpollFlags::EPOLLIN)?;
        Ok(Self {
            stage: Stage::Idle,
            start: start + nanos(plan.start_s),
            connected: 0,
            next_interval: 0,
            listener: Some(listener),
            sender: None,
            receiver: None,
            payload: socket::zeros(PAYLOAD_BYTES)?,
            left_bytes: *volume_bytes,
            lowat_bytes: 0,
            report: FlowReport {
                id: plan.id.clone(),
                ..FlowReport::default()
            },
            counted: Counted::default(),
            plan: plan.clone(),
        })
    }

    fn end(&self) -> Nanos {
        self.connected + nanos(self.plan.duration_s)
    }

    fn connect(&mut self, context: &FlowContext) -> Result<()> {
        let Transport::Tcp { cc, mss_bytes, .. } = &self.plan.transport else {
            unreachable!("as listen() has seen");
        };
        context.hosts.enter(self.plan.sender)?;
        let (from, to) = (
            context.hosts.address(self.plan.sender),
            context.hosts.address(self.plan.receiver),
        );
        let sender = socket::bound(
            SockType::Stream,
            SocketAddr::new(from, self.plan.sending_port),
        )?;
        socket::set_congestion_control(&sender, cc)?;
        if let Some(mss_bytes) = mss_bytes {
            socket::set_option(&sender, libc::IPPROTO_TCP, libc::TCP_MAXSEG, mss_bytes)
                .context("TCP_MAXSEG")?;
        }
        let to = SockaddrStorage::from(SocketAddr::new(to, self.plan.listening_port));
        match connect(sender.as_raw_fd(), &to) {
            Ok(()) | Err(Errno::EINPROGRESS) => {}
            Err(error) => bail!("flow {}: connecting: {error}", self.plan.id),
        }
        context.watch(sender.as_fd(), SENDER, EpollFlags::EPOLLOUT)?;
        self.sender = Some(sender);
        self.stage = Stage::Connecting;
        Ok(())
    }

    fn connected(&mut self, now: Nanos) -> Result<()> {
        let sender = self.sender.as_ref().context("no sender")?;
        let error = getsockopt(sender, sockopt::SocketError).context("SO_ERROR")?;
        if error != 0 {
            bail!(
                "flow {}: connecting: {}",
                self.plan.id,
                Errno::from_raw(error)
            );
        }
        self.report.cc = Some(socket::congestion_control(sender.as_fd())?);
        self.report.segment_bytes = tcp_info(sender.as_fd())?.tcpi_snd_mss;
        self.report.start_utc_ns = clock::utc()? as i64;
        self.stage = Stage::Sending;
        self.connected = now;
        self.counted.at = now;
        self.next_interval = now + INTERVAL;
        Ok(())
    }

    fn send(&mut self, now: Nanos) -> Result<()> {
        let sender = self.sender.as_ref().context("no sender")?;
        while self.left_bytes != Some(0) {
            let length = self.left_bytes.map_or(PAYLOAD_BYTES, |left| {
                left.min(PAYLOAD_BYTES as u64) as usize
            });
            match sendfile(sender, &self.payload, Some(&mut 0), length) {
                Ok(sent) => {
                    self.report.sent_bytes += sent as u64;
                    if let Some(left) = &mut self.left_bytes {
                        *left -= sent as u64;
                    }
                    if sent < length {
                        return Ok(()); // the socket is full
                    }
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => bail!("flow {}: sending: {error}", self.plan.id),
            }
        }
        self.report.sending_s = seconds(now - self.connected);
        shutdown(sender.as_raw_fd(), Shutdown::Write).context("shutdown")?;
        self.stage = Stage::Draining;
        Ok(())
    }

    fn accept(&mut self, context: &FlowContext) -> Result<()> {
        let listener = self.listener.take().context("no listener")?;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let accepted = accept4(listener.as_raw_fd(), flags).context("accept")?;
        // SAFETY: a new descriptor that nobody else has.
        let receiver = unsafe { OwnedFd::from_raw_fd(accepted) };
        context.watch(receiver.as_fd(), RECEIVER, EpollFlags::EPOLLIN)?;
        self.receiver = Some(receiver);
        Ok(())
    }

    /// Discards what the receiver's socket holds. Returns true at the end of the stream.
    fn receive(&mut self) -> Result<bool> {
        let Some(receiver) = &self.receiver else {
            return Ok(false);
        };
        // SAFETY: with MSG_TRUNC TCP discards, and writes nothing to the address.
        let count = unsafe {
            libc::recv(
                receiver.as_raw_fd(),
                std::ptr::dangling_mut(),
                EVERYTHING,
                libc::MSG_TRUNC | libc::MSG_DONTWAIT,
            )
        };
        match Errno::result(count) {
            Ok(0) => return Ok(true),
            Ok(count) => self.report.received_bytes += count as u64,
            Err(Errno::EAGAIN) => return Ok(false),
            Err(error) => bail!("flow {}: receiving: {error}", self.plan.id),
        }
        if self.lowat_bytes < LARGEST_LOWAT_BYTES {
            let buffer_bytes = getsockopt(receiver, sockopt::RcvBuf).context("SO_RCVBUF")?;
            let lowat_bytes = LARGEST_LOWAT_BYTES.min(buffer_bytes / 8);
            if lowat_bytes >= 2 * self.lowat_bytes {
                let value = lowat_bytes as i32;
                socket::set_option(receiver, libc::SOL_SOCKET, libc::SO_RCVLOWAT, &value)
                    .context("SO_RCVLOWAT")?;
                self.lowat_bytes = lowat_bytes;
            }
        }
        Ok(false)
    }

    /// Closes the interval that ends `now`.
    fn end_interval(&mut self, now: Nanos) -> Result<()> {
        self.receive()?;
        self.next_interval = now + INTERVAL;
        let counted = &self.counted;
        if now == counted.at {
            return Ok(());
        }
        let interval = |bytes, tcp| Interval {
            start_s: seconds(counted.at - self.connected),
            end_s: seconds(now - self.connected),
            bytes,
            tcp,
            datagrams: None,
        };
        if matches!(self.stage, Stage::Sending | Stage::Draining)
            && let Some(sender) = &self.sender
        {
            let info = tcp_info(sender.as_fd())?;
            self.report.retransmissions = info.tcpi_total_retrans.into();
            let state = TcpState {
                retransmissions: self.report.retransmissions - counted.retransmissions,
                cwnd_bytes: u64::from(info.tcpi_snd_cwnd) * u64::from(info.tcpi_snd_mss),
                send_window_bytes: info.tcpi_snd_wnd.into(),
                rtt_us: info.tcpi_rtt,
                rtt_variation_us: info.tcpi_rttvar,
                path_mtu_bytes: info.tcpi_pmtu,
            };
            let bytes = self.report.sent_bytes - counted.sent_bytes;
            self.report.sender.push(interval(bytes, Some(state)));
        }
        let bytes = self.report.received_bytes - counted.received_bytes;
        self.report.receiver.push(interval(bytes, None));
        self.report.receiving_s = seconds(now - self.connected);
        self.counted = Counted {
            at: now,
            sent_bytes: self.report.sent_bytes,
            received_bytes: self.report.received_bytes,
            retransmissions: self.report.retransmissions,
        };
        Ok(())
    }

    /// Stops the sender at the end of the duration; the receiver goes on for one RTT (`Stage::Ending`).
    fn stop(&mut self, now: Nanos, context: &FlowContext) -> Result<()> {
        self.end_interval(now)?;
        self.report.sending_s = seconds(now - self.connected);
        let sender = self.sender.as_ref().context("no sender")?;
        let rtt = Nanos::from(tcp_info(sender.as_fd())?.tcpi_rtt) * 1000;
        context.leave(sender.as_fd())?;
        self.stage = Stage::Ending(now + rtt);
        Ok(())
    }

    fn close(&mut self, now: Nanos) -> Result<()> {
        self.end_interval(now)?;
        self.receiver = None;
        self.sender = None;
        self.stage = Stage::Over;
        Ok(())
    }
}

impl Flow for TcpFlow {
    fn due(&self) -> Option<Nanos> {
        match self.stage {
            Stage::Idle => Some(self.start),
            Stage::Connecting | Stage::Over => None,
            Stage::Sending if self.left_bytes.is_none() => Some(self.next_interval.min(self.end())),
            Stage::Sending | Stage::Draining => Some(self.next_interval),
            Stage::Ending(at) => Some(at),
        }
    }

    fn run(&mut self, now: Nanos, context: &FlowContext) -> Result<()> {
        match self.stage {
            Stage::Idle => self.connect(context),
            Stage::Ending(_) => self.close(now),
            Stage::Sending if self.left_bytes.is_none() && now >= self.end() => {
                self.stop(now, context)
            }
            Stage::Sending | Stage::Draining => self.end_interval(now),
            Stage::Connecting | Stage::Over => Ok(()),
        }
    }

    fn ready(&mut self, socket: u8, now: Nanos, context: &FlowContext) -> Result<()> {
        match socket {
            SENDER => {
                if self.stage == Stage::Connecting {
                    self.connected(now)?;
                }
                if self.stage == Stage::Sending {
                    self.send(now)?;
                }
                if self.stage == Stage::Draining
                    && let Some(sender) = &self.sender
                {
                    context.leave(sender.as_fd())?;
                }
            }
            LISTENER => self.accept(context)?,
            _ => {
                if self.receive()? {
                    self.close(now)?;
                }
            }
        }
        Ok(())
    }

    fn change_cc(&mut self, name: &str) -> Result<Option<(String, String)>> {
        if let Transport::Tcp { cc, .. } = &mut self.plan.transport {
            name.clone_into(cc);
        }
        if let Some(listener) = &self.listener {
            socket::set_congestion_control(listener, name)?;
        }
        let Some(sender) = &self.sender else {
            return Ok(None);
        };
        socket::set_congestion_control(sender, name)?;
        let now = socket::congestion_control(sender.as_fd())?;
        Ok(Some((self.plan.id.clone(), now)))
    }

    fn report(&mut self) -> Option<FlowReport> {
        (self.stage == Stage::Over).then(|| std::mem::take(&mut self.report))
    }
}
