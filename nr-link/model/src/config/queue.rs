// SPDX-License-Identifier: Apache-2.0
//! The checked configuration of a buffer and its queue management.

use crate::Nanos;

/// One RLC buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// The capacity of the buffer.
    pub limit: QueueLimit,
    /// Active queue management; `None` is drop-tail.
    pub aqm: Option<Aqm>,
}

impl From<QueueLimit> for Queue {
    fn from(limit: QueueLimit) -> Self {
        Self { limit, aqm: None }
    }
}

/// Active queue management.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aqm {
    /// CoDel (RFC 8289).
    CoDel(CoDel),
    /// PIE (RFC 8033).
    Pie(Pie),
    /// DualPI2 (RFC 9332 appendix A).
    DualPi2(DualPi2),
}

/// Parameters of PIE (RFC 8033 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pie {
    /// The target wait.
    pub target: Nanos,
    /// The interval between two updates of the probability.
    pub update: Nanos,
    /// Whether ECN-capable packets are marked instead of dropped while the probability is low.
    pub ecn: bool,
    /// Whether PIE is inactive without congestion, and becomes active when a third of the buffer is
    /// used (section 5.3).
    pub on_off: bool,
    /// Whether drops have a least and a most distance (section 5.4).
    pub derandomise: bool,
}

/// Parameters of DualPI2 (RFC 9332 appendix A.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DualPi2 {
    /// The target wait in the classic queue.
    pub target: Nanos,
    /// The interval between two updates of the probability.
    pub update: Nanos,
    /// The factor from the base probability to the marking probability of L4S packets.
    pub coupling: f64,
    /// The wait in the L4S queue from which the ramp marks packets.
    pub l4s_min: Nanos,
    /// The width of the ramp: at this much more wait it marks all packets.
    pub l4s_range: Nanos,
}

/// Parameters of CoDel (RFC 8289 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoDel {
    /// The acceptable standing wait.
    pub target: Nanos,
    /// How long the wait may exceed it: a typical round-trip time.
    pub interval: Nanos,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

/// The capacity of an RLC buffer; packets beyond it are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// IP packets that are not completely sent.
    Packets(u64),
    /// IP bytes that are not sent.
    Bytes(u64),
}
