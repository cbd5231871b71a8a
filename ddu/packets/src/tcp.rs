// SPDX-License-Identifier: Apache-2.0
//! The TCP header (RFC 9293, section 3.1) and the options that measurements need.

use crate::bytes::{be16, be32};

const FIXED_BYTES: usize = 20;

const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3; // RFC 7323
const SACK: u8 = 5; // RFC 2018
const TIMESTAMPS: u8 = 8; // RFC 7323

/// Left and right edge.
pub type SackBlock = (u32, u32);

/// One segment's header, without the ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// Sequence number of the first payload byte, or of the SYN.
    pub seq: u32,
    /// Next byte expected; meaningful with the ACK flag.
    pub ack: u32,
    /// The twelve bits behind the data offset: reserved ones, AE, CWR, ECE, URG, ACK, PSH, RST, SYN, FIN.
    pub flags: u16,
    /// The window of the header, not scaled.
    pub window: u16,
    /// Bytes behind the header, whether captured or not.
    pub payload_bytes: u32,
    /// The options.
    pub options: Options,
    /// The capture, or the packet, ends within the options.
    pub is_cut: bool,
}

/// The last of each kind counts, as with Linux.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// Up to four blocks, as many as fit.
    pub sack: [SackBlock; 4],
    /// The number of them.
    pub sack_count: usize,
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Shift of the window.
    pub wscale: Option<u8>,
}

/// Reads the header at the start of `segment`, of which `segment_bytes` were on the wire.
///
/// None: cut within the fixed header, or malformed.
#[inline]
pub fn parse(segment: &[u8], segment_bytes: u32) -> Option<Tcp> {
    let fixed = segment.get(..FIXED_BYTES)?;
    let header_bytes = usize::from(fixed[12] >> 4) * 4;
    if header_bytes < FIXED_BYTES || (segment_bytes as usize) < header_bytes {
        return None;
    }
    let captured = header_bytes.min(segment.len());
    let (options, all_whole) = parse_options(&segment[FIXED_BYTES..captured]);
    Some(Tcp {
        seq: be32(fixed, 4),
        ack: be32(fixed, 8),
        flags: be16(fixed, 12) & 0x0fff,
        window: be16(fixed, 14),
        payload_bytes: segment_bytes - header_bytes as u32,
        options,
        is_cut: captured < header_bytes || !all_whole,
    })
}

#[inline]
fn parse_options(mut rest: &[u8]) -> (Options, bool) {
    let mut options = Options::default();
    while let Some(&kind) = rest.first() {
        match kind {
            END_OF_OPTIONS => return (options, true),
            NO_OPERATION => rest = &rest[1..],
            _ => {
                let length = rest.get(1).map_or(0, |&length| usize::from(length));
                if length < 2 || length > rest.len() {
                    return (options, false);
                }
                options.read(kind, &rest[2..length]);
                rest = &rest[length..];
            }
        }
    }
    (options, true)
}

impl Options {
    fn read(&mut self, kind: u8, value: &[u8]) {
        match (kind, value.len()) {
            (TIMESTAMPS, 8) => self.timestamps = Some((be32(value, 0), be32(value, 4))),
            (SACK, 8 | 16 | 24 | 32) => {
                self.sack_count = value.len() / 8;
                for (block, edges) in self.sack.iter_mut().zip(value.chunks_exact(8)) {
                    *block = (be32(edges, 0), be32(edges, 4));
                }
            }
            (MAXIMUM_SEGMENT_SIZE, 2) => self.mss = Some(be16(value, 0)),
            (WINDOW_SCALE, 1) => self.wscale = Some(value[0]),
            _ => {}
        }
    }
}
