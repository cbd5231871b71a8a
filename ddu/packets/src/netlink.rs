// SPDX-License-Identifier: Apache-2.0
//! Netlink messages and their attributes (Linux `uapi/linux/netlink.h`), in the byte order of their machine.

use crate::bytes::{Endian, be16};

/// The "cooked" header of LINKTYPE_NETLINK: big-endian, the family in its last two bytes.
pub const COOKED_BYTES: usize = 16;
const FAMILY_AT: usize = 14;
const ALIGNMENT: usize = 4;
const MESSAGE_HEADER_BYTES: usize = 16;
const ATTRIBUTE_HEADER_BYTES: usize = 4;
/// The upper bits of an attribute's type: nested, or in network byte order.
const TYPE_MASK: u16 = 0x3fff;

/// Family and messages of one record; None: shorter than its header.
pub fn cooked(frame: &[u8]) -> Option<(u16, &[u8])> {
    let messages = frame.get(COOKED_BYTES..)?;
    Some((be16(frame, FAMILY_AT), messages))
}

/// Type and body of each message, as far as they are whole.
pub fn messages(endian: Endian, bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    blocks(bytes, MESSAGE_HEADER_BYTES, move |header| {
        (endian.u32(header, 0) as usize, endian.u16(header, 4))
    })
}

/// Type and value of each attribute, as far as they are whole.
pub fn attributes(endian: Endian, bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    blocks(bytes, ATTRIBUTE_HEADER_BYTES, move |header| {
        let length = usize::from(endian.u16(header, 0));
        (length, endian.u16(header, 2) & TYPE_MASK)
    })
}

/// Blocks that begin with their own length, header included, and are aligned.
fn blocks(
    mut rest: &[u8],
    header_bytes: usize,
    length_and_type: impl Fn(&[u8]) -> (usize, u16),
) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (length, kind) = length_and_type(rest.get(..header_bytes)?);
        let body = rest.get(header_bytes..length)?;
        rest = rest
            .get(length.next_multiple_of(ALIGNMENT)..)
            .unwrap_or(&[]);
        Some((kind, body))
    })
}
