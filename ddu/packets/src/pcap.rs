// SPDX-License-Identifier: Apache-2.0
//! The classic pcap format, of either byte order, in µs or ns (draft-ietf-opsawg-pcap).

use crate::bytes::Endian;
use crate::error::{Result, malformed};
use crate::record::{LARGEST_RECORD_BYTES, Record, Step};
use crate::source::Source;

const FILE_HEADER_BYTES: usize = 24;
const RECORD_HEADER_BYTES: usize = 16;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const LINK_TYPE_OFFSET: usize = 20;
/// The link type's word also describes frame check sequences, in its upper bits.
const LINK_TYPE_MASK: u32 = 0xffff;

/// The file's header, which applies to all records.
pub struct Header {
    /// Byte order of the machine that wrote it.
    pub endian: Endian,
    fraction_ns: u32,
    link_type: u32,
}

impl Header {
    /// Takes the header of a file that begins with `magic`.
    ///
    /// # Errors
    /// The magic is not pcap's, or the file ends within the header.
    pub fn read(source: &mut Source, magic: [u8; 4]) -> Result<Self> {
        let Some((endian, fraction_ns)) = kind(magic) else {
            let magic = u32::from_be_bytes(magic);
            let problem = format!("neither pcap nor pcapng: the file begins with 0x{magic:08x}");
            return malformed(0, problem);
        };
        let Some(header) = source.peek(FILE_HEADER_BYTES)? else {
            return malformed(0, "the file ends within its pcap header of 24 bytes");
        };
        let link_type = endian.u32(header, LINK_TYPE_OFFSET) & LINK_TYPE_MASK;
        source.take(FILE_HEADER_BYTES);
        Ok(Self {
            endian,
            fraction_ns,
            link_type,
        })
    }

    #[inline]
    pub(crate) fn step(&self, source: &mut Source) -> Result<Step> {
        let Some(header) = source.peek(RECORD_HEADER_BYTES)? else {
            return Ok(Step::End);
        };
        let word = |index: usize| self.endian.u32(header, 4 * index);
        let fraction_ns = i64::from(word(1)) * i64::from(self.fraction_ns);
        let record = Record {
            utc_ns: i64::from(word(0)) * 1_000_000_000 + fraction_ns,
            caplen: word(2),
            wirelen: word(3),
            link_type: self.link_type,
        };
        let caplen = record.caplen as usize;
        if caplen > LARGEST_RECORD_BYTES {
            let problem =
                format!("a record that claims to have {caplen} bytes: the file is damaged");
            return malformed(source.offset(), problem);
        }
        let length = RECORD_HEADER_BYTES + caplen;
        Ok(match source.peek(length)? {
            None => Step::End,
            Some(_) => Step::Frame {
                record,
                header: RECORD_HEADER_BYTES,
                length,
            },
        })
    }
}

fn kind(magic: [u8; 4]) -> Option<(Endian, u32)> {
    [Endian::Little, Endian::Big]
        .into_iter()
        .find_map(|endian| match endian.u32(&magic, 0) {
            MICROSECONDS => Some((endian, 1000)),
            NANOSECONDS => Some((endian, 1)),
            _ => None,
        })
}
