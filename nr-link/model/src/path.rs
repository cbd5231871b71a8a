// SPDX-License-Identifier: Apache-2.0
//! The path between server and gNB: a line of limited rate if configured, then random loss and a
//! constant delay.

mod line;

use crate::config::PathConfig;
use crate::counters::PathLoss;
use crate::delays::Part;
use crate::ids::UeId;
use crate::packet::UePacket;
use crate::random::{Purpose, Stream};
use crate::time::Timeline;
use crate::{Direction, Nanos};
use line::Line;

pub use line::CrossTotals;

/// One direction of the path. Packets leave in the order in which they entered.
#[derive(Debug)]
pub(crate) struct Path<T> {
    delay: Nanos,
    loss_ratio: f64,
    bit_error_ratio: f64,
    losses: Stream,
    line: Option<Line>,
    /// When the last packet leaves: a shorter delay lets no packet overtake it.
    last_leaves: Nanos,
    in_transit: Timeline<UePacket<T>>,
}

impl<T> Path<T> {
    pub fn new(config: PathConfig, seed: u64, direction: Direction) -> Self {
        Self {
            delay: config.delay,
            loss_ratio: config.loss_ratio,
            bit_error_ratio: config.bit_error_ratio,
            losses: Stream::new(seed, Purpose::PathLoss, UeId(0), direction),
            line: config.line.map(Line::new),
            last_leaves: 0,
            in_transit: Timeline::default(),
        }
    }

    /// Takes the delay and loss of another configuration, for the packets that enter from now on.
    pub fn change(&mut self, config: PathConfig) {
        self.delay = config.delay;
        self.loss_ratio = config.loss_ratio;
        self.bit_error_ratio = config.bit_error_ratio;
    }

    /// Adds a packet that enters at `now`, which must not be earlier than the last one. Returns
    /// when the packet leaves, or why it is lost.
    pub fn enter(&mut self, mut packet: UePacket<T>, now: Nanos) -> Result<Nanos, PathLoss> {
        let bytes = packet.packet.bytes;
        let lost = |queue_full| Err(PathLoss { bytes, queue_full });
        let sent = match &mut self.line {
            None => Some(now),
            Some(line) => line.send(bytes, now),
        };
        let Some(sent) = sent else {
            return lost(true);
        };
        if self.losses.happens(self.loss_probability(bytes)) {
            return lost(false);
        }
        let leaves = self.last_leaves.max(sent + self.delay);
        self.last_leaves = leaves;
        packet.packet.waited(Part::Line, sent - now);
        packet.packet.waited(Part::Path, leaves - sent);
        self.in_transit.push(leaves, packet);
        Ok(leaves)
    }

    /// Returns the probability that a packet is lost: at random, or independently because of a bit
    /// error.
    fn loss_probability(&self, bytes: u32) -> f64 {
        if self.bit_error_ratio == 0.0 {
            return self.loss_ratio;
        }
        let bits = 8.0 * f64::from(bytes);
        let intact = libm::exp(bits * libm::log1p(-self.bit_error_ratio));
        1.0 - (1.0 - self.loss_ratio) * intact
    }

    /// Returns when the next packet leaves.
    pub fn next(&self) -> Option<Nanos> {
        self.in_transit.next()
    }

    /// Removes the next packet that leaves by `now`; returns it with its time.
    pub fn leave(&mut self, now: Nanos) -> Option<(Nanos, UePacket<T>)> {
        self.in_transit.pop(now)
    }

    /// Returns the packets on the path.
    pub fn items(&self) -> impl Iterator<Item = &UePacket<T>> {
        self.in_transit.items()
    }

    /// Returns the counters of the cross traffic at `now`, if there is any.
    pub fn cross_totals(&mut self, now: Nanos) -> Option<CrossTotals> {
        self.line.as_mut()?.cross_totals(now)
    }
}
