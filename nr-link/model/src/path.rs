// SPDX-License-Identifier: Apache-2.0
//! The path between server and gNB: a line of limited rate where it has one, a random loss for each
//! packet, a delay for all.

mod line;

use crate::config::PathConfig;
use crate::random::{Purpose, Stream};
use crate::timeline::Timeline;
use crate::{Direction, Nanos, Packet};
use line::Line;

pub use line::CrossTotals;

/// A packet that does not leave the path, and why.
#[derive(Debug)]
pub(crate) struct Lost<T> {
    pub packet: Packet<T>,
    /// It found the line's queue full; otherwise it was lost at random.
    pub queue_full: bool,
}

/// One direction of the path; packets leave in the order in which they came, each with its UE.
#[derive(Debug)]
pub(crate) struct Path<T> {
    delay: Nanos,
    loss_ratio: f64,
    bit_error_ratio: f64,
    losses: Stream,
    line: Option<Line>,
    under_way: Timeline<(usize, Packet<T>)>,
}

impl<T> Path<T> {
    pub fn new(config: PathConfig, seed: u64, direction: Direction) -> Self {
        Self {
            delay: config.delay,
            loss_ratio: config.loss_ratio,
            bit_error_ratio: config.bit_error_ratio,
            losses: Stream::new(seed, Purpose::PathLoss, 0, direction),
            line: config.line.map(Line::new),
            under_way: Timeline::default(),
        }
    }

    /// A packet of a UE enters at `now`, never before the last; tells when it leaves, or gives it
    /// back if it is lost.
    pub fn enter(&mut self, ue: usize, packet: Packet<T>, now: Nanos) -> Result<Nanos, Lost<T>> {
        let sent = match &mut self.line {
            None => Some(now),
            Some(line) => line.send(packet.bytes, now),
        };
        let Some(sent) = sent else {
            return Err(Lost {
                packet,
                queue_full: true,
            });
        };
        if self.losses.happens(self.loss_probability(packet.bytes)) {
            return Err(Lost {
                packet,
                queue_full: false,
            });
        }
        let leaves = sent + self.delay;
        self.under_way.push(leaves, (ue, packet));
        Ok(leaves)
    }

    /// A packet is lost for itself, or when one of its bits is wrong; bits fail independently.
    fn loss_probability(&self, bytes: u32) -> f64 {
        if self.bit_error_ratio == 0.0 {
            return self.loss_ratio;
        }
        let bits = 8.0 * f64::from(bytes);
        let intact = libm::exp(bits * libm::log1p(-self.bit_error_ratio));
        1.0 - (1.0 - self.loss_ratio) * intact
    }

    /// When the next packet leaves.
    pub fn next(&self) -> Option<Nanos> {
        self.under_way.next()
    }

    /// The next packet that leaves by `now`, with its time and UE.
    pub fn leave(&mut self, now: Nanos) -> Option<(Nanos, (usize, Packet<T>))> {
        self.under_way.pop(now)
    }

    /// Packets on the path.
    pub fn items(&self) -> impl Iterator<Item = &(usize, Packet<T>)> {
        self.under_way.items()
    }

    /// What others have sent on the line by `now`.
    pub fn cross_totals(&mut self, now: Nanos) -> CrossTotals {
        self.line
            .as_mut()
            .map_or_else(CrossTotals::default, |line| line.cross_totals(now))
    }
}
