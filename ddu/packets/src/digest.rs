// SPDX-License-Identifier: Apache-2.0
//! A number by which the same datagram is known again in another capture (UDP has no sequence numbers).

/// Bytes of the payload that are looked at: what our captures hold of every datagram, IPv6 included.
const PREFIX_BYTES: usize = 64;

/// FNV-1a, of 64 bits, over the payload's length and its first bytes. Equal datagrams have equal digests; whether
/// different ones do, the reader of both captures has to ask.
pub fn digest(payload_bytes: u32, captured: &[u8]) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let prefix = &captured[..captured.len().min(PREFIX_BYTES).min(payload_bytes as usize)];
    let length = payload_bytes.to_be_bytes();
    length
        .iter()
        .chain(prefix)
        .fold(OFFSET_BASIS, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
        })
}
