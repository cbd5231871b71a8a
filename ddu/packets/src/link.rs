// SPDX-License-Identifier: Apache-2.0
//! The link layer: the IP packet in a captured frame. Link types: the tcpdump registry of LINKTYPE values.

use crate::bytes::{Endian, be16};

const LINKTYPE_NULL: u32 = 0;
const LINKTYPE_ETHERNET: u32 = 1;
/// DLT_RAW as Linux and OpenBSD number it; files ought to have 101, some have these.
const DLT_RAW: [u32; 2] = [12, 14];
const LINKTYPE_RAW: u32 = 101;
const LINKTYPE_LOOP: u32 = 108;
const LINKTYPE_LINUX_SLL: u32 = 113;
const LINKTYPE_IPV4: u32 = 228;
const LINKTYPE_IPV6: u32 = 229;
/// Socket samples and other netlink messages.
pub const LINKTYPE_NETLINK: u32 = 253;
const LINKTYPE_LINUX_SLL2: u32 = 276;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// IEEE 802.1Q, 802.1ad, and what was used before 802.1ad.
const ETHERTYPES_VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const VLAN_ID_MASK: u16 = 0x0fff;

/// Protocol families of BSD's loopback header; IPv6 has another number on every system.
const AF_INET: u32 = 2;
const AF_INET6: [u32; 4] = [10, 24, 28, 30];

/// The place of the IP packet in a frame, and its VLAN (the outermost tag).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Bytes before the IP header.
    pub header_bytes: usize,
    /// VLAN identifier.
    pub vlan: Option<u16>,
}

/// Whether frames of this type are understood.
pub fn is_known(link_type: u32) -> bool {
    const KNOWN: [u32; 8] = [
        LINKTYPE_NULL,
        LINKTYPE_ETHERNET,
        LINKTYPE_RAW,
        LINKTYPE_LOOP,
        LINKTYPE_LINUX_SLL,
        LINKTYPE_IPV4,
        LINKTYPE_IPV6,
        LINKTYPE_LINUX_SLL2,
    ];
    KNOWN.contains(&link_type) || DLT_RAW.contains(&link_type)
}

/// Returns the error for a link type that is not supported.
pub fn not_known(link_type: u32) -> String {
    match link_type {
        LINKTYPE_NETLINK => {
            "link type 253 (netlink) has no packets; read it as socket samples".into()
        }
        _ => format!(
            "link type {link_type} is not read; null (0), Ethernet (1), raw IP (101, 228, 229), loop (108), \
             Linux cooked (113, 276) are"
        ),
    }
}

/// None: no IP in it, or the frame ends before it.
#[inline]
pub fn ip_packet(link_type: u32, frame: &[u8]) -> Option<Link> {
    match link_type {
        LINKTYPE_ETHERNET => tagged(frame, 14, 12),
        LINKTYPE_LINUX_SLL => tagged(frame, 16, 14),
        LINKTYPE_LINUX_SLL2 => tagged(frame, 20, 0),
        LINKTYPE_NULL => family(frame, &[Endian::Little, Endian::Big]),
        LINKTYPE_LOOP => family(frame, &[Endian::Big]),
        LINKTYPE_RAW | LINKTYPE_IPV4 | LINKTYPE_IPV6 => Some(Link::default()),
        _ => DLT_RAW.contains(&link_type).then(Link::default),
    }
}

/// A header of `header_bytes` with an EtherType at `at`, then VLAN tags, each ending with the next EtherType.
fn tagged(frame: &[u8], mut header_bytes: usize, mut at: usize) -> Option<Link> {
    const TAG_BYTES: usize = 4;
    let mut vlan = None;
    loop {
        if frame.len() < header_bytes {
            return None;
        }
        match be16(frame, at) {
            ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => return Some(Link { header_bytes, vlan }),
            ethertype if ETHERTYPES_VLAN.contains(&ethertype) => {
                let tag = frame.get(header_bytes..header_bytes + TAG_BYTES)?;
                vlan = vlan.or(Some(be16(tag, 0) & VLAN_ID_MASK));
                at = header_bytes + 2;
                header_bytes += TAG_BYTES;
            }
            _ => return None,
        }
    }
}

fn family(frame: &[u8], orders: &[Endian]) -> Option<Link> {
    const HEADER_BYTES: usize = 4;
    if frame.len() < HEADER_BYTES {
        return None;
    }
    let is_ip = |family| family == AF_INET || AF_INET6.contains(&family);
    let link = Link {
        header_bytes: HEADER_BYTES,
        vlan: None,
    };
    orders
        .iter()
        .any(|order| is_ip(order.u32(frame, 0)))
        .then_some(link)
}
