// SPDX-License-Identifier: Apache-2.0
//! The headers that the layers between IP and the transport block add to a packet.

/// SDAP header (TS 37.324 clause 6.2.2): QFI, one byte, both directions.
const SDAP_BYTES: u32 = 1;
/// PDCP data PDU with an 18-bit sequence number, without integrity (TS 38.323 clause 6.2.2.3).
const PDCP_BYTES: u32 = 3;
/// Header bytes that a packet has once, before its first byte.
pub const PER_PACKET_BYTES: u32 = SDAP_BYTES + PDCP_BYTES;

/// RLC AM data PDU with an 18-bit sequence number (TS 38.322 clause 6.2.2.4), without and with a
/// segment offset.
const RLC_BYTES: u32 = 3;
const RLC_OFFSET_BYTES: u32 = 2;

/// MAC subheaders (TS 38.321 clause 6.1.2): length in one byte if below 256, else in two.
const MAC_SHORT_BYTES: u32 = 2;
const MAC_LONG_BYTES: u32 = 3;

/// A short buffer status report with its subheader (TS 38.321 clause 6.1.3.1), in every PUSCH.
pub const BUFFER_STATUS_BYTES: u32 = 2;

/// The shortest segment that is put into the rest of a block, behind another one.
pub const SHORTEST_SEGMENT_BYTES: u32 = 16;

/// Returns the header bytes of a segment with `ip_bytes` of a packet, from the packet's first byte
/// or from a later one.
pub fn segment_bytes(ip_bytes: u32, from_start: bool) -> u32 {
    let rlc_pdu = rlc_pdu_bytes(ip_bytes, from_start);
    let mac = if rlc_pdu < 256 {
        MAC_SHORT_BYTES
    } else {
        MAC_LONG_BYTES
    };
    mac + rlc_pdu - ip_bytes
}

/// Returns the size of the RLC PDU of such a segment.
pub fn rlc_pdu_bytes(ip_bytes: u32, from_start: bool) -> u32 {
    if from_start {
        ip_bytes + PER_PACKET_BYTES + RLC_BYTES
    } else {
        ip_bytes + RLC_BYTES + RLC_OFFSET_BYTES
    }
}

/// The largest result of [`segment_bytes`].
pub const MOST_SEGMENT_BYTES: u32 = MAC_LONG_BYTES + PER_PACKET_BYTES + RLC_BYTES;

/// Returns the IP bytes in `block_bytes` of a transport block that is full of packets of
/// `mtu_bytes`.
pub fn ip_bytes_of(block_bytes: f64, mtu_bytes: u32) -> f64 {
    let mtu = f64::from(mtu_bytes);
    let continued = f64::from(MAC_LONG_BYTES + RLC_BYTES + RLC_OFFSET_BYTES);
    (block_bytes - continued).max(0.0) * mtu / (mtu + f64::from(MOST_SEGMENT_BYTES))
}
