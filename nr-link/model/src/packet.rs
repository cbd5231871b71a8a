// SPDX-License-Identifier: Apache-2.0
//! What crosses the link, and where it enters and leaves.

use crate::Nanos;

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
    /// From the two low bits of the IPv4 TOS or IPv6 traffic class octet.
    pub fn from_bits(octet: u8) -> Self {
        match octet & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// One IP packet. The model never looks into `payload`; dropping the packet drops it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<T> {
    /// Length of the IP packet, header included.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Whatever the caller needs to send it on.
    pub payload: T,
}

/// Where a packet enters the link or leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Port {
    /// The core network's side (N6), for or from one UE.
    Core {
        /// Index of the UE that the packet goes to (on entering) or came from (on leaving).
        ue: usize,
    },
    /// The UE with this index.
    Ue(usize),
}

impl Port {
    /// The UE at one end of the packet's way.
    pub fn ue(self) -> usize {
        match self {
            Self::Core { ue } | Self::Ue(ue) => ue,
        }
    }
}

/// Which way a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the core to a UE.
    Downlink,
    /// From a UE to the core.
    Uplink,
}

/// A packet that leaves the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery<T> {
    /// Where it leaves.
    pub to: Port,
    /// What leaves.
    pub packet: Packet<T>,
    /// The instant at which the link delivers it; never after the last `advance`.
    pub due: Nanos,
    /// The link marked it, or found it marked: write CE into its ECN field.
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
