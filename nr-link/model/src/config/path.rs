// SPDX-License-Identifier: Apache-2.0
//! The path between server and gNB, checked.

use super::QueueLimit;
use crate::Nanos;

/// One direction of the path.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PathConfig {
    /// Delay of every packet, beside what a line takes.
    pub delay: Nanos,
    /// Share of packets that are lost at random, each for itself.
    pub loss_ratio: f64,
    /// Share of bits that are wrong, each for itself; a packet with one is lost.
    pub bit_error_ratio: f64,
    /// What limits its rate; none: nothing does.
    pub line: Option<LineConfig>,
}

/// A line of constant rate with a drop-tail queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineConfig {
    /// IP bits a second.
    pub bits_per_s: u64,
    /// How much waits for it, the packet that is being sent included.
    pub limit: QueueLimit,
    /// Who else sends on it.
    pub cross: Option<Cross>,
}

/// Packets of one size, evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cross {
    /// IP bits a second.
    pub bits_per_s: u64,
    /// IP bytes of each.
    pub packet_bytes: u32,
}
