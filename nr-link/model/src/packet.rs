// SPDX-License-Identifier: Apache-2.0
//! Packets, and where they enter and leave the link.

use crate::delays::{Delays, Part};
use crate::ids::UeId;
use crate::time::Nanos;

/// The explicit congestion notification field of the IP header (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, L4S (RFC 9331).
    Ect1 = 0b01,
    /// ECN-capable, classic.
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// Parses the two low bits of the IPv4 TOS or IPv6 traffic class octet.
    pub fn from_bits(octet: u8) -> Self {
        match octet & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// One IP packet. The model does not use `payload`; it is dropped with the packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<T> {
    /// Length of the IP packet, header included.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Data of the caller, for example the packet itself.
    pub payload: T,
    /// The account of its delay, of a link that explains delays. A caller who knows where the packet was captured begins it.
    pub delays: Option<Box<Delays>>,
}

impl<T> Packet<T> {
    /// Makes a packet of so many bytes.
    pub fn new(bytes: u32, ecn: Ecn, payload: T) -> Self {
        Self {
            bytes,
            ecn,
            payload,
            delays: None,
        }
    }

    /// Adds a time to the packet's account, if it has one.
    pub(crate) fn waited(&mut self, part: Part, time: Nanos) {
        if let Some(delays) = &mut self.delays {
            delays.parts[part as usize] += time;
        }
    }
}

/// A point where a packet enters the link or leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Port {
    /// The core network's side (N6), for or from one UE.
    Core {
        /// The UE that the packet goes to (on entering) or comes from (on leaving).
        ue: UeId,
    },
    /// A UE.
    Ue(UeId),
}

impl Port {
    /// Returns the UE that receives or sent the packet.
    pub fn ue(self) -> UeId {
        match self {
            Self::Core { ue } | Self::Ue(ue) => ue,
        }
    }

    /// Returns the direction of a packet that leaves here.
    pub fn direction(self) -> Direction {
        match self {
            Self::Core { .. } => Direction::Uplink,
            Self::Ue(_) => Direction::Downlink,
        }
    }
}

/// The direction of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The direction from the core to a UE.
    Downlink,
    /// The direction from a UE to the core.
    Uplink,
}

impl Direction {
    /// Both, the downlink first.
    pub const BOTH: [Self; 2] = [Self::Downlink, Self::Uplink];
}

/// A packet to or from one UE.
#[derive(Debug)]
pub(crate) struct UePacket<T> {
    pub ue: UeId,
    pub packet: Packet<T>,
}

/// A packet that leaves the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery<T> {
    /// The point where it leaves.
    pub to: Port,
    /// The packet.
    pub packet: Packet<T>,
    /// When the link delivers it; never later than the last `advance`.
    pub due: Nanos,
    /// Whether its ECN field is CE, set by the link or before.
    pub ce: bool,
}

impl<T> Delivery<T> {
    pub(crate) fn new(to: Port, packet: Packet<T>, due: Nanos) -> Self {
        Self {
            to,
            due,
            ce: packet.ecn == Ecn::Ce,
            packet,
        }
    }
}
