// SPDX-License-Identifier: Apache-2.0
//! The radio's tunnel to a UE from outside: packets of a given length go in at one end, and are known by their
//! number when they come out at the other.
//!
//! These are UDP datagrams of our own, each for a packet of the hosts, which stays where it is: the
//! modems see lengths and addresses only.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::AsRawFd;

use anyhow::{Context, Result};
use nix::libc;
use nix::sched::{CloneFlags, setns};
use nr_link_virtual_plan::radio::{Sent, TunnelEnd};

/// The port of the first UE; each further one has the next.
const FIRST_PORT: u16 = 47_100;
const IP_UDP_HEADERS_BYTES: usize = 28;
const NUMBER_BYTES: usize = size_of::<u64>();
/// A whole slot of the widest carrier, and what its bursts leave.
const BUFFER_BYTES: libc::c_int = 64 << 20;
const BUFFERS: [(libc::c_int, libc::c_int); 2] = [
    (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
    (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
];
const MOST_BYTES: usize = 65_507;

/// Both ends: server and UE.
#[derive(Debug)]
pub struct Tunnel {
    ends: [UdpSocket; 2],
}

impl Tunnel {
    /// Opens a socket at each end, for UE `number` from 0 on.
    ///
    /// # Errors
    /// A network namespace, device or address is not there, or not for this user.
    pub fn open(number: u16, server: &TunnelEnd, ue: &TunnelEnd) -> Result<Self> {
        let port = FIRST_PORT + number;
        Ok(Self {
            ends: [
                open(server, ue.address, port)?,
                open(ue, server.address, port)?,
            ],
        })
    }

    /// Sends a packet in a direction: 0 is the downlink.
    ///
    /// # Errors
    /// The end is gone.
    pub fn send(&self, direction: usize, (number, bytes): Sent) -> io::Result<()> {
        let length = (bytes as usize).saturating_sub(IP_UDP_HEADERS_BYTES);
        let mut datagram = vec![0; length.clamp(NUMBER_BYTES, MOST_BYTES)];
        datagram[..NUMBER_BYTES].copy_from_slice(&number.to_be_bytes());
        match self.ends[direction].send(&datagram) {
            // What a full queue refuses is lost, as any packet would be.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(()),
            sent => sent.map(drop),
        }
    }

    /// The numbers of all packets that have come out of a direction.
    ///
    /// # Errors
    /// The end is gone.
    pub fn arrived(&self, direction: usize, numbers: &mut Vec<u64>) -> io::Result<()> {
        let mut datagram = [0; NUMBER_BYTES];
        loop {
            match self.ends[1 - direction].recv(&mut datagram) {
                Ok(NUMBER_BYTES) => numbers.push(u64::from_be_bytes(datagram)),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

fn open(end: &TunnelEnd, peer: Ipv4Addr, port: u16) -> Result<UdpSocket> {
    let asked = end.clone();
    // A thread of its own, since it stays in that namespace.
    let opened = std::thread::spawn(move || -> Result<UdpSocket> {
        if let Some(netns) = &asked.netns {
            setns(File::open(netns)?, CloneFlags::CLONE_NEWNET)?;
        }
        let socket = UdpSocket::bind(SocketAddrV4::new(asked.address, port))?;
        set(&socket, libc::SO_BINDTODEVICE, asked.device.as_bytes())?;
        for (forced, allowed) in BUFFERS {
            let bytes = BUFFER_BYTES.to_ne_bytes();
            // Without privileges, up to the machine's limit.
            set(&socket, forced, &bytes).or_else(|_| set(&socket, allowed, &bytes))?;
        }
        socket.connect(SocketAddrV4::new(peer, port))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    });
    opened.join().expect("it does not panic").with_context(|| {
        let place = end.netns.as_ref();
        let place = place.map_or("this network".into(), |netns| netns.display().to_string());
        format!("tunnel: {} with {} in {place}", end.device, end.address)
    })
}

fn set(socket: &UdpSocket, option: libc::c_int, value: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads so many bytes.
    let refused = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            value.as_ptr().cast(),
            value.len() as u32,
        )
    };
    match refused {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
