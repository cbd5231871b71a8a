// SPDX-License-Identifier: Apache-2.0
//! A TUN device, through which packets of the kernel enter and leave.

use std::fs::{File, OpenOptions};
use std::io::{IoSlice, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::libc;
use nix::sys::uio::writev;

use crate::interface::Interface;
use crate::netns::NamespaceRef;
use crate::pool::{Buffer, Pool};
use crate::vnet::VNET_HEADER_BYTES;

/// Length of the kernel's device queue. It only bridges the times in which this process does not
/// run; it is not the queue of the link. Its backlog is observed and reported.
pub const DEVICE_QUEUE_PACKETS: u32 = 1000;

const TUN_F_CSUM: u32 = 0x01;
const TUN_F_TSO4: u32 = 0x02;
const TUN_F_TSO6: u32 = 0x04;
const TUN_F_TSO_ECN: u32 = 0x08;
const TUN_F_USO4: u32 = 0x20; // since Linux 6.2, as USO6
const TUN_F_USO6: u32 = 0x40;

mod ioctl {
    use nix::libc::{c_int, ifreq};
    nix::ioctl_write_ptr_bad!(set_interface, nix::request_code_write!(b'T', 202, 4), ifreq);
    nix::ioctl_write_int_bad!(set_offload, nix::request_code_write!(b'T', 208, 4));
    nix::ioctl_write_ptr_bad!(
        set_header_bytes,
        nix::request_code_write!(b'T', 216, 4),
        c_int
    );
}

/// The properties of a device, as reported by the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// Largest IP packet.
    pub mtu_bytes: u32,
    /// Length of the device's queue, packets.
    pub txqueuelen: u32,
    /// The super-packets that pass the device unsegmented.
    pub offloads: Vec<&'static str>,
}

/// A non-persistent TUN device: the kernel removes it when this object is dropped or the process
/// ends.
#[derive(Debug)]
pub struct Tun {
    file: File,
    name: String,
    netns: Option<String>,
    interface: Interface,
    offloads: Vec<&'static str>,
}

impl Tun {
    /// Makes device `name` in a namespace and sets it up.
    pub fn open(name: &str, namespace: NamespaceRef, mtu_bytes: u32) -> Result<Self> {
        let netns = namespace.name();
        let there = netns.map_or(String::new(), |netns| {
            format!(" in network namespace {netns}")
        });
        let context = || format!("cannot make TUN device {name}{there}");
        namespace
            .inside(|| {
                let file = open_clone_device()?;
                attach(&file, name)?;
                let offloads = set_offloads(&file)?;
                let interface = Interface::of(name)?;
                interface.set_mtu(mtu_bytes)?;
                interface.set_txqueuelen(DEVICE_QUEUE_PACKETS)?;
                interface.set_up()?;
                Ok(Self {
                    file,
                    name: name.into(),
                    netns: netns.map(Into::into),
                    interface,
                    offloads,
                })
            })
            .with_context(context)
    }

    /// Returns the interface name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the `ip netns` name of its namespace.
    pub fn netns(&self) -> Option<&str> {
        self.netns.as_deref()
    }

    /// Returns the properties as reported by the kernel.
    pub fn properties(&self) -> Result<Properties> {
        Ok(Properties {
            mtu_bytes: self.interface.mtu()?,
            txqueuelen: self.interface.txqueuelen()?,
            offloads: self.offloads.clone(),
        })
    }

    /// Sets an IPv4 address with a prefix length of 24.
    pub fn set_address(&self, address: [u8; 4]) -> Result<()> {
        self.interface.set_address(address)
    }

    /// Makes the device the default route of its namespace.
    pub fn set_default_route(&self) -> Result<()> {
        self.interface.set_default_route()
    }

    /// Returns the number of packets that did not fit into the device's queue since the device was
    /// made.
    pub fn dropped_count(&mut self) -> Result<u64> {
        self.interface.transmit_dropped_count()
    }

    /// Reads the next packet that the kernel sent into the device; `None` if there is none.
    pub fn read(&mut self, scratch: &mut Buffer, pool: &Pool) -> Result<Option<Buffer>> {
        match self.file.read(scratch.bytes_mut()) {
            Ok(length) => Ok(Some(pool.keep(scratch, length))),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error)
                .with_context(|| format!("device {} is gone: reading it failed", self.name)),
        }
    }

    /// Writes a packet, in two parts, to the kernel. Returns false if the kernel refused it.
    ///
    /// # Errors
    /// The device no longer exists.
    pub fn write(&mut self, headers: &[u8], payload: &[u8]) -> Result<bool> {
        match writev(&self.file, &[IoSlice::new(headers), IoSlice::new(payload)]) {
            Ok(_) => Ok(true),
            // EIO: the device was set down. The others: no memory, or a packet that the kernel
            // finds malformed.
            Err(Errno::EIO | Errno::EAGAIN | Errno::ENOMEM | Errno::ENOBUFS | Errno::EINVAL) => {
                Ok(false)
            }
            Err(error) => Err(error)
                .with_context(|| format!("device {} is gone: writing to it failed", self.name)),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn open_clone_device() -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open("/dev/net/tun")
        .context(
            "cannot open /dev/net/tun; load the module (`modprobe tun`), or give the container the device \
             (`--device /dev/net/tun`)",
        )
}

fn attach(file: &File, name: &str) -> Result<()> {
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR | libc::IFF_TUN_EXCL;
    let mut request = crate::interface::request(name)?;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: an open descriptor and a whole ifreq.
    match unsafe { ioctl::set_interface(file.as_raw_fd(), &request) } {
        Err(Errno::EBUSY | Errno::EEXIST | Errno::EINVAL) if Interface::exists(name) => {
            bail!(
                "the name is taken; choose another, or remove the device with `ip link delete {name}`"
            )
        }
        Err(Errno::EPERM) => bail!("that needs CAP_NET_ADMIN; run nr-link as root"),
        other => other.context("the kernel refused it")?,
    };
    Ok(())
}

/// Requests all offloads that the kernel supports, and returns those in force.
fn set_offloads(file: &File) -> Result<Vec<&'static str>> {
    let header_bytes = VNET_HEADER_BYTES as libc::c_int;
    // SAFETY: an open descriptor and a pointer to an int, as TUNSETVNETHDRSZ wants it.
    unsafe { ioctl::set_header_bytes(file.as_raw_fd(), &header_bytes) }
        .context("setting the header's size")?;
    let tcp = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
    let offer = |offloads: u32| {
        // SAFETY: an open descriptor; the argument is the value itself.
        unsafe { ioctl::set_offload(file.as_raw_fd(), offloads as libc::c_int) }
    };
    let mut names = vec!["csum", "tso4", "tso6", "tso-ecn"];
    if offer(tcp | TUN_F_USO4 | TUN_F_USO6).is_ok() {
        names.extend(["uso4", "uso6"]);
    } else {
        offer(tcp).context("the kernel refused segmentation offload")?;
    }
    Ok(names)
}
