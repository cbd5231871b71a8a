// SPDX-License-Identifier: Apache-2.0
//! A buffer and what manages it, checked.

use crate::Nanos;

/// One RLC buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Queue {
    /// How much it holds.
    pub limit: QueueLimit,
    /// What manages it before it is full; none: nothing does (drop-tail).
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
    /// RFC 8289.
    CoDel(CoDel),
    /// RFC 8033.
    Pie(Pie),
    /// RFC 9332 appendix A.
    DualPi2(DualPi2),
}

/// Parameters of PIE (RFC 8033 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pie {
    /// The wait that it steers to.
    pub target: Nanos,
    /// Between two updates of the probability.
    pub update: Nanos,
    /// ECN-capable packets are marked, not dropped, while few are.
    pub ecn: bool,
    /// It goes off in calm times and on when a third of the buffer is taken (section 5.3).
    pub on_off: bool,
    /// Drops are neither close together nor far apart (section 5.4).
    pub derandomise: bool,
}

/// Parameters of DualPI2 (RFC 9332 appendix A.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DualPi2 {
    /// The wait in the classic lane that it steers to.
    pub target: Nanos,
    /// Between two updates of the probability.
    pub update: Nanos,
    /// How many times the base probability L4S packets are marked with.
    pub coupling: f64,
    /// The wait in the L4S lane from which on it marks.
    pub l4s_min: Nanos,
    /// From there to the wait at which it marks everything.
    pub l4s_range: Nanos,
}

/// Parameters of CoDel (RFC 8289 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoDel {
    /// The wait that is acceptable for ever.
    pub target: Nanos,
    /// How long it may be longer; a round-trip time of those that are usual.
    pub interval: Nanos,
    /// ECN-capable packets are marked, not dropped.
    pub ecn: bool,
}

/// How much one RLC buffer holds; what comes beyond is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// IP packets not yet wholly sent.
    Packets(u64),
    /// IP bytes not yet sent.
    Bytes(u64),
}
