// SPDX-License-Identifier: Apache-2.0
//! One captured frame as the layers that are measured.

use crate::bytes::be16;
use crate::gtp;
use crate::ip::{self, Ip};
use crate::link;
use crate::tcp::{self, Tcp};

/// Layer 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport<'a> {
    /// A segment.
    Tcp(Tcp),
    /// A datagram: its payload's length, and as much of the payload as was captured.
    Udp(u32, &'a [u8]),
    /// Another protocol, a later fragment, or a header that is not whole.
    Unknown,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Its network layer.
    pub ip: Ip,
    /// Source and destination port.
    pub ports: Option<(u16, u16)>,
    /// Its transport layer.
    pub transport: Transport<'a>,
    /// Headers that the capture cut off, or malformed ones: what they would have said is not known.
    pub is_truncated: bool,
    /// Outermost VLAN identifier.
    pub vlan: Option<u16>,
    /// Tunnel endpoint, if this packet was carried by GTP-U.
    pub gtp_teid: Option<u32>,
}

impl<'a> Packet<'a> {
    /// Reads a frame that had `wirelen` bytes. None: it has no IP packet with a whole header.
    #[inline]
    pub fn parse(link_type: u32, frame: &'a [u8], wirelen: u32) -> Option<Self> {
        let link = link::ip_packet(link_type, frame)?;
        let wire_bytes = wirelen.saturating_sub(link.header_bytes as u32);
        let outer = Self::parse_ip(&frame[link.header_bytes..], wire_bytes)?;
        let mut packet = outer.tunnelled().unwrap_or(outer);
        packet.vlan = link.vlan;
        Some(packet)
    }

    #[inline]
    fn parse_ip(bytes: &'a [u8], wire_bytes: u32) -> Option<Self> {
        let ip = ip::parse(bytes, wire_bytes)?;
        let mut packet = Self {
            ip,
            ports: None,
            transport: Transport::Unknown,
            is_truncated: ip.is_cut,
            vlan: None,
            gtp_teid: None,
        };
        if !ip.is_cut && !ip.is_later_fragment {
            // Behind the packet's end a frame may be padded.
            let end = bytes.len().min(ip.ip_bytes as usize);
            let payload_bytes = ip.ip_bytes.saturating_sub(ip.header_bytes as u32);
            let payload = bytes.get(ip.header_bytes..end).unwrap_or(&[]);
            packet.parse_transport(payload, payload_bytes);
        }
        Some(packet)
    }

    #[inline]
    fn parse_transport(&mut self, payload: &'a [u8], payload_bytes: u32) {
        if !matches!(self.ip.proto, ip::TCP | ip::UDP) {
            return;
        }
        if payload.len() >= 4 {
            self.ports = Some((be16(payload, 0), be16(payload, 2)));
        }
        let is_whole = match self.ip.proto {
            ip::TCP => tcp::parse(payload, payload_bytes).map(|tcp| {
                self.transport = Transport::Tcp(tcp);
                !tcp.is_cut
            }),
            _ => udp(payload, payload_bytes).map(|udp| {
                self.transport = udp;
                true
            }),
        };
        self.is_truncated = is_whole != Some(true);
    }

    fn tunnelled(&self) -> Option<Self> {
        let Transport::Udp(udp_bytes, datagram) = self.transport else {
            return None;
        };
        let (sport, dport) = self.ports?;
        if sport != gtp::PORT && dport != gtp::PORT {
            return None;
        }
        let (teid, header_bytes) = gtp::parse(datagram)?;
        let wire_bytes = udp_bytes.checked_sub(header_bytes as u32)?;
        let mut inner = Self::parse_ip(datagram.get(header_bytes..)?, wire_bytes)?;
        inner.gtp_teid = Some(teid);
        Some(inner)
    }
}

/// RFC 768. A length of 0 stands for more than the field can hold (RFC 2675, section 4).
fn udp(datagram: &[u8], ip_payload_bytes: u32) -> Option<Transport<'_>> {
    const HEADER_BYTES: u32 = 8;
    let header = datagram.get(..HEADER_BYTES as usize)?;
    let udp_bytes = match be16(header, 4) {
        0 => ip_payload_bytes,
        length => u32::from(length),
    };
    let payload_bytes = udp_bytes.checked_sub(HEADER_BYTES)?;
    Some(Transport::Udp(
        payload_bytes,
        &datagram[HEADER_BYTES as usize..],
    ))
}
