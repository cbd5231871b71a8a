// SPDX-License-Identifier: Apache-2.0
//! The checked configuration of the path between server and gNB.

use serde::{Deserialize, Serialize};

use super::QueueLimit;
use crate::Nanos;

/// One direction of the path.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PathConfig {
    /// Constant delay of every packet, in addition to that of a line.
    pub delay: Nanos,
    /// Probability that a packet is lost, independently for each packet.
    pub loss_ratio: f64,
    /// Probability that a bit is wrong, independently for each bit; a packet with a wrong bit is
    /// lost.
    pub bit_error_ratio: f64,
    /// The line that limits the rate; `None` is unlimited.
    pub line: Option<LineConfig>,
}

/// A line of constant rate with a drop-tail queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineConfig {
    /// IP bits per second.
    pub bits_per_s: u64,
    /// The queue limit, including the packet in service.
    pub limit: QueueLimit,
    /// Cross traffic on the line.
    pub cross: Option<Cross>,
}

/// Cross traffic: packets of one size at a constant interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cross {
    /// IP bits per second.
    pub bits_per_s: u64,
    /// IP bytes of each packet.
    pub packet_bytes: u32,
}
