// SPDX-License-Identifier: Apache-2.0
//! The request to the kernel, and its raw answer. Layouts: Linux `uapi/linux/inet_diag.h`.

use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{Context, Result, bail, ensure};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, connect, recv, send,
    socket,
};

use crate::families::Ipv6Sockets;
use crate::pcap::{COOKED_BYTES, SNAPLEN_BYTES};
use crate::port_filter::port_filter;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_REQ_BYTECODE: u16 = 1;
const NLM_F_REQUEST: u16 = 0x1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_HEADER_BYTES: usize = 16;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;

/// Bit n−1 requests attribute n: MEMINFO, INFO, VEGASINFO (with it BBRINFO, DCTCPINFO), CONG, TOS, TCLASS,
/// SKMEMINFO, SHUTDOWN. The kernel adds its mandatory attributes.
const EVERY_EXTENSION: u8 = 0xff;

/// ESTABLISHED 1, SYN_SENT 2, FIN_WAIT1 4, FIN_WAIT2 5, CLOSE_WAIT 8, LAST_ACK 9, CLOSING 11: the states of a
/// full socket with a congestion window. Without LISTEN, the kernel also skips the list of listeners.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// The kernel fills at most 32 KiB at a time (`netlink_recvmsg`); a smaller buffer could truncate an answer.
const ANSWER_BYTES: usize = 32_768;

/// A netlink socket with the requests for IPv4 and IPv6, made once, and one buffer for all answers.
pub struct InetDiag {
    socket: OwnedFd,
    requests: [Vec<u8>; 2],
    ipv6: Ipv6Sockets,
    answer: Vec<u8>,
}

impl InetDiag {
    /// Opens a socket for connections with one of `ports` at either endpoint, or all if `ports` is empty.
    pub fn open(ports: &[u16]) -> Result<Self> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkSockDiag,
        )
        .context("cannot open a netlink socket (does the kernel have CONFIG_INET_DIAG?)")?;
        connect(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).context("netlink connect")?;
        let filter = port_filter(ports)?;
        let families = [AddressFamily::Inet, AddressFamily::Inet6];
        let requests = families.map(|family| request(family as u8, &filter));
        let answer = vec![0; SNAPLEN_BYTES - COOKED_BYTES];
        Ok(Self {
            socket,
            requests,
            ipv6: Ipv6Sockets::open(),
            answer,
        })
    }

    /// Requests both families, or IPv4 alone without an IPv6 socket. `keep` gets each complete answer
    pub fn dump(&mut self, mut keep: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let families = if self.ipv6.any() { 2 } else { 1 };
        for request in &self.requests[..families] {
            send(self.socket.as_raw_fd(), request, MsgFlags::empty()).context("netlink send")?;
            let mut filled = 0;
            loop {
                let room = &mut self.answer[filled..];
                let received = recv(self.socket.as_raw_fd(), room, MsgFlags::MSG_TRUNC)
                    .context("netlink receive")?;
                ensure!(
                    received <= room.len(),
                    "the kernel's answer of {received} bytes was truncated"
                );
                let done = ends_dump(&room[..received])?;
                filled += received;
                if done || self.answer.len() - filled < ANSWER_BYTES {
                    keep(&self.answer[..filled])?;
                    filled = 0;
                }
                if done {
                    break;
                }
            }
        }
        Ok(())
    }
}

fn request(family: u8, filter: &[u8]) -> Vec<u8> {
    const TCP: u8 = 6;
    const SOCKET_ID_BYTES: usize = 48; // ports, addresses, interface, cookie: a dump ignores them
    let mut body = vec![family, TCP, EVERY_EXTENSION, 0];
    body.extend(STATES.to_ne_bytes());
    body.extend([0; SOCKET_ID_BYTES]);
    if !filter.is_empty() {
        body.extend((4 + filter.len() as u16).to_ne_bytes());
        body.extend(INET_DIAG_REQ_BYTECODE.to_ne_bytes());
        body.extend(filter);
    }
    let mut message = Vec::with_capacity(NLMSG_HEADER_BYTES + body.len());
    message.extend(((NLMSG_HEADER_BYTES + body.len()) as u32).to_ne_bytes());
    message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    message.extend([0; 8]); // sequence, port id: one request at a time
    message.extend(body);
    message
}

/// Returns whether these netlink messages end the dump.
///
/// # Errors
/// The kernel's error: NLMSG_ERROR, or a DONE with an errno.
fn ends_dump(mut messages: &[u8]) -> Result<bool> {
    while messages.len() >= NLMSG_HEADER_BYTES {
        let length = u32::from_ne_bytes(messages[0..4].try_into()?) as usize;
        let kind = u16::from_ne_bytes(messages[4..6].try_into()?);
        if kind == NLMSG_DONE || kind == NLMSG_ERROR {
            let code = messages.get(NLMSG_HEADER_BYTES..NLMSG_HEADER_BYTES + 4);
            return match code.map_or(0, |code| {
                i32::from_ne_bytes([code[0], code[1], code[2], code[3]])
            }) {
                0 => Ok(true),
                code => bail!("inet_diag: {}", Errno::from_raw(-code).desc()),
            };
        }
        ensure!(
            length >= NLMSG_HEADER_BYTES,
            "a netlink message of {length} bytes"
        );
        messages = messages.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Ok(false)
}
