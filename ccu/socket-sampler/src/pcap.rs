// SPDX-License-Identifier: Apache-2.0
//! The file: classic pcap with nanosecond timestamps, link type NETLINK (253) of the tcpdump registry.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use nix::time::{ClockId, clock_gettime};

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const LINKTYPE_NETLINK: u32 = 253;
/// The largest record that Wireshark accepts.
pub const SNAPLEN_BYTES: usize = 262_144;
const ARPHRD_NETLINK: u16 = 824;
const PACKET_TO_US: u16 = 0; // LINKTYPE_LINUX_SLL's packet type: sent to this host
const NETLINK_SOCK_DIAG: u16 = 4;

const RECORD_HEADER_BYTES: usize = 16;
/// Bytes of the "cooked" header of LINKTYPE_NETLINK; its fields are big-endian, the messages after it are not.
pub const COOKED_BYTES: usize = 16;

/// A pcap file that is complete after every append.
pub struct PcapFile {
    file: File,
    path: PathBuf,
    record: Vec<u8>,
    whole_bytes: u64,
}

impl PcapFile {
    /// Creates `path`, or empties it. Its directory must exist.
    pub fn create(path: &Path) -> Result<Self> {
        let context = || format!("cannot write {}", path.display());
        let mut file = File::create(path).with_context(context)?;
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NANOSECONDS.to_ne_bytes());
        header.extend(2_u16.to_ne_bytes()); // format 2.4
        header.extend(4_u16.to_ne_bytes());
        header.extend([0; 8]); // timestamps are UTC, accuracy unspecified
        header.extend((SNAPLEN_BYTES as u32).to_ne_bytes());
        header.extend(LINKTYPE_NETLINK.to_ne_bytes());
        file.write_all(&header).with_context(context)?;
        let whole_bytes = header.len() as u64;
        Ok(Self {
            file,
            path: path.into(),
            record: Vec::new(),
            whole_bytes,
        })
    }

    /// Appends netlink messages as one record, with the present time of CLOCK_REALTIME.
    ///
    /// There is one write per record and no buffer, so that samples survive SIGKILL. If the disk is full, the
    /// incomplete record is removed, so that the file ends with a complete one.
    pub fn append(&mut self, messages: &[u8]) -> Result<()> {
        let now = clock_gettime(ClockId::CLOCK_REALTIME).context("reading the clock")?;
        let bytes = (COOKED_BYTES + messages.len()) as u32;
        self.record.clear();
        for word in [now.tv_sec() as u32, now.tv_nsec() as u32, bytes, bytes] {
            self.record.extend(word.to_ne_bytes());
        }
        self.record.extend(cooked_header());
        self.record.extend_from_slice(messages);
        if let Err(error) = self.file.write_all(&self.record) {
            self.take_back();
            return Err(error).with_context(|| format!("cannot write {}", self.path.display()));
        }
        self.whole_bytes += (RECORD_HEADER_BYTES + bytes as usize) as u64;
        Ok(())
    }

    fn take_back(&mut self) {
        // A file that cannot be truncated (a pipe, a device) has no end to fix.
        if self.file.set_len(self.whole_bytes).is_ok() {
            let _ = self.file.seek(std::io::SeekFrom::Start(self.whole_bytes));
        }
    }
}

fn cooked_header() -> [u8; COOKED_BYTES] {
    let mut header = [0; COOKED_BYTES]; // 10 bytes between the type and the family are unused
    header[0..2].copy_from_slice(&PACKET_TO_US.to_be_bytes());
    header[2..4].copy_from_slice(&ARPHRD_NETLINK.to_be_bytes());
    header[14..16].copy_from_slice(&NETLINK_SOCK_DIAG.to_be_bytes());
    header
}
