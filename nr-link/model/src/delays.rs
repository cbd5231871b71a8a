// SPDX-License-Identifier: Apache-2.0
//! The delay of a packet by cause. Each [`Part`] is the time that the packet spent for one reason, and all of them
//! together are exactly the time from its entry into the link to its delivery.
//!
//! A packet carries its own account, which each stage adds to. Without [`Link::explain`](crate::Link::explain) no packet
//! has one, and nothing is computed.

mod row;

use crate::Nanos;

pub use row::{Captured, Identity, Row, header};

/// The reason for a part of a packet's delay, in the order in which a downlink packet meets them; in the uplink, line and
/// path come last. Of the reasons for which a packet waits at the head of its buffer ([`Part::Slot`] to
/// [`Part::Sleep`]) the later one is meant where several hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The path's line of limited rate: other packets before it, cross traffic included, and its own transmission.
    Line,
    /// The constant delay of the path.
    Path,
    /// Other packets of the UE's buffer before it.
    Queue,
    /// No slot of its direction: the rest of a slot, and TDD.
    Slot,
    /// Uplink: the UE has data of which the gNB does not know, and waits for a slot in which it may ask.
    Request,
    /// Uplink: the gNB does not know yet, or knew too late or of too few bytes for the last uplink slot.
    Grant,
    /// A slot in which the UE could have no new block: a retransmission of its own, no free HARQ process, no room for an
    /// acknowledgement, or no channel report in range.
    Blocked,
    /// A slot whose PRBs other UEs had.
    Priority,
    /// A slot that held only a part of what was before it or of itself: the rate of the radio; over a capacity trace,
    /// the time until the capacity has come.
    Service,
    /// The UE slept: outside of its Active Time (DRX), or not in RRC_CONNECTED.
    Sleep,
    /// The time from the start of the slot with the packet's last byte to its decoding, and what the gNB's or UE's scheduling
    /// decides ahead of the slot.
    Transmission,
    /// Retransmissions of its blocks by HARQ.
    Harq,
    /// Status report and retransmission by RLC, after HARQ has given up.
    Rlc,
    /// Earlier data that RLC or PDCP waits for, so that packets stay in order.
    Order,
    /// A change of the serving cell, leg or beam, or none: what was on its way then, and what waits for the target or crosses Xn.
    Handover,
    /// A real radio in the model's place, which states no reasons: the time beyond what others before it and the least
    /// transmission explain.
    Radio,
}

impl Part {
    /// All parts, in order.
    pub const ALL: [Self; 16] = [
        Self::Line,
        Self::Path,
        Self::Queue,
        Self::Slot,
        Self::Request,
        Self::Grant,
        Self::Blocked,
        Self::Priority,
        Self::Service,
        Self::Sleep,
        Self::Transmission,
        Self::Harq,
        Self::Rlc,
        Self::Order,
        Self::Handover,
        Self::Radio,
    ];

    /// Returns the name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Path => "path",
            Self::Queue => "queue",
            Self::Slot => "tdd",
            Self::Request => "request",
            Self::Grant => "grant",
            Self::Blocked => "blocked",
            Self::Priority => "priority",
            Self::Service => "service",
            Self::Sleep => "sleep",
            Self::Transmission => "transmission",
            Self::Harq => "harq",
            Self::Rlc => "rlc",
            Self::Order => "order",
            Self::Handover => "handover",
            Self::Radio => "radio",
        }
    }
}

/// A time for each part.
pub type Parts = [Nanos; Part::ALL.len()];

/// The account of one packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delays {
    /// The packet at its sender, which the link takes as it is.
    pub sent: Captured,
    /// When the packet entered the link.
    pub entered: Nanos,
    /// Its parts, in the order of [`Part::ALL`].
    pub parts: Parts,
}

impl Delays {
    /// Makes the empty account of a packet that its sender captured so.
    pub fn of_captured(sent: Captured) -> Self {
        Self {
            sent,
            ..Self::default()
        }
    }

    /// Returns one part.
    pub fn of(&self, part: Part) -> Nanos {
        self.parts[part as usize]
    }

    /// Returns the sum of all parts.
    pub fn total(&self) -> Nanos {
        self.parts.iter().sum()
    }
}
