// SPDX-License-Identifier: Apache-2.0
//! The GTP-U header (3GPP TS 29.281, clause 5.1), so that captures on N3 show the users' packets.

use crate::bytes::{be16, be32};

/// UDP port of GTP-U (TS 29.281, clause 4.4.2).
pub const PORT: u16 = 2152;
const G_PDU: u8 = 255;

/// Tunnel endpoint identifier, and bytes before the tunnelled packet. None: not a user's packet, or cut.
pub fn parse(datagram: &[u8]) -> Option<(u32, usize)> {
    const FIXED_BYTES: usize = 8;
    const VERSION_1_GTP: u8 = 0b0011_0000; // version 1, protocol type GTP (not GTP')
    const HAS_OPTIONAL: u8 = 0b0000_0111; // E, S or PN: four more bytes
    const HAS_EXTENSION: u8 = 0b0000_0100;
    let fixed = datagram.get(..FIXED_BYTES)?;
    if fixed[0] & 0b1111_0000 != VERSION_1_GTP || fixed[1] != G_PDU || be16(fixed, 2) == 0 {
        return None;
    }
    let mut header_bytes = FIXED_BYTES;
    if fixed[0] & HAS_OPTIONAL != 0 {
        header_bytes += 4;
        let mut next = *datagram.get(header_bytes - 1)?;
        // Each extension header begins with its length in units of 4 bytes and ends with the next one's type.
        while fixed[0] & HAS_EXTENSION != 0 && next != 0 {
            let length = usize::from(*datagram.get(header_bytes)?) * 4;
            if length == 0 {
                return None;
            }
            header_bytes += length;
            next = *datagram.get(header_bytes - 1)?;
        }
    }
    Some((be32(fixed, 4), header_bytes))
}
