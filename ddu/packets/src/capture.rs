// SPDX-License-Identifier: Apache-2.0
//! The records of a capture, whatever file format holds them.

use std::io::Read;

use crate::bytes::Endian;
use crate::error::{Result, malformed};
use crate::record::{Record, Step};
use crate::source::Source;
use crate::{pcap, pcapng};

enum Format {
    Pcap(pcap::Header),
    PcapNg(pcapng::Section),
}

/// A capture file being read. At its end it may be asked again: a growing file then gives what has been added.
pub struct Capture {
    source: Source,
    format: Format,
}

impl Capture {
    /// Reads the file's header.
    ///
    /// # Errors
    /// An empty file; a file of another kind.
    pub fn new(stream: impl Read + Send + 'static) -> Result<Self> {
        let mut source = Source::new(stream)?;
        let Some(magic) = source.peek(4)? else {
            return match source.has_rest() {
                false => malformed(0, "the file is empty"),
                true => malformed(0, "the file ends within its first 4 bytes"),
            };
        };
        let magic = [magic[0], magic[1], magic[2], magic[3]];
        let format = if pcapng::is_magic(magic) {
            Format::PcapNg(pcapng::Section::default())
        } else {
            Format::Pcap(pcap::Header::read(&mut source, magic)?)
        };
        Ok(Self { source, format })
    }

    /// The next record and its frame's bytes; None at the end.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged; the error names the byte.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<(Record, &[u8])>> {
        loop {
            let step = match &mut self.format {
                Format::Pcap(header) => header.step(&mut self.source)?,
                Format::PcapNg(section) => section.step(&mut self.source)?,
            };
            match step {
                Step::End => return Ok(None),
                Step::Other => {}
                Step::Frame {
                    record,
                    header,
                    length,
                } => {
                    let whole = self.source.take(length);
                    return Ok(Some((record, &whole[header..][..record.caplen as usize])));
                }
            }
        }
    }

    /// Byte order of the machine that wrote what is being read.
    pub fn endian(&self) -> Endian {
        match &self.format {
            Format::Pcap(header) => header.endian,
            Format::PcapNg(section) => section.endian(),
        }
    }

    /// Returns the offset of the next record.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Returns the offset of the record that the file ends within; None if the file is whole.
    /// Meaningful after `next_record` has given None.
    pub fn truncated_at(&self) -> Option<u64> {
        self.source.has_rest().then(|| self.source.offset())
    }
}
