// SPDX-License-Identifier: Apache-2.0
//! Classic pcap with nanosecond stamps, in the machine's byte order.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::fail;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const BUFFER_BYTES: usize = 1 << 20;

/// A file that is being written. What the disk refuses ends the run.
#[derive(Debug)]
pub struct PcapFile {
    file: BufWriter<File>,
    path: PathBuf,
}

impl PcapFile {
    /// Creates `path`, or empties it.
    pub fn create(path: &Path, link_type: u32, snaplen_bytes: u32) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
        let mut pcap = Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            path: path.into(),
        };
        let mut header = Vec::with_capacity(24);
        header.extend(MAGIC_NANOSECONDS.to_ne_bytes());
        header.extend(2_u16.to_ne_bytes()); // format 2.4
        header.extend(4_u16.to_ne_bytes());
        header.extend([0; 8]); // stamps are UTC, accuracy not given
        header.extend(snaplen_bytes.to_ne_bytes());
        header.extend(link_type.to_ne_bytes());
        pcap.write(&header);
        Ok(pcap)
    }

    /// Appends a record of `length` bytes, of which `kept` are here in one or two parts.
    pub fn append(&mut self, utc_ns: u64, kept: [&[u8]; 2], length: u32) {
        let kept_bytes = (kept[0].len() + kept[1].len()) as u32;
        let (seconds, nanoseconds) = (utc_ns / 1_000_000_000, utc_ns % 1_000_000_000);
        let words = [seconds as u32, nanoseconds as u32, kept_bytes, length];
        self.write(words.map(u32::to_ne_bytes).as_flattened());
        for part in kept {
            self.write(part);
        }
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        if let Err(error) = self.file.flush() {
            fail(cannot_write(&self.path, &error));
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Err(error) = self.file.write_all(bytes) {
            fail(cannot_write(&self.path, &error));
        }
    }
}

/// The message for a file that the disk refuses.
pub fn cannot_write(path: &Path, error: &std::io::Error) -> String {
    format!(
        "{}: cannot be written: {error}. Check the folder, its permissions and the free space.",
        path.display()
    )
}
