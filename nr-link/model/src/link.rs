// SPDX-License-Identifier: Apache-2.0
//! The link: what a driver calls.

mod air;
mod ends;
mod floor;
mod given;
mod held;
mod radio;
mod source;

use crate::config::ResolvedConfig;
use crate::path::CrossTotals;
use crate::problem::Problem;
use crate::samples::MacSample;
use crate::{Delivery, Direction, Nanos, Packet, Port};

use air::Air;
use ends::Ends;

pub(crate) use ends::OfUe;
pub use held::Held;
pub use source::Source;

/// What the link has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextEvent {
    /// When: a slot with work to do, a delivery, or the end of a sample interval.
    pub at: Nanos,
    /// Whether no packet is in the link, so that a sample interval's end is all there is.
    pub idle: bool,
}

/// A link between the core network and its UEs.
#[derive(Debug)]
pub struct Link<T> {
    air: Air<T>,
    ends: Ends<T>,
    now: Nanos,
    sample_interval: Nanos,
    sampled_to: Nanos,
    samples: Vec<MacSample>,
}

impl<T> Link<T> {
    /// A link at time 0, whose `source` has something for each UE of `config.ues`.
    ///
    /// # Errors
    /// It has more or fewer; a radio channel, and the configuration has no carrier.
    pub fn new(config: &ResolvedConfig, source: impl Into<Source>) -> Result<Self, Problem> {
        Ok(Self {
            air: Air::new(config, source.into())?,
            ends: Ends::new(config),
            now: 0,
            sample_interval: config.sample_interval,
            sampled_to: 0,
            samples: Vec::new(),
        })
    }

    /// A packet enters at `from` at time `now`. Times never decrease, over `enqueue` and `advance`
    /// together; an earlier one counts as the latest. A packet can be in a slot that starts at
    /// `now` if it is enqueued before `advance(now)`.
    ///
    /// # Panics
    /// `from` names a UE that the link has not.
    pub fn enqueue(&mut self, from: Port, packet: Packet<T>, now: Nanos) {
        let now = now.max(self.now);
        self.run_to(now.saturating_sub(1));
        self.now = now;
        let bytes = u64::from(packet.bytes);
        match from {
            Port::Core { ue } => {
                let account = self.air.account(ue, Direction::Downlink);
                account.totals.enqueued_bytes += bytes;
                account.entered_path(now, self.ends.path_dl.enter(ue, packet, now));
            }
            Port::Ue(ue) => {
                let account = self.air.account(ue, Direction::Uplink);
                account.totals.enqueued_bytes += bytes;
                self.ends.from_ues.push(now, (ue, packet));
            }
        }
    }

    /// Runs all that happens until `now`. The result does not depend on how often this is called.
    pub fn advance(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        self.run_to(self.now);
    }

    /// Slots, packets' comings and goings, and samples up to `now`, in order of time.
    fn run_to(&mut self, now: Nanos) {
        loop {
            let next = self.air.next(&self.ends);
            let sample = self.sampled_to + self.sample_interval;
            if sample <= now && next.is_none_or(|next| sample <= next) {
                self.sample(sample);
                continue;
            }
            match next.filter(|&next| next <= now) {
                Some(next) => self.air.run(next, &mut self.ends),
                None => return,
            }
        }
    }

    /// The next packet that is due by the last `advance`, in order of time; downlink first where
    /// two are due at once.
    pub fn dequeue(&mut self) -> Option<Delivery<T>> {
        self.ends.deliver(self.now)
    }

    /// As [`Link::dequeue`], of packets that are due by `now` whatever happens until then: for a
    /// driver that woke late, and has packets to enqueue before it may advance.
    pub fn dequeue_early(&mut self, now: Nanos) -> Option<Delivery<T>> {
        self.ends.deliver(now.max(self.now))
    }

    /// When to call `advance` next if no packet comes before. Idle slots before it are caught up
    /// at almost no cost, and with the same result as if each had been run in its time.
    pub fn next_event(&self) -> NextEvent {
        let sample = self.sampled_to + self.sample_interval;
        let work = self.ends.next_delivery().into_iter();
        match work.chain(self.air.next_work(&self.ends)).min() {
            Some(work) => NextEvent {
                at: work.min(sample),
                idle: false,
            },
            None => NextEvent {
                at: sample,
                idle: true,
            },
        }
    }

    /// Takes the samples of the intervals that have ended, in order of time and UE.
    pub fn samples(&mut self) -> std::vec::Drain<'_, MacSample> {
        self.samples.drain(..)
    }

    /// Slots run since the start, of the carrier with the shortest; over given capacity, as many as fit.
    pub fn slots(&self) -> u64 {
        self.air.slots(self.now)
    }

    /// What cross traffic has sent on the path by the last `advance`.
    pub fn cross_totals(&mut self, direction: Direction) -> CrossTotals {
        match direction {
            Direction::Downlink => self.ends.path_dl.cross_totals(self.now),
            Direction::Uplink => self.ends.path_ul.cross_totals(self.now),
        }
    }

    /// How many UEs it has.
    pub fn ues(&self) -> usize {
        self.air.ues()
    }

    /// Length of the shortest slot; over given capacity, 1 ms.
    pub fn slot_length(&self) -> Nanos {
        self.air.slot_length()
    }

    fn sample(&mut self, end: Nanos) {
        self.air.sample(self.sampled_to, end, &mut self.samples);
        self.sampled_to = end;
    }
}
