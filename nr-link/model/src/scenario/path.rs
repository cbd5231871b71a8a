// SPDX-License-Identifier: Apache-2.0
//! Settings around the air link that a source fixes. `ccu` takes them unless a flag says otherwise.

use serde::Deserialize;

use super::{NonNegative, Positive, Ratio};

/// Delays, loss and buffers.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Largest IP packet, bytes; 40 more than the largest TCP segment.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 576, max = 15_000)))]
    pub mtu_bytes: Option<u32>,
    /// From the server to the gNB.
    #[serde(default)]
    pub dl: Option<PathDirection>,
    /// From the gNB to the server.
    #[serde(default)]
    pub ul: Option<PathDirection>,
    /// The buffers before the air link.
    #[serde(default)]
    pub queue: Option<Queues>,
}

/// One direction of the wired part.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PathDirection {
    /// One-way delay, ms.
    pub delay_ms: NonNegative,
    /// Share of packets that is lost at random.
    #[serde(default)]
    pub loss_ratio: Option<Ratio>,
    /// Share of bits that are wrong; a packet with one is lost.
    #[serde(default)]
    pub bit_error_ratio: Option<Ratio>,
    /// A line of this rate before the delay, Mbit/s.
    #[serde(default)]
    pub rate_mbps: Option<Positive>,
    /// The limit of the line's queue.
    #[serde(default)]
    pub queue: Option<QueueLimit>,
    /// Packets of others through the same line.
    #[serde(default)]
    pub cross_traffic: Option<CrossTraffic>,
}

/// Evenly spaced packets.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CrossTraffic {
    /// Their rate, Mbit/s.
    pub rate_mbps: Positive,
    /// Length of each; absent: 1500.
    #[serde(default)]
    pub packet_bytes: Option<u32>,
}

/// The limit of each direction's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Queues {
    /// Downlink.
    #[serde(default)]
    pub dl: Option<QueueLimit>,
    /// Uplink.
    #[serde(default)]
    pub ul: Option<QueueLimit>,
}

/// What a buffer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueLimit {
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
}
