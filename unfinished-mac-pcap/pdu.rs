// SPDX-License-Identifier: Apache-2.0
//! Transport blocks as MAC PDUs, with the headers of MAC, RLC, PDCP and SDAP. The model carries no content of packets:
//! IP bytes are zeros.

use crate::ids::UeId;
use crate::rlc::Segment;
use crate::{Direction, Nanos};

/// Logical channel of the data radio bearer; 1 to 3 are those of signalling.
const DATA_CHANNEL: u8 = 4;
/// LCIDs of TS 38.321 tables 6.2.1-1 and 6.2.1-2.
const SHORT_BUFFER_STATUS: u8 = 61;
const PADDING: u8 = 63;
/// Subheader with a length in two bytes (TS 38.321 clause 6.1.2).
const LONG_LENGTH: u8 = 0x40;
/// The largest index of a short buffer status report (TS 38.321 table 6.1.3.1-1).
const LARGEST_LEVEL: u8 = 31;
/// QoS flow of all packets.
const QFI: u8 = 1;
/// PDCP and SDAP headers, the first bytes of an RLC SDU.
const PER_PACKET_BYTES: u32 = 4;

/// A transport block that its receiver has decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacPdu {
    /// Start of the slot that it was decoded of.
    pub at: Nanos,
    /// Its UE.
    pub ue: UeId,
    /// Its direction.
    pub direction: Direction,
    /// Its HARQ process.
    pub process: u8,
    /// Whether its carrier is TDD.
    pub is_tdd: bool,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Returns the PDU of `length` bytes with these segments; in the uplink it reports `buffer_status` bytes.
pub(crate) fn pdu(
    segments: impl Iterator<Item = Segment>,
    length: u32,
    direction: Direction,
    buffer_status: u64,
) -> Vec<u8> {
    let mut pdu = Vec::with_capacity(length as usize);
    for segment in segments {
        put_segment(&mut pdu, segment, direction);
    }
    if direction == Direction::Uplink {
        // Logical channel group 0 and the level, of which all above the largest are one.
        let level = buffer_status.checked_ilog2().map_or(0, |bits| bits as u8 + 1);
        pdu.extend([SHORT_BUFFER_STATUS, level.min(LARGEST_LEVEL)]);
    }
    if pdu.len() < length as usize {
        pdu.push(PADDING);
    }
    pdu.resize(length as usize, 0);
    pdu
}

fn put_segment(pdu: &mut Vec<u8>, segment: Segment, direction: Direction) {
    let Segment { number, offset, bytes, ends } = segment;
    let is_first = offset == 0;
    let above = if is_first { PER_PACKET_BYTES } else { 0 };
    let rlc_header = if is_first { 3 } else { 5 };
    let rlc_bytes = rlc_header + above + bytes;
    if rlc_bytes < 256 {
        pdu.extend([DATA_CHANNEL, rlc_bytes as u8]);
    } else {
        pdu.push(LONG_LENGTH | DATA_CHANNEL);
        pdu.extend((rlc_bytes as u16).to_be_bytes());
    }
    // TS 38.322 clause 6.2.2.4 with an 18-bit number: D/C, P, SI, R, SN.
    let part = match (is_first, ends) {
        (true, true) => 0b00,
        (true, false) => 0b01,
        (false, true) => 0b10,
        (false, false) => 0b11,
    };
    let [_, high, middle, low] = (number as u32 & 0x3_ffff).to_be_bytes();
    pdu.extend([0x80 | part << 4 | high, middle, low]);
    if is_first {
        // TS 38.323 clause 6.2.2.3: D/C and the number; then SDAP (TS 37.324 clause 6.2.2).
        pdu.extend([0x80 | high, middle, low]);
        pdu.push(if direction == Direction::Uplink { 0x80 | QFI } else { QFI });
    } else {
        pdu.extend(((offset + PER_PACKET_BYTES) as u16).to_be_bytes());
    }
    pdu.resize(pdu.len() + bytes as usize, 0);
}
