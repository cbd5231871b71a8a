// SPDX-License-Identifier: Apache-2.0
//! QUIC's headers as far as they are in the clear (RFC 8999, RFC 9000 section 17, RFC 9369 section 3).

use crate::bytes::{be16, be32};

const VERSION_NEGOTIATION: u32 = 0;
const VERSION_1: u32 = 1;
const VERSION_2: u32 = 0x6b33_43cf;
const LONG: u8 = 0x80;
const FIXED: u8 = 0x40;
const LONGEST_CONNECTION_ID: usize = 20;

/// The header of the first QUIC packet in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Long or short form.
    pub is_long: bool,
    /// Bytes before the packet number, which is encrypted; of a Retry or a version negotiation, of what all
    /// versions have.
    pub header_bytes: u16,
}

/// A long header, and the length of the sender's own connection ID, which packets to it will carry.
///
/// None: not QUIC of version 1 or 2, or cut.
pub fn long(datagram: &[u8]) -> Option<(Header, u8)> {
    const DCID_LENGTH: usize = 5;
    let first = *datagram.first()?;
    let version = be32(datagram.get(..DCID_LENGTH)?, 1);
    if first & LONG == 0 {
        return None;
    }
    let dcid_bytes = usize::from(*datagram.get(DCID_LENGTH)?);
    let scid_at = DCID_LENGTH + 1 + dcid_bytes;
    let scid_bytes = usize::from(*datagram.get(scid_at)?);
    if dcid_bytes > LONGEST_CONNECTION_ID || scid_bytes > LONGEST_CONNECTION_ID {
        return None;
    }
    let mut header_bytes = scid_at + 1 + scid_bytes;
    datagram.get(..header_bytes)?;
    match kind(first, version)? {
        Kind::Bare => {}
        Kind::Initial => {
            let (token_bytes, length) = variable(datagram, header_bytes)?;
            header_bytes += length + usize::try_from(token_bytes).ok()?;
            header_bytes += length_of_variable(datagram, header_bytes)?;
        }
        Kind::Numbered => header_bytes += length_of_variable(datagram, header_bytes)?,
    }
    let header = Header {
        is_long: true,
        header_bytes: u16::try_from(header_bytes).ok()?,
    };
    Some((header, scid_bytes as u8))
}

/// A short header, behind which the connection ID of `dcid_bytes` stands.
pub fn short(datagram: &[u8], dcid_bytes: u8) -> Option<Header> {
    let is_short = datagram.first()? & (LONG | FIXED) == FIXED;
    is_short.then_some(Header {
        is_long: false,
        header_bytes: 1 + u16::from(dcid_bytes),
    })
}

/// The fields between the connection IDs and the packet number.
enum Kind {
    /// Token, length.
    Initial,
    /// Length (0-RTT, Handshake).
    Numbered,
    /// There is no packet number: Retry, version negotiation.
    Bare,
}

fn kind(first: u8, version: u32) -> Option<Kind> {
    // RFC 9369 section 3.2: version 2 counts the types from another one on.
    let initial = match version {
        VERSION_NEGOTIATION => return Some(Kind::Bare),
        VERSION_1 => 0,
        VERSION_2 => 1,
        _ => return None,
    };
    if first & FIXED == 0 {
        return None;
    }
    let packet_type = first >> 4 & 0b11;
    Some(match (packet_type + 4 - initial) % 4 {
        0 => Kind::Initial,
        3 => Kind::Bare,
        _ => Kind::Numbered,
    })
}

/// A variable-length integer and its own length (RFC 9000, section 16).
fn variable(datagram: &[u8], at: usize) -> Option<(u64, usize)> {
    let length = length_of_variable(datagram, at)?;
    let bytes = datagram.get(at..at + length)?;
    let value = match length {
        1 => u64::from(bytes[0] & 0x3f),
        2 => u64::from(be16(bytes, 0) & 0x3fff),
        4 => u64::from(be32(bytes, 0) & 0x3fff_ffff),
        _ => u64::from(be32(bytes, 0) & 0x3fff_ffff) << 32 | u64::from(be32(bytes, 4)),
    };
    Some((value, length))
}

fn length_of_variable(datagram: &[u8], at: usize) -> Option<usize> {
    datagram.get(at).map(|first| 1 << (first >> 6))
}
