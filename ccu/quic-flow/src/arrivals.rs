// SPDX-License-Identifier: Apache-2.0
//! One reading of a UDP socket: the bursts of datagrams that GRO has joined, each with its time of arrival.

use std::io;
use std::mem::{self, MaybeUninit};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::time::Duration;

use nix::libc;
use quinn_udp::EcnCodepoint;

/// The largest burst of GRO.
const BURST_BYTES: usize = 1 << 16;
/// Time stamp, GRO's size, ECN and the addresses of the packet, each with a header of 16 bytes.
const CONTROL_BYTES: usize = 256;

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
    /// When it came to the host, by UTC since 1970.
    pub at: Option<Duration>,
}

/// Whether a call waits for a first burst, as long as SO_RCVTIMEO allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It takes what is there.
    No,
    /// It waits.
    ForOne,
}

#[repr(C, align(8))] // as control messages are
#[derive(Clone, Copy)]
struct Control([u8; CONTROL_BYTES]);

/// The memory for one call.
pub struct Arrivals {
    content: Vec<[u8; BURST_BYTES]>,
    names: [libc::sockaddr_storage; BATCH],
    controls: [Control; BATCH],
}

const BATCH: usize = Arrivals::MOST;

impl Arrivals {
    /// Most bursts of one call.
    pub const MOST: usize = 32;

    /// Makes it.
    pub fn new() -> Self {
        Self {
            content: vec![[0; BURST_BYTES]; BATCH],
            // SAFETY: a socket's address is plain numbers, for which zeros are valid.
            names: unsafe { mem::zeroed() },
            controls: [Control([0; CONTROL_BYTES]); BATCH],
        }
    }

    /// Takes bursts from a socket with one recvmmsg; returns how many. None came if that is 0.
    ///
    /// # Errors
    /// The socket fails, or `take` does.
    pub fn take(
        &mut self,
        socket: BorrowedFd,
        wait: Wait,
        mut take: impl FnMut(Burst) -> anyhow::Result<()>,
    ) -> anyhow::Result<usize> {
        let mut slices: [MaybeUninit<libc::iovec>; BATCH] = [MaybeUninit::uninit(); BATCH];
        // SAFETY: zeros are valid pointers and lengths of a header.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { mem::zeroed() };
        for (number, header) in headers.iter_mut().enumerate() {
            let header = &mut header.msg_hdr;
            header.msg_iov = slices[number].write(libc::iovec {
                iov_base: self.content[number].as_mut_ptr().cast(),
                iov_len: BURST_BYTES,
            });
            header.msg_iovlen = 1;
            header.msg_name = ptr::from_mut(&mut self.names[number]).cast();
            header.msg_namelen = mem::size_of::<libc::sockaddr_storage>() as _;
            header.msg_control = self.controls[number].0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES as _;
        }
        let flags = match wait {
            Wait::No => libc::MSG_DONTWAIT,
            Wait::ForOne => libc::MSG_WAITFORONE,
        };
        let socket = socket.as_raw_fd();
        // SAFETY: each header names memory of `self` and `slices`, with its length; all of it outlives the call.
        let count = unsafe {
            libc::recvmmsg(
                socket,
                headers.as_mut_ptr(),
                BATCH as _,
                flags as _,
                ptr::null_mut(),
            )
        };
        let Ok(count) = usize::try_from(count) else {
            return match io::Error::last_os_error() {
                error if is_none(&error) => Ok(0),
                error => Err(anyhow::Error::new(error).context("receiving by UDP")),
            };
        };
        for (number, header) in headers[..count].iter().enumerate() {
            let length = header.msg_len as usize;
            let mut burst = Burst {
                from: address(&self.names[number])?,
                content: &self.content[number][..length],
                each: length,
                ecn: None,
                at: None,
            };
            // SAFETY: the kernel has written the messages, and their length into the header.
            unsafe { read_controls(&header.msg_hdr, &mut burst) };
            take(burst)?;
        }
        Ok(count)
    }
}

/// Nothing came in time; or an earlier datagram of ours met a closed port, which the handshake's patience ends.
fn is_none(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, Interrupted, WouldBlock};
    matches!(error.kind(), WouldBlock | ConnectionRefused | Interrupted)
}

/// Takes from control messages what they say of a burst.
///
/// # Safety
/// The messages of `header` are the kernel's.
unsafe fn read_controls(header: &libc::msghdr, burst: &mut Burst) {
    // SAFETY: the caller's promise; each value has the type that its kind has (ip(7), ipv6(7), udp(7), socket(7)).
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while let Some(one) = message.as_ref() {
            let value = libc::CMSG_DATA(one);
            match (one.cmsg_level, one.cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => {
                    let at = value.cast::<libc::timespec>().read_unaligned();
                    burst.at = Some(Duration::new(at.tv_sec as u64, at.tv_nsec as u32));
                }
                (libc::SOL_UDP, libc::UDP_GRO) => {
                    burst.each = value.cast::<libc::c_int>().read_unaligned() as usize;
                }
                (libc::IPPROTO_IP, libc::IP_TOS) => burst.ecn = EcnCodepoint::from_bits(*value),
                (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => {
                    let class = value.cast::<libc::c_int>().read_unaligned();
                    burst.ecn = EcnCodepoint::from_bits(class as u8);
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(header, one);
        }
    }
}

fn address(name: &libc::sockaddr_storage) -> anyhow::Result<SocketAddr> {
    let name = ptr::from_ref(name);
    // SAFETY: the family says which of the types it is.
    unsafe {
        match i32::from((*name).ss_family) {
            libc::AF_INET => {
                let name = &*name.cast::<libc::sockaddr_in>();
                let address = u32::from_be(name.sin_addr.s_addr).into();
                Ok(SocketAddrV4::new(address, u16::from_be(name.sin_port)).into())
            }
            libc::AF_INET6 => {
                let name = &*name.cast::<libc::sockaddr_in6>();
                let (address, port) = (name.sin6_addr.s6_addr.into(), u16::from_be(name.sin6_port));
                let name = SocketAddrV6::new(address, port, name.sin6_flowinfo, name.sin6_scope_id);
                Ok(name.into())
            }
            family => anyhow::bail!("a datagram came from an address of the family {family}"),
        }
    }
}
