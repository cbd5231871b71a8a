// SPDX-License-Identifier: Apache-2.0
//! Transport blocks as MAC PDUs, with the headers of MAC, RLC, PDCP and SDAP. The model carries no content of packets:
//! IP bytes are zeros.

use super::grants::short_report;
use super::harq::Block;
use crate::headers::{PER_PACKET_BYTES, rlc_pdu_bytes};
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
/// The bit D/C of RLC (TS 38.322 clause 6.2.2.4), PDCP (TS 38.323 clause 6.2.2.3) and, in the uplink, SDAP (TS 37.324
/// clause 6.2.2).
const DATA: u8 = 0x80;
/// RLC and PDCP count packets with 18 bits.
const SEQUENCE_NUMBERS: u32 = 1 << 18;
/// QoS flow of all packets.
const QFI: u8 = 1;

/// A transport block that its receiver has decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacPdu {
    /// Its reception.
    pub received: Received,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The reception of a transport block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Start of the slot in which it was sent when it arrived.
    pub at: Nanos,
    /// That slot's frame (SFN), and its number in the frame.
    pub frame: u16,
    pub slot: u16,
    /// Its UE.
    pub ue: UeId,
    /// Its direction.
    pub direction: Direction,
    /// Its HARQ process.
    pub process: u8,
    /// Whether its carrier is TDD.
    pub is_tdd: bool,
}

impl MacPdu {
    /// Makes the PDU of a block that carries these segments.
    pub(super) fn new(
        received: Received,
        segments: impl Iterator<Item = Segment>,
        block: &Block,
    ) -> Self {
        let length = block.bytes as usize;
        let mut bytes = Vec::with_capacity(length);
        for segment in segments {
            put_segment(&mut bytes, segment, received.direction);
        }
        if received.direction == Direction::Uplink {
            // Of logical channel group 0.
            bytes.extend([SHORT_BUFFER_STATUS, short_report(block.buffer_status)]);
        }
        if bytes.len() < length {
            bytes.push(PADDING);
        }
        bytes.resize(length, 0);
        Self { received, bytes }
    }
}

fn put_segment(pdu: &mut Vec<u8>, segment: Segment, direction: Direction) {
    let (is_first, is_last) = (segment.is_first(), segment.is_last);
    let rlc_pdu_bytes = rlc_pdu_bytes(segment.bytes, is_first);
    match u8::try_from(rlc_pdu_bytes) {
        Ok(bytes) => pdu.extend([DATA_CHANNEL, bytes]),
        Err(_) => {
            pdu.push(LONG_LENGTH | DATA_CHANNEL);
            pdu.extend((rlc_pdu_bytes as u16).to_be_bytes());
        }
    }
    let end = pdu.len() + rlc_pdu_bytes as usize;
    let segmentation = u8::from(!is_first) << 1 | u8::from(!is_last);
    let [high, middle, low] = sequence_number(segment.number);
    pdu.extend([DATA | segmentation << 4 | high, middle, low]);
    if is_first {
        let [high, middle, low] = sequence_number(segment.pdcp_number);
        pdu.extend([DATA | high, middle, low]);
        pdu.push(match direction {
            Direction::Downlink => QFI,
            Direction::Uplink => DATA | QFI,
        });
    } else {
        pdu.extend(((segment.offset + PER_PACKET_BYTES) as u16).to_be_bytes());
    }
    pdu.resize(end, 0);
}

fn sequence_number(number: u64) -> [u8; 3] {
    let [_, number @ ..] = (number as u32 % SEQUENCE_NUMBERS).to_be_bytes();
    number
}
