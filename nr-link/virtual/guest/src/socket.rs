// SPDX-License-Identifier: Apache-2.0
//! System calls that the nix crate has no functions for: interfaces, and options of sockets.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, ensure};
use nix::libc;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, bind, setsockopt, socket, sockopt,
};

/// A socket that does not block, bound to an address.
pub fn bound(kind: SockType, address: SocketAddr) -> Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let made = socket(family(address.ip()), kind, flags, None).context("making a socket")?;
    setsockopt(&made, sockopt::ReuseAddr, &true).context("SO_REUSEADDR")?;
    bind(made.as_raw_fd(), &SockaddrStorage::from(address))
        .with_context(|| format!("binding a socket to {address}"))?;
    Ok(made)
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Sets an option whose value is a plain structure.
pub fn set_option<T>(socket: &impl AsFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    // SAFETY: the kernel reads no more than the value's size.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const *value).cast(),
            size_of::<T>() as u32,
        )
    };
    checked(answer)
}

/// Reads an option whose value is a plain structure that may be all zeros; an older kernel fills a part.
pub fn option<T>(socket: BorrowedFd, level: c_int, name: c_int) -> io::Result<T> {
    // SAFETY: the caller's promise of this private module: T is of integers only.
    let mut value: T = unsafe { mem::zeroed() };
    let mut length = size_of::<T>() as u32;
    // SAFETY: the kernel writes no more than the value's size.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut length,
        )
    })?;
    Ok(value)
}

/// The head of struct tcp_info (Linux `uapi/linux/tcp.h`), as far as reports need it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct TcpInfo {
    octets: [u8; 8],
    rto_us: u32,
    ato_us: u32,
    /// Segment size to send, bytes.
    pub snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    last_ms: [u32; 4],
    /// Path MTU, bytes.
    pub pmtu: u32,
    rcv_ssthresh: u32,
    /// Smoothed RTT, microseconds.
    pub rtt_us: u32,
    /// Its variation.
    pub rttvar_us: u32,
    snd_ssthresh: u32,
    /// Congestion window, segments.
    pub snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt_us: u32,
    rcv_space: u32,
    /// Segments retransmitted since the connection was made.
    pub total_retrans: u32,
    rates: [u64; 2],
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    bytes_received: u64,
    segments: [u32; 2],
    notsent_bytes: u32,
    min_rtt_us: u32,
    data_segments: [u32; 2],
    delivery_rate: u64,
    limited_us: [u64; 3],
    delivered: [u32; 2],
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    /// The receiver's window, bytes.
    pub snd_wnd: u32,
}

/// TCP_INFO.
pub fn tcp_info(socket: BorrowedFd) -> Result<TcpInfo> {
    option(socket, libc::IPPROTO_TCP, libc::TCP_INFO).context("TCP_INFO")
}

/// The congestion control of a TCP socket.
pub fn congestion_control(socket: BorrowedFd) -> Result<String> {
    let name: [u8; 16] =
        option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION).context("TCP_CONGESTION")?;
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(16);
    Ok(String::from_utf8_lossy(&name[..length]).into_owned())
}

/// Chooses the congestion control of a TCP socket.
pub fn set_congestion_control(socket: &impl AsFd, name: &str) -> Result<()> {
    let mut bytes = [0_u8; 16];
    ensure!(
        name.len() < bytes.len(),
        "congestion control {name}: the name is too long. Names have at most 15 characters."
    );
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &bytes).with_context(|| {
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        format!(
            "congestion control {name}: the kernel does not have it. Choose one of: {}",
            known.unwrap_or_default().trim()
        )
    })
}

/// struct ifreq.
#[repr(C)]
struct InterfaceRequest<T> {
    name: [u8; 16],
    value: T,
    padding: [u8; 24],
}

fn request<T>(interface: &str, value: T) -> InterfaceRequest<T> {
    let mut name = [0; 16];
    name[..interface.len()].copy_from_slice(interface.as_bytes());
    InterfaceRequest {
        name,
        value,
        padding: [0; 24],
    }
}

/// Sets an interface's flag IFF_UP.
pub fn bring_up(interface: &str) -> Result<()> {
    let any = socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    let mut request = request(interface, 0_i16);
    // SAFETY: a whole struct ifreq, twice.
    let answer = unsafe {
        libc::ioctl(any.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request);
        request.value |= libc::IFF_UP as i16; // and IFF_NOARP stays: IPv6 would look for duplicates
        libc::ioctl(any.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
    };
    checked(answer).with_context(|| format!("bringing {interface} up"))
}

/// struct sockaddr_in.
fn ipv4(address: std::net::Ipv4Addr) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: 0,
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.octets()),
        },
        sin_zero: [0; 8],
    }
}

/// struct in6_ifreq.
#[repr(C)]
struct Ipv6Request {
    address: [u8; 16],
    prefix: u32,
    index: c_int,
}

/// Gives an interface its address, of a point-to-point link.
pub fn set_address(interface: &str, address: IpAddr) -> Result<()> {
    let any = socket(
        family(address),
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    let call = libc::SIOCSIFADDR as _;
    // SAFETY: whole structures of the family's kind.
    let answer = unsafe {
        match address {
            IpAddr::V4(address) => {
                let request = request(interface, ipv4(address));
                libc::ioctl(any.as_raw_fd(), call, &raw const request)
            }
            IpAddr::V6(address) => {
                let request = Ipv6Request {
                    address: address.octets(),
                    prefix: 128,
                    index: index(interface)?,
                };
                libc::ioctl(any.as_raw_fd(), call, &raw const request)
            }
        }
    };
    checked(answer).with_context(|| format!("giving {interface} the address {address}"))
}

/// struct in6_rtmsg.
#[repr(C)]
#[derive(Default)]
struct Ipv6Route {
    addresses: [[u8; 16]; 3],
    kind: u32,
    prefixes: [u16; 2],
    metric: u32,
    info: u64,
    flags: u32,
    index: c_int,
}

/// Everything goes by this interface.
pub fn set_default_route(interface: &str, address: IpAddr) -> Result<()> {
    let any = socket(
        family(address),
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    let call = libc::SIOCADDRT as _;
    // SAFETY: whole structures of the family's kind.
    let answer = unsafe {
        match address {
            IpAddr::V4(_) => {
                let mut name = interface.as_bytes().to_vec();
                name.push(0);
                let mut route: libc::rtentry = mem::zeroed();
                let anywhere: libc::sockaddr =
                    mem::transmute(ipv4(std::net::Ipv4Addr::UNSPECIFIED));
                route.rt_dst = anywhere;
                route.rt_genmask = anywhere;
                route.rt_flags = libc::RTF_UP;
                route.rt_dev = name.as_mut_ptr().cast();
                libc::ioctl(any.as_raw_fd(), call, &raw const route)
            }
            IpAddr::V6(_) => {
                let route = Ipv6Route {
                    metric: 1,
                    flags: u32::from(libc::RTF_UP),
                    index: index(interface)?,
                    ..Ipv6Route::default()
                };
                libc::ioctl(any.as_raw_fd(), call, &raw const route)
            }
        }
    };
    checked(answer).with_context(|| format!("making {interface} the default route"))
}

fn index(interface: &str) -> Result<c_int> {
    let index = nix::net::if_::if_nametoindex(interface).context("if_nametoindex")?;
    Ok(index as c_int)
}

/// A file in memory with `length` zeros.
pub fn zeros(length: usize) -> Result<OwnedFd> {
    // SAFETY: a new descriptor, or −1.
    let file = unsafe {
        let number = libc::memfd_create(c"payload".as_ptr(), libc::MFD_CLOEXEC);
        checked(number.min(0)).context("memfd_create")?;
        OwnedFd::from_raw_fd(number)
    };
    let block = vec![0; length];
    nix::unistd::write(&file, &block).context("payload")?;
    Ok(file)
}

fn checked(answer: c_int) -> io::Result<()> {
    match answer {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
