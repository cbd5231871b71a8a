// SPDX-License-Identifier: Apache-2.0
//! Settings and counters of a network interface (netdevice(7)), also from outside its namespace.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;
use nix::libc::{self, ifreq};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

mod ioctl {
    use nix::libc::{self, ifreq};
    nix::ioctl_readwrite_bad!(get_flags, libc::SIOCGIFFLAGS, ifreq);
    nix::ioctl_write_ptr_bad!(set_flags, libc::SIOCSIFFLAGS, ifreq);
    nix::ioctl_readwrite_bad!(get_mtu, libc::SIOCGIFMTU, ifreq);
    nix::ioctl_write_ptr_bad!(set_mtu, libc::SIOCSIFMTU, ifreq);
    nix::ioctl_readwrite_bad!(get_txqueuelen, libc::SIOCGIFTXQLEN, ifreq);
    nix::ioctl_write_ptr_bad!(set_txqueuelen, libc::SIOCSIFTXQLEN, ifreq);
}

/// About 120 bytes per line: enough for some 500 interfaces; for more it grows.
const STATISTICS_BYTES: usize = 65_536;

/// The kernel returns less than this only at the end: the smallest page holds several more lines.
const SURELY_ALL_BYTES: usize = 2_048;

/// A network interface in the network namespace in which this object was made.
#[derive(Debug)]
pub struct Interface {
    name: String,
    socket: OwnedFd,
    statistics: File,
    text: Vec<u8>,
}

impl Interface {
    /// Opens interface `name` of the current namespace.
    pub fn of(name: &str) -> Result<Self> {
        let socket = control_socket()?;
        // The file belongs to the thread's namespace at this time; sysfs would show that of its
        // mount.
        let statistics =
            File::open("/proc/thread-self/net/dev").context("opening /proc/net/dev")?;
        Ok(Self {
            name: name.into(),
            socket,
            statistics,
            text: vec![0; STATISTICS_BYTES],
        })
    }

    /// Returns whether the current namespace has an interface `name`.
    pub fn exists(name: &str) -> bool {
        nix::net::if_::if_nametoindex(name).is_ok()
    }

    /// Sets the largest IP packet, bytes.
    pub fn set_mtu(&self, bytes: u32) -> Result<()> {
        let mut request = request(&self.name)?;
        request.ifr_ifru.ifru_mtu = bytes as i32;
        // SAFETY: an open socket and a whole ifreq, here and below.
        unsafe { ioctl::set_mtu(self.socket.as_raw_fd(), &request) }
            .with_context(|| format!("the kernel refused an MTU of {bytes} bytes"))?;
        Ok(())
    }

    /// Returns the MTU in force, bytes.
    pub fn mtu(&self) -> Result<u32> {
        let mut request = request(&self.name)?;
        unsafe { ioctl::get_mtu(self.socket.as_raw_fd(), &mut request) }
            .context("reading the MTU")?;
        // SAFETY: the kernel has filled this member.
        Ok(unsafe { request.ifr_ifru.ifru_mtu } as u32)
    }

    /// Sets the length of the device's queue, packets. Has no effect in a user namespace, where the
    /// kernel refuses it.
    pub fn set_txqueuelen(&self, packets: u32) -> Result<()> {
        let mut request = request(&self.name)?;
        request.ifr_ifru.ifru_metric = packets as i32; // `ifr_qlen` is in the same union
        match unsafe { ioctl::set_txqueuelen(self.socket.as_raw_fd(), &request) } {
            Err(Errno::EPERM) => {} // the length in force is reported by txqueuelen()
            other => drop(other.context("setting txqueuelen")?),
        }
        Ok(())
    }

    /// Returns the length of the device's queue in force, packets.
    pub fn txqueuelen(&self) -> Result<u32> {
        let mut request = request(&self.name)?;
        unsafe { ioctl::get_txqueuelen(self.socket.as_raw_fd(), &mut request) }
            .context("reading txqueuelen")?;
        Ok(unsafe { request.ifr_ifru.ifru_metric } as u32)
    }

    /// Sets the interface up.
    pub fn set_up(&self) -> Result<()> {
        let mut request = request(&self.name)?;
        unsafe { ioctl::get_flags(self.socket.as_raw_fd(), &mut request) }
            .context("reading its flags")?;
        unsafe { request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short };
        unsafe { ioctl::set_flags(self.socket.as_raw_fd(), &request) }.context("setting it up")?;
        Ok(())
    }

    /// Sets an IPv4 address with a prefix length of 24.
    pub fn set_address(&self, address: [u8; 4]) -> Result<()> {
        for (ioctl, value) in [
            (libc::SIOCSIFADDR, address),
            (libc::SIOCSIFNETMASK, [255, 255, 255, 0]),
        ] {
            let mut request = request(&self.name)?;
            let octets = value.map(|octet| octet as libc::c_char);
            let socket_address = unsafe { &mut request.ifr_ifru.ifru_addr };
            socket_address.sa_family = libc::AF_INET as libc::sa_family_t;
            socket_address.sa_data[2..6].copy_from_slice(&octets); // behind the port
            // SAFETY: an open socket and a whole ifreq that holds a sockaddr_in.
            let outcome = unsafe { libc::ioctl(self.socket.as_raw_fd(), ioctl as _, &request) };
            Errno::result(outcome).context("setting its address")?;
        }
        Ok(())
    }

    /// Makes the interface the default route (IPv4).
    pub fn set_default_route(&self) -> Result<()> {
        let any = |address: &mut libc::sockaddr| {
            address.sa_family = libc::AF_INET as libc::sa_family_t; // and zeros: 0.0.0.0
        };
        let mut device = request(&self.name)?.ifr_name;
        // SAFETY: plain data, for which zeros are valid.
        let mut route: libc::rtentry = unsafe { std::mem::zeroed() };
        any(&mut route.rt_dst);
        any(&mut route.rt_genmask);
        route.rt_flags = libc::RTF_UP;
        route.rt_dev = device.as_mut_ptr();
        // SAFETY: an open socket and a whole rtentry whose name outlives the call.
        let outcome = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCADDRT as _, &route) };
        Errno::result(outcome).context("setting the default route")?;
        Ok(())
    }

    /// Returns the number of packets that the kernel dropped before sending them through the
    /// interface.
    pub fn transmit_dropped_count(&mut self) -> Result<u64> {
        let context = "reading /proc/net/dev";
        let mut filled = 0;
        loop {
            if filled == self.text.len() {
                self.text.resize(2 * filled, 0);
            }
            // The kernel returns whole lines, up to a page at a time, and nothing at the end.
            let free = &mut self.text[filled..];
            match self
                .statistics
                .read_at(free, filled as u64)
                .context(context)?
            {
                0 => break,
                read => filled += read,
            }
            if filled < SURELY_ALL_BYTES {
                break;
            }
        }
        let text = std::str::from_utf8(&self.text[..filled]).context(context)?;
        transmit_drops(text, &self.name)
            .with_context(|| format!("device {} is not in /proc/net/dev any more", self.name))
    }
}

/// Returns the twelfth number of the interface's line: eight are for receiving, and the fourth for
/// transmitting is "drop".
fn transmit_drops(table: &str, name: &str) -> Option<u64> {
    let mut lines = table
        .lines()
        .filter_map(|line| line.trim_start().split_once(':'));
    let figures = lines.find(|(interface, _)| *interface == name)?.1;
    figures.split_whitespace().nth(11)?.parse().ok()
}

fn control_socket() -> Result<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC;
    socket(AddressFamily::Inet, SockType::Datagram, flags, None).context("opening a control socket")
}

/// Makes a request for interface `name`, with all other fields zero.
pub fn request(name: &str) -> Result<ifreq> {
    ensure!(
        !name.is_empty() && name.len() < libc::IFNAMSIZ,
        "{name:?} is not an interface name; a name has 1 to {} characters",
        libc::IFNAMSIZ - 1
    );
    // SAFETY: plain data, for which zeros are valid.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::transmit_drops;

    #[test]
    fn the_drop_column_of_the_right_interface_is_read() {
        let table = "Inter-|   Receive  |  Transmit\n face |bytes packets\n  \
                     n6: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n n66: 0 0 0 0 0 0 0 0 0 0 0 99 0 0 0 0\n";
        assert_eq!(transmit_drops(table, "n6"), Some(12));
        assert_eq!(transmit_drops(table, "n66"), Some(99));
        assert_eq!(transmit_drops(table, "n"), None);
    }
}
