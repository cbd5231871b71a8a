// SPDX-License-Identifier: Apache-2.0
//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers, with what is needed of IPv6's extension headers.

use crate::bytes::{be16, be32};

/// Protocol numbers of the IANA registry.
pub const TCP: u8 = 6;
/// UDP's.
pub const UDP: u8 = 17;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

/// An IPv4 address fills the first four bytes.
pub type Address = [u8; 16];

/// The network layer of one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// 4 or 6.
    pub version: u8,
    /// Source address.
    pub src: Address,
    /// Destination address.
    pub dst: Address,
    /// Protocol of the payload, behind any extension headers.
    pub proto: u8,
    /// Length of the whole packet, headers included.
    pub ip_bytes: u32,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Type of service or traffic class: DSCP in the upper six bits, ECN in the lower two.
    pub tos: u8,
    /// A part of a larger packet.
    pub is_fragment: bool,
    /// Not its first part: the payload does not begin with a transport header.
    pub is_later_fragment: bool,
    /// Bytes of all headers before the payload.
    pub header_bytes: usize,
    /// The capture ends within the extension headers; `proto` is the last that was seen.
    pub is_cut: bool,
}

/// Reads the header at the start of `packet`, which had `wire_bytes` when it was captured.
///
/// None: not IP, malformed, or cut within the fixed header.
#[inline]
pub fn parse(packet: &[u8], wire_bytes: u32) -> Option<Ip> {
    match packet.first()? >> 4 {
        4 => parse_v4(packet, wire_bytes),
        6 => parse_v6(packet, wire_bytes),
        _ => None,
    }
}

#[inline]
fn parse_v4(packet: &[u8], wire_bytes: u32) -> Option<Ip> {
    const FIXED_BYTES: usize = 20;
    const MORE_FRAGMENTS: u16 = 0x2000;
    const FRAGMENT_OFFSET: u16 = 0x1fff;
    let fixed = packet.get(..FIXED_BYTES)?;
    let header_bytes = usize::from(fixed[0] & 0x0f) * 4;
    // A packet that segmentation offload has yet to cut may be too long for the field: it is then 0 (BIG TCP).
    let ip_bytes = match be16(fixed, 2) {
        0 => wire_bytes,
        length => u32::from(length),
    };
    if header_bytes < FIXED_BYTES || (ip_bytes as usize) < header_bytes {
        return None;
    }
    let fragment = be16(fixed, 6);
    let address = |at: usize| {
        let mut address = [0; 16];
        address[..4].copy_from_slice(&fixed[at..at + 4]);
        address
    };
    Some(Ip {
        version: 4,
        src: address(12),
        dst: address(16),
        proto: fixed[9],
        ip_bytes,
        ttl: fixed[8],
        tos: fixed[1],
        is_fragment: fragment & (MORE_FRAGMENTS | FRAGMENT_OFFSET) != 0,
        is_later_fragment: fragment & FRAGMENT_OFFSET != 0,
        header_bytes,
        is_cut: packet.len() < header_bytes,
    })
}

fn parse_v6(packet: &[u8], wire_bytes: u32) -> Option<Ip> {
    const FIXED_BYTES: usize = 40;
    let fixed = packet.get(..FIXED_BYTES)?;
    let address = |at: usize| {
        let mut address = [0; 16];
        address.copy_from_slice(&fixed[at..at + 16]);
        address
    };
    let mut ip = Ip {
        version: 6,
        src: address(8),
        dst: address(24),
        proto: fixed[6],
        ip_bytes: FIXED_BYTES as u32 + u32::from(be16(fixed, 4)),
        ttl: fixed[7],
        tos: (be16(fixed, 0) >> 4) as u8,
        is_fragment: false,
        is_later_fragment: false,
        header_bytes: FIXED_BYTES,
        is_cut: false,
    };
    let has_no_length = be16(fixed, 4) == 0;
    if has_no_length && matches!(ip.proto, TCP | UDP) {
        ip.ip_bytes = wire_bytes.max(ip.ip_bytes); // BIG TCP without the jumbo option
    }
    ip.walk_extensions(packet, has_no_length);
    Some(ip)
}

impl Ip {
    fn walk_extensions(&mut self, packet: &[u8], has_no_length: bool) {
        while !self.is_later_fragment {
            let at = self.header_bytes;
            let is_extension = matches!(
                self.proto,
                HOP_BY_HOP
                    | ROUTING
                    | FRAGMENT
                    | AUTHENTICATION
                    | DESTINATION_OPTIONS
                    | MOBILITY
                    | HOST_IDENTITY
                    | SHIM6
            );
            if !is_extension {
                return;
            }
            // Every one of them has 8 bytes or more, its next header first, then its length.
            let Some(extension) = packet.get(at..at + 8) else {
                self.is_cut = true;
                return;
            };
            let units = usize::from(extension[1]);
            let length = match self.proto {
                FRAGMENT => 8,
                AUTHENTICATION => (units + 2) * 4, // RFC 4302, section 2.2
                _ => (units + 1) * 8,
            };
            match self.proto {
                FRAGMENT => {
                    const OFFSET: u16 = 0xfff8;
                    const MORE: u16 = 1;
                    self.is_fragment = be16(extension, 2) & (OFFSET | MORE) != 0;
                    self.is_later_fragment = be16(extension, 2) & OFFSET != 0;
                }
                HOP_BY_HOP if has_no_length => {
                    if let Some(payload) = jumbo_payload_bytes(extension) {
                        self.ip_bytes = payload.saturating_add(at as u32);
                    }
                }
                _ => {}
            }
            self.proto = extension[0];
            self.header_bytes += length;
        }
    }
}

/// RFC 2675: the option's alignment puts it right at the start of the hop-by-hop header.
fn jumbo_payload_bytes(hop_by_hop: &[u8]) -> Option<u32> {
    const JUMBO_PAYLOAD: [u8; 2] = [0xc2, 4];
    (hop_by_hop[2..4] == JUMBO_PAYLOAD).then(|| be32(hop_by_hop, 4))
}
