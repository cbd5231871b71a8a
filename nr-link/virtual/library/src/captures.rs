// SPDX-License-Identifier: Apache-2.0
//! Captures of what the link's devices send and receive, as tcpdump on a host would write them.

use std::path::Path;

use nr_link_model::delays::Captured;

use crate::pcap::PcapFile;

const LINKTYPE_RAW: u32 = 101;

/// One optional capture for each device.
#[derive(Debug)]
pub struct Captures {
    /// Each with the packets in it so far.
    files: Vec<(Option<PcapFile>, u32)>,
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
                .map(|path| Ok((path.map(create).transpose()?, 0)))
                .collect::<Result<_, String>>()?,
            captured_bytes: captured_bytes as usize,
        })
    }

    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.files.iter().any(|(file, _)| file.is_some())
    }

    /// Records a packet of `length` bytes that starts with `head`; returns where it is captured.
    pub fn record(&mut self, device: usize, head: &[u8], length: u32, utc_ns: u64) -> Captured {
        let mut captured = Captured {
            utc_ns: utc_ns as i64,
            frame: 0,
        };
        if let Some((Some(file), frames)) = self.files.get_mut(device) {
            let kept = &head[..head.len().min(self.captured_bytes)];
            file.append(utc_ns, [kept, &[]], length);
            *frames += 1;
            captured.frame = *frames;
        }
        captured
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        let files = self.files.iter_mut().filter_map(|(file, _)| file.as_mut());
        files.for_each(PcapFile::flush);
    }
}
