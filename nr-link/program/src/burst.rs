// SPDX-License-Identifier: Apache-2.0
//! A read from a TUN device: one packet, or a super-packet that holds up to 64 KiB of segments.
//!
//! A super-packet passes the kernel in one piece, but its segments are separate packets on the
//! link: each is queued, lost or delivered on its own.

use std::net::IpAddr;
use std::rc::Rc;

use nr_link_model::delays::Identity;
use nr_link_model::{Ecn, Packet};

use crate::pool::Buffer;
use crate::vnet::{
    GSO_ECN, GSO_NONE, GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4, VNET_HEADER_BYTES, VnetHeader,
};

const IPV4_HEADER_BYTES: usize = 20;
pub(crate) const IPV6_HEADER_BYTES: usize = 40;
/// The largest headers: IPv6 with extension headers, and 60 bytes of TCP.
pub(crate) const MOST_HEADER_BYTES: usize = 512;
const TCP_HEADER_BYTES: usize = 20;
const UDP_HEADER_BYTES: usize = 8;

/// The IP version of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

/// The type of segmentation of a super-packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segmentation {
    /// One packet, not segmented.
    None,
    /// TCP segments (TSO).
    Tcp,
    /// UDP datagrams (USO).
    Udp,
}

/// A packet or super-packet, as it was read from the device.
#[derive(Debug)]
pub struct Burst {
    buffer: Buffer,
    pub(crate) vnet: VnetHeader,
    pub(crate) ip: IpVersion,
    pub(crate) segmentation: Segmentation,
    /// The headers that every segment repeats; for a packet that is not segmented, the IP header.
    pub(crate) header_bytes: usize,
    segment_payload_bytes: usize,
}

/// One packet of a burst, as the model carries it.
#[derive(Debug, Clone)]
pub struct Segment {
    /// The burst that contains it.
    pub burst: Rc<Burst>,
    /// Its index in the burst, from 0.
    pub index: usize,
}

impl Segment {
    /// Returns the header fields by which the segment is known in captures.
    pub fn identity(&self) -> Identity {
        let mut identity = Identity::of(self.burst.packet());
        if self.burst.segmentation == Segmentation::Tcp {
            let offset = self.burst.payload_offset(self.index) as u32;
            identity.seq = identity.seq.wrapping_add(offset);
        }
        identity
    }
}

impl Burst {
    /// Parses a read; `None` if it is not an IP packet or its headers are incomplete.
    pub fn parse(buffer: Buffer) -> Option<Self> {
        let vnet = VnetHeader::from_bytes(buffer.first_chunk::<VNET_HEADER_BYTES>()?);
        let packet = &buffer[VNET_HEADER_BYTES..];
        let (ip, ip_header_bytes) = match packet.first()? >> 4 {
            4 => (IpVersion::V4, usize::from(packet[0] & 0xf) * 4),
            6 => (IpVersion::V6, IPV6_HEADER_BYTES),
            _ => return None,
        };
        let transport_at = usize::from(vnet.csum_start);
        let (segmentation, header_bytes) = match vnet.gso_type & !GSO_ECN {
            GSO_NONE => (Segmentation::None, ip_header_bytes),
            GSO_TCPV4 | GSO_TCPV6 => {
                let tcp_header_bytes = usize::from(packet.get(transport_at + 12)? >> 4) * 4;
                (Segmentation::Tcp, transport_at + tcp_header_bytes)
            }
            GSO_UDP_L4 => (Segmentation::Udp, transport_at + UDP_HEADER_BYTES),
            _ => return None,
        };
        let payload_bytes = packet.len().checked_sub(header_bytes)?;
        let segment_payload_bytes = match segmentation {
            Segmentation::None => payload_bytes.max(1), // an empty packet is one segment too
            _ => usize::from(vnet.gso_bytes),
        };
        let transport_bytes = header_bytes.saturating_sub(transport_at);
        let least_transport_bytes = match segmentation {
            Segmentation::None => 0,
            Segmentation::Tcp => TCP_HEADER_BYTES,
            Segmentation::Udp => UDP_HEADER_BYTES,
        };
        let segmentable = transport_at >= ip_header_bytes
            && transport_bytes >= least_transport_bytes
            && usize::from(vnet.csum_offset) + 2 <= transport_bytes
            && segment_payload_bytes > 0;
        let whole = ip_header_bytes >= IPV4_HEADER_BYTES
            && header_bytes <= MOST_HEADER_BYTES
            && (segmentation == Segmentation::None || segmentable);
        whole.then_some(Self {
            buffer,
            vnet,
            ip,
            segmentation,
            header_bytes,
            segment_payload_bytes,
        })
    }

    /// Returns the IP packet.
    pub fn packet(&self) -> &[u8] {
        &self.buffer[VNET_HEADER_BYTES..]
    }

    /// Returns the destination address.
    pub fn destination(&self) -> Option<IpAddr> {
        let packet = self.packet();
        match self.ip {
            IpVersion::V4 => {
                let octets = packet.get(16..20)?.first_chunk::<4>()?;
                Some(IpAddr::from(*octets))
            }
            IpVersion::V6 => {
                let octets = packet.get(24..40)?.first_chunk::<16>()?;
                Some(IpAddr::from(*octets))
            }
        }
    }

    /// Returns the payload of `count` segments from `first` on.
    pub fn payload(&self, first: usize, count: usize) -> &[u8] {
        let payload = &self.packet()[self.header_bytes..];
        let start = first * self.segment_payload_bytes;
        let end = (first + count) * self.segment_payload_bytes;
        &payload[start.min(payload.len())..end.min(payload.len())]
    }

    /// Returns the number of segments.
    pub fn segment_count(&self) -> usize {
        let payload_bytes = self.packet().len() - self.header_bytes;
        payload_bytes.div_ceil(self.segment_payload_bytes).max(1)
    }

    /// Returns the offset of a segment's payload from that of the first segment.
    pub(crate) fn payload_offset(&self, index: usize) -> usize {
        index * self.segment_payload_bytes
    }

    /// Returns the segments in order, as packets for the model.
    pub fn segments(self: Rc<Self>) -> impl Iterator<Item = Packet<Segment>> {
        let ecn = self.ecn();
        (0..self.segment_count()).map(move |index| {
            let bytes = (self.header_bytes + self.payload(index, 1).len()) as u32;
            let burst = Rc::clone(&self);
            Packet::new(bytes, ecn, Segment { burst, index })
        })
    }

    fn ecn(&self) -> Ecn {
        let packet = self.packet();
        match self.ip {
            IpVersion::V4 => Ecn::from_bits(packet[1]),
            IpVersion::V6 => Ecn::from_bits(packet[1] >> 4), // the traffic class is in two octets
        }
    }
}
