// SPDX-License-Identifier: Apache-2.0
//! Socket samples: the kernel's inet_diag messages, in the format of socket-sampler.

use std::path::Path;

use crate::pcap::PcapFile;

const LINKTYPE_NETLINK: u32 = 253;
/// The most that Wireshark takes in one record.
const SNAPLEN_BYTES: u32 = 262_144;
const ARPHRD_NETLINK: u16 = 824;
const NETLINK_SOCK_DIAG: u16 = 4;

/// The files of the sampled hosts.
#[derive(Debug)]
pub struct SocketSamples(Vec<PcapFile>);

impl SocketSamples {
    /// One file for each sampled host, in the order in which the kernel counts them.
    pub fn create<'a>(files: impl Iterator<Item = &'a Path>) -> Result<Self, String> {
        let create = |path| PcapFile::create(path, LINKTYPE_NETLINK, SNAPLEN_BYTES);
        files.map(create).collect::<Result<_, _>>().map(Self)
    }

    /// Records what the kernel answered for one host.
    pub fn record(&mut self, host: usize, messages: &[u8], utc_ns: u64) {
        let header = cooked_header();
        let length = (header.len() + messages.len()) as u32;
        self.0[host].append(utc_ns, [&header, messages], length);
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        self.0.iter_mut().for_each(PcapFile::flush);
    }
}

/// The header of LINKTYPE_NETLINK (big-endian): a message to this host, of family SOCK_DIAG.
fn cooked_header() -> [u8; 16] {
    let mut header = [0; 16];
    header[2..4].copy_from_slice(&ARPHRD_NETLINK.to_be_bytes());
    header[14..16].copy_from_slice(&NETLINK_SOCK_DIAG.to_be_bytes());
    header
}
