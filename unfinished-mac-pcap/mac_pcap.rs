// SPDX-License-Identifier: Apache-2.0
//! MAC PDUs as a capture: `mac-nr` over UDP, as Wireshark's heuristic dissector `mac_nr_udp` reads it
//! (`packet-mac-nr.h`).

use std::io::{self, Write};

use crate::Direction;
use crate::mac::pdu::MacPdu;
use crate::samples::FIRST_RNTI;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const LINKTYPE_RAW: u32 = 101;
const SNAPLEN_BYTES: u32 = 262_144;
const IP_UDP_BYTES: usize = 28;
/// The loopback address and the port by which OpenAirInterface sends such packets.
const ADDRESS: [u8; 4] = [127, 0, 0, 1];
const PORT: u16 = 9999;

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
const FRAME_SUBFRAME: u8 = 4;
const HARQ_ID: u8 = 6;

/// Returns the file's header.
pub fn header() -> Vec<u8> {
    let mut header = MAGIC_NANOSECONDS.to_le_bytes().to_vec();
    header.extend(2_u16.to_le_bytes()); // format 2.4
    header.extend(4_u16.to_le_bytes());
    header.extend([0; 8]);
    header.extend(SNAPLEN_BYTES.to_le_bytes());
    header.extend(LINKTYPE_RAW.to_le_bytes());
    header
}

impl MacPdu {
    /// Writes the record; the link's time 0 is `start_utc_ns`.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write_pcap(&self, start_utc_ns: i64, to: &mut impl Write) -> io::Result<()> {
        let context = self.context();
        let length = IP_UDP_BYTES + context.len() + self.bytes.len();
        let utc_ns = start_utc_ns as u64 + self.at;
        let (seconds, nanoseconds) = (utc_ns / 1_000_000_000, utc_ns % 1_000_000_000);
        for word in [seconds as u32, nanoseconds as u32, length as u32, length as u32] {
            to.write_all(&word.to_le_bytes())?;
        }
        to.write_all(&ip_udp(length))?;
        to.write_all(&context)?;
        to.write_all(&self.bytes)
    }

    fn context(&self) -> Vec<u8> {
        let direction = match self.direction {
            Direction::Downlink => DOWNLINK,
            Direction::Uplink => UPLINK,
        };
        let frame = self.at / 10_000_000 % 1024;
        let subframe = self.at / 1_000_000 % 10;
        let mut context = START.to_vec();
        context.extend([if self.is_tdd { TDD } else { FDD }, direction, C_RNTI]);
        for (tag, number) in [
            (RNTI, FIRST_RNTI + self.ue.0),
            (UE_ID, self.ue.0 + 1),
            (FRAME_SUBFRAME, (frame << 4 | subframe) as usize),
        ] {
            context.push(tag);
            context.extend((number as u16).to_be_bytes());
        }
        context.extend([HARQ_ID, self.process, PAYLOAD]);
        context
    }
}

/// Returns the headers of a datagram of so many bytes, IP header included; without checksum of UDP (RFC 768).
fn ip_udp(length: usize) -> [u8; IP_UDP_BYTES] {
    let mut header = [0; IP_UDP_BYTES];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[0x45, 0]);
    put(2, &(length as u16).to_be_bytes());
    put(8, &[64, 17]);
    put(12, &ADDRESS);
    put(16, &ADDRESS);
    put(20, &PORT.to_be_bytes());
    put(22, &PORT.to_be_bytes());
    put(24, &((length - 20) as u16).to_be_bytes());
    let sum: u32 = header[..20]
        .chunks_exact(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    header[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    header
}
