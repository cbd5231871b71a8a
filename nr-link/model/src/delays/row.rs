// SPDX-License-Identifier: Apache-2.0
//! A packet's delay as a row of `delays.npy`: a NumPy array of records (numpy.lib.format, version 1.0), which
//! `numpy.load` reads. `docs/run-directory.md` describes the columns.

use std::io::{self, Write};

use super::{Delays, Part};
use crate::{Direction, Nanos, UeId};

/// The columns before those of the parts that the link's packets can have: name and type.
const COLUMNS: [(&str, &str); 14] = [
    ("sent_utc_ns", "<i8"),
    ("received_utc_ns", "<i8"),
    ("entered_utc_ns", "<i8"),
    ("left_utc_ns", "<i8"),
    ("sent_frame", "<u4"),
    ("received_frame", "<u4"),
    ("ip_bytes", "<u4"),
    ("seq", "<u4"),
    ("ack", "<u4"),
    ("sport", "<u2"),
    ("dport", "<u2"),
    ("ue", "<u2"),
    ("direction", "|u1"),
    ("protocol", "|u1"),
];
/// Bytes of the file before the first row.
const HEADER_BYTES: usize = 1024;
/// Bytes of a row before its parts.
const PACKET_BYTES: usize = 4 * 8 + 5 * 4 + 3 * 2 + 2;
const MOST_ROW_BYTES: usize = PACKET_BYTES + 8 * Part::ALL.len();

/// The header fields by which a packet is known in captures; 0 where it has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Identity {
    /// IANA's protocol number.
    pub protocol: u8,
    /// Source port of TCP or UDP.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
    /// Sequence number of TCP.
    pub seq: u32,
    /// Acknowledgement number of TCP.
    pub ack: u32,
}

impl Identity {
    /// Reads them from the start of an IP packet, of which 40 bytes suffice for IPv4 without options.
    pub fn of(head: &[u8]) -> Self {
        let (protocol, transport) = match head.first().map(|first| (first >> 4, first & 0xf)) {
            Some((4, words)) => (head.get(9), usize::from(words) * 4),
            Some((6, _)) => (head.get(6), 40),
            _ => (None, 0),
        };
        let ports = |at: usize| head.get(transport + at..transport + at + 2);
        let numbers = |at: usize| head.get(transport + at..transport + at + 4);
        let protocol = protocol.copied().unwrap_or_default();
        let short = |bytes: Option<&[u8]>| {
            bytes.map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        let long = |bytes: Option<&[u8]>| {
            bytes.map_or(0, |bytes| {
                u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
            })
        };
        let has_ports = protocol == TCP || protocol == UDP;
        Self {
            protocol,
            sport: short(ports(0).filter(|_| has_ports)),
            dport: short(ports(2).filter(|_| has_ports)),
            seq: long(numbers(4).filter(|_| protocol == TCP)),
            ack: long(numbers(8).filter(|_| protocol == TCP)),
        }
    }
}

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A packet in a host's capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Captured {
    /// UTC, ns since 1970; 0 if it is not known.
    pub utc_ns: i64,
    /// Its number in the capture, from 1; 0 without a capture.
    pub frame: u32,
}

/// A packet that has left the link.
#[derive(Debug)]
pub struct Row<'a> {
    /// The packet at its receiver.
    pub received: Captured,
    /// When it left the link.
    pub left: Nanos,
    /// Its bytes, IP header included.
    pub ip_bytes: u32,
    /// Its identity.
    pub identity: Identity,
    /// Its UE.
    pub ue: UeId,
    /// Its direction.
    pub direction: Direction,
    /// Its account.
    pub delays: &'a Delays,
}

impl Row<'_> {
    /// Writes the row, with a column for each of `parts`, which no other part may have; the link's time 0 is
    /// `start_utc_ns`.
    ///
    /// # Errors
    /// The writer fails.
    pub fn write(&self, parts: &[Part], start_utc_ns: i64, to: &mut impl Write) -> io::Result<()> {
        let mut bytes = Bytes {
            row: [0; MOST_ROW_BYTES],
            length: 0,
        };
        let Delays { sent, entered, .. } = *self.delays;
        let utc = |time: Nanos| (start_utc_ns + time as i64).to_le_bytes();
        bytes.put(sent.utc_ns.to_le_bytes());
        bytes.put(self.received.utc_ns.to_le_bytes());
        bytes.put(utc(entered));
        bytes.put(utc(self.left));
        let Identity {
            protocol,
            sport,
            dport,
            seq,
            ack,
        } = self.identity;
        for number in [sent.frame, self.received.frame, self.ip_bytes, seq, ack] {
            bytes.put(number.to_le_bytes());
        }
        for number in [sport, dport, self.ue.0 as u16] {
            bytes.put(number.to_le_bytes());
        }
        bytes.put([u8::from(self.direction == Direction::Uplink), protocol]);
        for &part in parts {
            bytes.put(self.delays.of(part).to_le_bytes());
        }
        to.write_all(&bytes.row[..bytes.length])
    }
}

/// A row that is being put together.
struct Bytes {
    row: [u8; MOST_ROW_BYTES],
    length: usize,
}

impl Bytes {
    fn put<const N: usize>(&mut self, value: [u8; N]) {
        self.row[self.length..self.length + N].copy_from_slice(&value);
        self.length += N;
    }
}

/// Returns the file's content before the first row, which has the same length for any number of `rows`.
///
/// `parts`: those that the packets of the link can have.
pub fn header(parts: &[Part], rows: u64) -> Vec<u8> {
    let parts = parts
        .iter()
        .map(|part| (format!("delay_{}_ns", part.name()), "<u8"));
    let columns = COLUMNS.iter().map(|&(name, kind)| (name.to_owned(), kind));
    let columns: Vec<_> = columns
        .chain(parts)
        .map(|(name, kind)| format!("('{name}', '{kind}')"))
        .collect();
    let text = format!(
        "{{'descr': [{}], 'fortran_order': False, 'shape': ({rows},), }}",
        columns.join(", ")
    );
    let length = HEADER_BYTES - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(format!("{text:<width$}\n", width = length - 1).into_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_length_of_its_rows_and_itself() {
        for rows in [0, u64::MAX] {
            let header = header(&Part::ALL, rows);
            assert_eq!(header.len(), HEADER_BYTES);
            assert_eq!(header.last(), Some(&b'\n'));
        }
        let width = |kind: &str| kind[2..].parse::<usize>().unwrap();
        let columns: usize = COLUMNS.iter().map(|(_, kind)| width(kind)).sum();
        assert_eq!(columns, PACKET_BYTES);
    }

    #[test]
    fn a_segment_is_known_by_ports_and_numbers() {
        let mut packet = vec![
            0x45, 0, 0, 52, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ];
        packet.extend([0x14, 0x51, 0x4e, 0x21, 0, 0, 1, 0, 0, 0, 2, 0]);
        let identity = Identity {
            protocol: 6,
            sport: 5201,
            dport: 20_001,
            seq: 256,
            ack: 512,
        };
        assert_eq!(Identity::of(&packet), identity);
        packet[9] = 17;
        let datagram = Identity {
            protocol: 17,
            seq: 0,
            ack: 0,
            ..identity
        };
        assert_eq!(Identity::of(&packet), datagram);
        assert_eq!(Identity::of(&[]), Identity::default());
    }
}
