// SPDX-License-Identifier: Apache-2.0
//! The path between server and gNB: a delay for all packets, a random loss for each.

use crate::config::PathConfig;
use crate::random::{Purpose, Stream};
use crate::timeline::Timeline;
use crate::{Direction, Nanos};

/// One direction of the path; items leave in the order in which they came.
#[derive(Debug)]
pub(crate) struct Path<I> {
    delay: Nanos,
    loss_ratio: f64,
    losses: Stream,
    under_way: Timeline<I>,
}

impl<I> Path<I> {
    pub fn new(config: PathConfig, seed: u64, direction: Direction) -> Self {
        Self {
            delay: config.delay,
            loss_ratio: config.loss_ratio,
            losses: Stream::new(seed, Purpose::PathLoss, 0, direction),
            under_way: Timeline::default(),
        }
    }

    /// An item enters at `now`, never before the last; gives it back if it is lost.
    pub fn enter(&mut self, item: I, now: Nanos) -> Result<(), I> {
        if self.losses.happens(self.loss_ratio) {
            return Err(item);
        }
        self.under_way.push(now + self.delay, item);
        Ok(())
    }

    /// When the next item leaves.
    pub fn next(&self) -> Option<Nanos> {
        self.under_way.next()
    }

    /// The next item that leaves by `now`, with its time.
    pub fn leave(&mut self, now: Nanos) -> Option<(Nanos, I)> {
        self.under_way.pop(now)
    }

    /// Items on the path.
    pub fn items(&self) -> impl Iterator<Item = &I> {
        self.under_way.items()
    }
}
