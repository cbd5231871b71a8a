// SPDX-License-Identifier: Apache-2.0
//! The UDP socket of one end, with GSO and GRO: datagrams of one burst cost one system call.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::{TimeSpec, TimeVal};
use quinn_udp::{EcnCodepoint, Transmit, UdpSocketState};

use crate::arrivals::{Arrivals, Burst, Wait};

/// RFC 9000 section 14: the smallest UDP payload that a path for QUIC carries.
pub const LEAST_DATAGRAM_BYTES: usize = 1200;
/// The largest burst of GSO: the largest UDP payload of IPv4.
const MOST_BYTES: usize = 65_507;
/// Both buffers of the socket: what arrives while nobody reads is not lost.
const BUFFER_BYTES: usize = 8 << 20;
/// A read waits so long: one tick of Linux at 250 Hz, and until the next.
const READING: TimeVal = TimeVal::new(0, 4000);
/// A deadline that is so near has ppoll, which is exact to the nanosecond.
const SOON: Duration = Duration::from_millis(20);

/// The reason for which [`Socket::wait`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Something has arrived, or the call that reads waits.
    ToReceive(Wait),
    /// The timeout is over.
    InTime,
    /// Another reason.
    Otherwise,
}

/// A socket that sends and receives bursts.
pub struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    arrivals: Arrivals,
    /// The last read waited in vain.
    idle: bool,
    mtu_bytes: u16,
    with_ecn: bool,
}

impl Socket {
    /// Binds to an address; `with_ecn` sends packets with ECT(0), none larger than `mtu_bytes`.
    ///
    /// # Errors
    /// The address is not of this host, or its port is taken.
    pub fn bind(address: SocketAddr, mtu_bytes: u16, with_ecn: bool) -> Result<Self> {
        let context = || format!("{address} by UDP");
        let socket = UdpSocket::bind(address).with_context(context)?;
        // Beyond net.core.rmem_max and wmem_max where this process may; else as far as they allow.
        if setsockopt(&socket, sockopt::RcvBufForce, &BUFFER_BYTES).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &BUFFER_BYTES).with_context(context)?;
        }
        if setsockopt(&socket, sockopt::SndBufForce, &BUFFER_BYTES).is_err() {
            setsockopt(&socket, sockopt::SndBuf, &BUFFER_BYTES).with_context(context)?;
        }
        let state = UdpSocketState::new((&socket).into()).with_context(context)?;
        socket.set_nonblocking(false).with_context(context)?;
        setsockopt(&socket, sockopt::ReceiveTimeout, &READING).with_context(context)?;
        setsockopt(&socket, sockopt::SendTimeout, &READING).with_context(context)?;
        Ok(Self {
            socket,
            state,
            arrivals: Arrivals::new(),
            idle: false,
            mtu_bytes,
            with_ecn,
        })
    }

    /// The most datagrams of the largest size that one call of [`Socket::send`] takes.
    pub fn most_datagrams(&self) -> usize {
        self.state
            .max_gso_segments()
            .min(MOST_BYTES / usize::from(self.mtu_bytes))
            .max(1)
    }

    /// Sends what quinn has made; returns false if the socket has no space for it now.
    ///
    /// # Errors
    /// The host refuses to send, or its interface is too narrow for QUIC.
    pub fn send(&self, transmit: &quinn_proto::Transmit, content: &[u8]) -> Result<bool> {
        let destination = transmit.destination;
        let each = transmit.segment_size.unwrap_or(transmit.size);
        let sent = self.state.try_send(
            (&self.socket).into(),
            &Transmit {
                destination,
                ecn: transmit
                    .ecn
                    .filter(|_| self.with_ecn)
                    .and_then(|ecn| EcnCodepoint::from_bits(ecn as u8)),
                contents: &content[..transmit.size],
                segment_size: transmit.segment_size,
                src_ip: transmit.src_ip,
            },
        );
        match sent {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if quinn_udp::is_msg_size_err(&error) && each <= LEAST_DATAGRAM_BYTES => {
                bail!(
                    "{destination}: the path MTU is below {LEAST_DATAGRAM_BYTES} bytes of UDP payload, which QUIC needs \
                 (RFC 9000 section 14). Raise the MTU of the interface to {} bytes",
                    LEAST_DATAGRAM_BYTES + 28
                )
            }
            Err(error) if quinn_udp::is_msg_size_err(&error) => Ok(true), // a probe of the path MTU
            Err(error) => Err(error).with_context(|| {
                format!("{destination}: UDP is refused. Allow it in the host's firewall and routes")
            }),
        }
    }

    /// Waits until something arrives, `other` has something, the socket has space `to_send`, or `timeout` is over (none:
    /// for ever).
    ///
    /// In virtual time system calls are what costs. While packets come again and again, the reading call waits by itself;
    /// its time limit is coarse, so that a near deadline has ppoll.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub fn wait(
        &mut self,
        timeout: Option<Duration>,
        to_send: bool,
        other: Option<BorrowedFd>,
    ) -> io::Result<Woken> {
        let later = timeout.is_none_or(|timeout| timeout > SOON);
        if later && !self.idle && !to_send && other.is_none() {
            return Ok(Woken::ToReceive(Wait::ForOne));
        }
        poll(self.socket.as_fd(), timeout, to_send, other)
    }

    /// Takes the bursts that have arrived.
    ///
    /// # Errors
    /// The socket fails, or `take` does.
    pub fn receive(
        &mut self,
        mut wait: Wait,
        mut take: impl FnMut(Burst) -> Result<()>,
    ) -> Result<()> {
        let socket = self.socket.as_fd();
        self.idle = true;
        loop {
            let count = self.arrivals.take(socket, wait, &mut take)?;
            self.idle &= count == 0;
            if count < Arrivals::MOST {
                return Ok(());
            }
            wait = Wait::No; // what filled the memory of one call may have left some
        }
    }
}

/// Sleeps until something arrives (or can be sent), `other` has something, or `timeout` is over (none: for ever).
fn poll(
    socket: BorrowedFd,
    timeout: Option<Duration>,
    to_send: bool,
    other: Option<BorrowedFd>,
) -> io::Result<Woken> {
    let events = if to_send {
        PollFlags::POLLIN | PollFlags::POLLOUT
    } else {
        PollFlags::POLLIN
    };
    let mut watched = vec![PollFd::new(socket, events)];
    watched.extend(other.map(|other| PollFd::new(other, PollFlags::POLLIN)));
    match ppoll(&mut watched, timeout.map(TimeSpec::from_duration), None) {
        Ok(0) => Ok(Woken::InTime),
        Ok(_) => Ok(watched[0]
            .revents()
            .filter(|found| *found != PollFlags::POLLOUT && !found.is_empty())
            .map_or(Woken::Otherwise, |_| Woken::ToReceive(Wait::No))),
        Err(Errno::EINTR) => Ok(Woken::Otherwise),
        Err(error) => Err(error.into()),
    }
}
