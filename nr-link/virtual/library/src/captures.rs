// SPDX-License-Identifier: Apache-2.0
//! Captures of what the link's devices send and receive, as tcpdump on a host would write them.

use std::path::Path;

use crate::pcap::PcapFile;

const LINKTYPE_RAW: u32 = 101;

/// One optional capture for each device.
#[derive(Debug)]
pub struct Captures {
    files: Vec<Option<PcapFile>>,
    captured_bytes: usize,
}

impl Captures {
    /// A capture of up to `captured_bytes` of each packet, for each device that has a file.
    pub fn create<'a>(
        files: impl Iterator<Item = Option<&'a Path>>,
        captured_bytes: u32,
    ) -> Result<Self, String> {
        let create = |path| PcapFile::create(path, LINKTYPE_RAW, captured_bytes);
        Ok(Self {
            files: files
                .map(|path| path.map(create).transpose())
                .collect::<Result<_, _>>()?,
            captured_bytes: captured_bytes as usize,
        })
    }

    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.files.iter().any(Option::is_some)
    }

    /// Records a packet of `length` bytes that starts with `head`.
    pub fn record(&mut self, device: usize, head: &[u8], length: u32, utc_ns: u64) {
        if let Some(Some(file)) = self.files.get_mut(device) {
            let kept = &head[..head.len().min(self.captured_bytes)];
            file.append(utc_ns, [kept, &[]], length);
        }
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        self.files.iter_mut().flatten().for_each(PcapFile::flush);
    }
}
