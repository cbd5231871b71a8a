// SPDX-License-Identifier: Apache-2.0
//! The UDP socket of one end, with GSO and GRO: datagrams of one burst cost one system call.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::BytesMut;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, Transmit, UdpSocketState};

/// RFC 9000 section 14: the smallest UDP payload that a path for QUIC carries.
pub const LEAST_DATAGRAM_BYTES: usize = 1200;
/// The largest burst of GSO: the largest UDP payload of IPv4.
const MOST_BYTES: usize = 65_507;
/// One burst of GRO.
const BURST_BYTES: usize = 1 << 16;
/// Both buffers of the socket: what arrives while nobody reads is not lost.
const BUFFER_BYTES: usize = 8 << 20;

/// A burst of datagrams of one size from one peer; the last may be shorter.
#[derive(Debug)]
pub struct Burst<'a> {
    /// The peer.
    pub from: SocketAddr,
    /// The datagrams, one behind the other.
    pub content: &'a [u8],
    /// The size of each.
    pub each: usize,
    /// The ECN bits of the packets.
    pub ecn: Option<EcnCodepoint>,
}

/// A socket that sends and receives bursts.
pub struct Socket {
    socket: UdpSocket,
    state: UdpSocketState,
    buffers: Vec<BytesMut>,
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
        let buffers = vec![BytesMut::zeroed(BURST_BYTES); BATCH_SIZE];
        Ok(Self {
            socket,
            state,
            buffers,
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

    /// Takes the bursts that have arrived, as far as one call gives them; returns whether there may be more.
    ///
    /// # Errors
    /// The socket fails, or `take` does.
    pub fn receive(&mut self, mut take: impl FnMut(Burst) -> Result<()>) -> Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut> = self
            .buffers
            .iter_mut()
            .map(|buffer| IoSliceMut::new(buffer))
            .collect();
        let count = match self
            .state
            .recv((&self.socket).into(), &mut slices, &mut metas)
        {
            Ok(count) => count,
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::ConnectionRefused
                ) =>
            {
                0
            }
            Err(error) => return Err(error).context("receiving by UDP"),
        };
        for (meta, buffer) in metas.iter().zip(&self.buffers).take(count) {
            take(Burst {
                from: meta.addr,
                content: &buffer[..meta.len],
                each: meta.stride,
                ecn: meta.ecn,
            })?;
        }
        Ok(count == BATCH_SIZE)
    }

    /// Sleeps until something arrives (or can be sent), `other` has something, or `timeout` is over (none: for ever);
    /// returns whether something has arrived.
    ///
    /// # Errors
    /// The system refuses to wait.
    pub fn wait(
        &self,
        timeout: Option<Duration>,
        to_send: bool,
        other: Option<BorrowedFd>,
    ) -> io::Result<bool> {
        let events = if to_send {
            PollFlags::POLLIN | PollFlags::POLLOUT
        } else {
            PollFlags::POLLIN
        };
        let mut watched = vec![PollFd::new(self.socket.as_fd(), events)];
        watched.extend(other.map(|other| PollFd::new(other, PollFlags::POLLIN)));
        match ppoll(&mut watched, timeout.map(TimeSpec::from_duration), None) {
            Ok(_) => Ok(watched[0]
                .revents()
                .is_some_and(|found| found != PollFlags::POLLOUT && !found.is_empty())),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
