// SPDX-License-Identifier: Apache-2.0
//! The pcapng format: sections of either byte order, each with its interfaces (draft-ietf-opsawg-pcapng).

use crate::bytes::Endian;
use crate::error::{Result, malformed};
use crate::record::{LARGEST_RECORD_BYTES, Record, Step};
use crate::source::Source;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Type and length before a block's body, the length again behind it.
const BLOCK_HEADER_BYTES: usize = 8;
const SMALLEST_BLOCK_BYTES: usize = BLOCK_HEADER_BYTES + 4;

const OPTION_END: u16 = 0;
const OPTION_TIME_RESOLUTION: u16 = 9;
const OPTION_TIME_OFFSET: u16 = 14;

/// Whether a file that begins so is pcapng (the number reads the same in both byte orders).
pub fn is_magic(magic: [u8; 4]) -> bool {
    u32::from_be_bytes(magic) == SECTION_HEADER
}

#[derive(Clone, Copy)]
struct Interface {
    link_type: u32,
    units_per_second: u64,
    offset_seconds: i64,
}

/// The section that is being read.
#[derive(Default)]
pub struct Section {
    endian: Option<Endian>,
    interfaces: Vec<Interface>,
}

impl Section {
    pub(crate) fn endian(&self) -> Endian {
        // The file begins with a section header, so the order is known from there on.
        self.endian.unwrap_or(Endian::Little)
    }

    pub(crate) fn step(&mut self, source: &mut Source) -> Result<Step> {
        let Some((endian, kind, length)) = self.block(source)? else {
            return Ok(Step::End);
        };
        let Some(block) = source.peek(length)? else {
            return Ok(Step::End);
        };
        let body = &block[BLOCK_HEADER_BYTES..length - 4];
        match kind {
            SECTION_HEADER => {
                self.endian = Some(endian);
                self.interfaces.clear();
            }
            INTERFACE_DESCRIPTION => match interface(endian, body) {
                Some(interface) => self.interfaces.push(interface),
                None => {
                    return malformed(
                        source.offset(),
                        "an interface description that is too short",
                    );
                }
            },
            SIMPLE_PACKET => {
                return malformed(source.offset(), "a simple packet block: it has no time");
            }
            ENHANCED_PACKET | OBSOLETE_PACKET => {
                let frame = match kind {
                    ENHANCED_PACKET => self.packet(endian, body, |body| endian.u32(body, 0)),
                    _ => self.packet(endian, body, |body| u32::from(endian.u16(body, 0))),
                };
                return match frame {
                    Ok((record, header)) => Ok(Step::Frame {
                        record,
                        header: BLOCK_HEADER_BYTES + header,
                        length,
                    }),
                    Err(problem) => malformed(source.offset(), problem),
                };
            }
            _ => {} // statistics, name resolution, secrets, custom: nothing of a packet
        }
        source.take(length);
        Ok(Step::Other)
    }

    /// Byte order, type and length of the next block; None if the file ends within its header.
    fn block(&self, source: &mut Source) -> Result<Option<(Endian, u32, usize)>> {
        let offset = source.offset();
        let Some(header) = source.peek(SMALLEST_BLOCK_BYTES)? else {
            return Ok(None);
        };
        let endian = if Endian::Big.u32(header, 0) == SECTION_HEADER {
            match (Endian::Little.u32(header, 8), Endian::Big.u32(header, 8)) {
                (BYTE_ORDER_MAGIC, _) => Endian::Little,
                (_, BYTE_ORDER_MAGIC) => Endian::Big,
                _ => return malformed(offset, "a pcapng section without the byte-order magic"),
            }
        } else {
            self.endian()
        };
        let length = endian.u32(header, 4) as usize;
        if length < SMALLEST_BLOCK_BYTES
            || !length.is_multiple_of(4)
            || length > LARGEST_RECORD_BYTES
        {
            return malformed(
                offset,
                format!("a pcapng block that claims to have {length} bytes"),
            );
        }
        Ok(Some((endian, endian.u32(header, 0), length)))
    }

    fn packet(
        &self,
        endian: Endian,
        body: &[u8],
        interface: impl Fn(&[u8]) -> u32,
    ) -> std::result::Result<(Record, usize), String> {
        const HEADER_BYTES: usize = 20;
        if body.len() < HEADER_BYTES {
            return Err("a packet block that is too short".into());
        }
        let index = interface(body);
        let interface = self.interfaces.get(index as usize);
        let interface = interface
            .ok_or_else(|| format!("a packet of interface {index}, which is not described"))?;
        let units = u64::from(endian.u32(body, 4)) << 32 | u64::from(endian.u32(body, 8));
        let record = Record {
            utc_ns: interface.utc_ns(units),
            link_type: interface.link_type,
            caplen: endian.u32(body, 12),
            wirelen: endian.u32(body, 16),
        };
        if record.caplen as usize > body.len() - HEADER_BYTES {
            return Err(format!(
                "a packet of {} bytes in a smaller block",
                record.caplen
            ));
        }
        Ok((record, HEADER_BYTES))
    }
}

fn interface(endian: Endian, body: &[u8]) -> Option<Interface> {
    const HEADER_BYTES: usize = 8;
    let mut options = body.get(HEADER_BYTES..)?;
    let mut interface = Interface {
        link_type: u32::from(endian.u16(body, 0)),
        units_per_second: 1_000_000,
        offset_seconds: 0,
    };
    while options.len() >= 4 {
        let (code, length) = (endian.u16(options, 0), usize::from(endian.u16(options, 2)));
        let value = options.get(4..4 + length)?;
        match (code, length) {
            (OPTION_END, _) => break,
            (OPTION_TIME_RESOLUTION, 1) => interface.units_per_second = units_per_second(value[0])?,
            (OPTION_TIME_OFFSET, 8) => {
                interface.offset_seconds = endian.u64(value, 0) as i64;
            }
            _ => {}
        }
        options = options.get(4 + length.next_multiple_of(4)..).unwrap_or(&[]);
    }
    Some(interface)
}

/// if_tsresol: a negative power of 10, or of 2 if the upper bit is set. None: finer than a u64 can count.
fn units_per_second(resolution: u8) -> Option<u64> {
    let exponent = u32::from(resolution & 0x7f);
    let base: u64 = if resolution & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(exponent)
}

impl Interface {
    /// Times beyond 1677 and 2262 do not fit and become the nearest that does.
    fn utc_ns(&self, units: u64) -> i64 {
        if self.units_per_second == 1_000_000_000 && self.offset_seconds == 0 {
            return i64::try_from(units).unwrap_or(i64::MAX);
        }
        let ns = i128::from(units) * 1_000_000_000 / i128::from(self.units_per_second)
            + i128::from(self.offset_seconds) * 1_000_000_000;
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }
}
