// SPDX-License-Identifier: Apache-2.0
//! Settings around the radio link that a source specifies. `ccu` uses them unless an option sets
//! others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NonNegative, Positive, Ratio};

/// Delays, loss and buffers.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Largest IP packet, bytes: 40 more than the largest TCP segment.
    #[schemars(range(min = 576, max = 15_000))]
    pub mtu_bytes: Option<u32>,
    /// The path from the server to the gNB.
    pub dl: Option<PathDirection>,
    /// The path from the gNB to the server.
    pub ul: Option<PathDirection>,
    /// The buffers before the radio link.
    pub queue: Option<Queues>,
}

/// One direction of the wired path.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathDirection {
    /// One-way delay, ms.
    pub delay_ms: NonNegative,
    /// Ratio of packets lost at random.
    pub loss_ratio: Option<Ratio>,
    /// Bit error ratio; a packet with a bit error is lost.
    pub bit_error_ratio: Option<Ratio>,
    /// Rate of a line before the delay, Mbit/s.
    pub rate_mbps: Option<Positive>,
    /// Queue limit of the line.
    pub queue: Option<QueueLimit>,
    /// Cross traffic on the line.
    pub cross_traffic: Option<CrossTraffic>,
}

/// Cross traffic: packets at a constant interval.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CrossTraffic {
    /// Rate, Mbit/s.
    pub rate_mbps: Positive,
    /// Packet length, bytes. Default: 1500.
    pub packet_bytes: Option<u32>,
}

/// The buffer limit of each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Downlink.
    pub dl: Option<QueueLimit>,
    /// Uplink.
    pub ul: Option<QueueLimit>,
}

/// The capacity of a buffer; packets beyond it are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// IP packets that are not completely sent.
    Packets(u64),
    /// IP bytes that are not sent.
    Bytes(u64),
}
