// SPDX-License-Identifier: Apache-2.0
//! MAC PDUs as a capture that Wireshark dissects.
//!
//! Each record is an exported PDU (link type 252, Wireshark's `exported_pdu.h`) which names the dissector `mac_nr_udp`,
//! and then what programs send to that dissector over UDP: `mac-nr`, the context of the PDU as tags
//! (`packet-mac-nr.h`), and the PDU. UDP itself would limit a transport block to 64 KiB.

use std::io::{self, Write};

use crate::Direction;
use crate::mac::pdu::{MacPdu, Received};

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const LINKTYPE_WIRESHARK_UPPER_PDU: u32 = 252;
const SNAPLEN_BYTES: u32 = 262_144;

/// Tag 13 of an exported PDU, the name of a heuristic dissector, padded to four bytes; and the end of its tags.
const DISSECTOR: &[u8] = b"\0\x0d\0\x0cmac_nr_udp\0\0\0\0\0\0";

const START: &[u8] = b"mac-nr";
const FDD: u8 = 1;
const TDD: u8 = 2;
const UPLINK: u8 = 0;
const DOWNLINK: u8 = 1;
const C_RNTI: u8 = 3;
/// Tags of what follows.
const PAYLOAD: u8 = 1;
const RNTI: u8 = 2;
const UE_ID: u8 = 3;
const HARQ_ID: u8 = 6;
const FRAME_SLOT: u8 = 7;

/// Returns the file's header.
pub fn header() -> Vec<u8> {
    let mut header = MAGIC_NANOSECONDS.to_le_bytes().to_vec();
    header.extend(2_u16.to_le_bytes()); // format 2.4
    header.extend(4_u16.to_le_bytes());
    header.extend([0; 8]);
    header.extend(SNAPLEN_BYTES.to_le_bytes());
    header.extend(LINKTYPE_WIRESHARK_UPPER_PDU.to_le_bytes());
    header
}

impl MacPdu {
    /// Writes the record; the link's time 0 is `start_utc_ns`.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write_pcap(&self, start_utc_ns: i64, to: &mut impl Write) -> io::Result<()> {
        let context = self.received.context();
        let length = (DISSECTOR.len() + context.len() + self.bytes.len()) as u32;
        let utc_ns = start_utc_ns as u64 + self.received.at;
        let (seconds, nanoseconds) = (utc_ns / 1_000_000_000, utc_ns % 1_000_000_000);
        for word in [seconds as u32, nanoseconds as u32, length, length] {
            to.write_all(&word.to_le_bytes())?;
        }
        to.write_all(DISSECTOR)?;
        to.write_all(&context)?;
        to.write_all(&self.bytes)
    }
}

impl Received {
    fn context(&self) -> Vec<u8> {
        let direction = match self.direction {
            Direction::Downlink => DOWNLINK,
            Direction::Uplink => UPLINK,
        };
        let mut context = START.to_vec();
        context.extend([if self.is_tdd { TDD } else { FDD }, direction, C_RNTI]);
        for (tag, numbers) in [
            (RNTI, &[self.ue.rnti()][..]),
            (UE_ID, &[self.ue.0 as u16 + 1]),
            (FRAME_SLOT, &[self.frame, self.slot]),
        ] {
            context.push(tag);
            context.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        }
        context.extend([HARQ_ID, self.process, PAYLOAD]);
        context
    }
}
