// SPDX-License-Identifier: Apache-2.0
//! Classic pcap with nanosecond stamps, in the machine's byte order.

use std::io::Write;
use std::path::Path;

use crate::output_file::OutputFile;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;

/// A capture that is being written.
#[derive(Debug)]
pub struct PcapFile(OutputFile);

impl PcapFile {
    /// Creates `path`, or empties it.
    pub fn create(path: &Path, link_type: u32, snaplen_bytes: u32) -> Result<Self, String> {
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NANOSECONDS.to_ne_bytes());
        header.extend(2_u16.to_ne_bytes()); // format 2.4
        header.extend(4_u16.to_ne_bytes());
        header.extend([0; 8]); // stamps are UTC, accuracy not given
        header.extend(snaplen_bytes.to_ne_bytes());
        header.extend(link_type.to_ne_bytes());
        let mut file = OutputFile::create(path)?;
        file.append(|file| file.write_all(&header));
        Ok(Self(file))
    }

    /// Appends a record of `length` bytes, of which `kept` are here in one or two parts.
    pub fn append(&mut self, utc_ns: u64, kept: [&[u8]; 2], length: u32) {
        let kept_bytes = (kept[0].len() + kept[1].len()) as u32;
        let (seconds, nanoseconds) = (utc_ns / 1_000_000_000, utc_ns % 1_000_000_000);
        let words = [seconds as u32, nanoseconds as u32, kept_bytes, length];
        self.0.append(|file| {
            file.write_all(words.map(u32::to_ne_bytes).as_flattened())?;
            kept.iter().try_for_each(|part| file.write_all(part))
        });
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        self.0.flush();
    }
}
