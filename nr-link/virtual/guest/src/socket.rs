// SPDX-License-Identifier: Apache-2.0
//! System calls that the nix crate has no functions for: interfaces, and options of sockets.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use anyhow::{Context, Result, ensure};
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
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

/// TCP_INFO.
pub fn tcp_info(socket: BorrowedFd) -> Result<libc::tcp_info> {
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

/// A struct ifreq for an interface, otherwise zeros.
fn request(interface: &str) -> libc::ifreq {
    // SAFETY: plain data, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

fn control_socket(family: AddressFamily) -> Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    Ok(socket(family, SockType::Datagram, flags, None)?)
}

/// Sets an interface's flag IFF_UP.
pub fn bring_up(interface: &str) -> Result<()> {
    let any = control_socket(AddressFamily::Inet)?;
    let mut request = request(interface);
    // SAFETY: a whole struct ifreq, twice.
    let answer = unsafe {
        libc::ioctl(any.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request);
        request.ifr_ifru.ifru_flags |= libc::IFF_UP as i16; // and IFF_NOARP stays: IPv6 would look for duplicates
        libc::ioctl(any.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
    };
    checked(answer).with_context(|| format!("bringing {interface} up"))
}

/// Makes an interface deliver each packet as it came, without generic receive offload.
pub fn switch_gro_off(interface: &str) -> Result<()> {
    const ETHTOOL_SGRO: u32 = 0x2c; // linux/ethtool.h
    let any = control_socket(AddressFamily::Inet)?;
    let mut command = [ETHTOOL_SGRO, 0]; // struct ethtool_value
    let mut request = request(interface);
    request.ifr_ifru.ifru_data = (&raw mut command).cast();
    // SAFETY: a whole struct ifreq, with the structure that the command wants.
    let answer =
        unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCETHTOOL as _, &raw const request) };
    checked(answer).with_context(|| format!("switching {interface}'s GRO off"))
}

/// A struct sockaddr_in.
fn ipv4(address: Ipv4Addr) -> libc::sockaddr {
    let mut bytes = [0; 14]; // the port, the address, and padding
    bytes[2..6].copy_from_slice(&address.octets().map(|octet| octet as libc::c_char));
    libc::sockaddr {
        sa_family: libc::AF_INET as u16,
        sa_data: bytes,
    }
}

/// Gives an interface its address, of a point-to-point link.
pub fn set_address(interface: &str, address: IpAddr) -> Result<()> {
    let any = control_socket(family(address))?;
    let call = libc::SIOCSIFADDR as _;
    // SAFETY: whole structures of the family's kind.
    let answer = unsafe {
        match address {
            IpAddr::V4(address) => {
                let mut request = request(interface);
                request.ifr_ifru.ifru_addr = ipv4(address);
                libc::ioctl(any.as_raw_fd(), call, &raw const request)
            }
            IpAddr::V6(address) => {
                let request = libc::in6_ifreq {
                    ifr6_addr: libc::in6_addr {
                        s6_addr: address.octets(),
                    },
                    ifr6_prefixlen: 128,
                    ifr6_ifindex: index(interface)?,
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
    let any = control_socket(family(address))?;
    let call = libc::SIOCADDRT as _;
    // SAFETY: whole structures of the family's kind.
    let answer = unsafe {
        match address {
            IpAddr::V4(_) => {
                let mut name = request(interface).ifr_name;
                let mut route: libc::rtentry = mem::zeroed();
                route.rt_dst = ipv4(Ipv4Addr::UNSPECIFIED);
                route.rt_genmask = route.rt_dst;
                route.rt_flags = libc::RTF_UP;
                route.rt_dev = name.as_mut_ptr();
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
    let file = memfd_create("payload", MFdFlags::MFD_CLOEXEC).context("memfd_create")?;
    nix::unistd::write(&file, &vec![0; length]).context("payload")?;
    Ok(file)
}

fn checked(answer: c_int) -> io::Result<()> {
    match answer {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
