// SPDX-License-Identifier: Apache-2.0
//! The link: what a driver calls.

mod floor;
mod held;
mod slots;

use std::collections::VecDeque;

use crate::channel::Channel;
use crate::config::ResolvedConfig;
use crate::mac::cell::Cell;
use crate::mac::grants::Grant;
use crate::mac::ue::Ue;
use crate::path::Path;
use crate::samples::MacSample;
use crate::timeline::Timeline;
use crate::{Delivery, Direction, Nanos, Packet, Port};

pub use held::Held;

/// A packet with the UE that it goes to or comes from.
type OfUe<T> = (usize, Packet<T>);

/// A link between the core network and its UEs.
#[derive(Debug)]
pub struct Link<T> {
    cell: Cell,
    ues: Vec<Ue<T>>,
    /// Server to gNB, before the RLC buffers.
    path_dl: Path<OfUe<T>>,
    /// gNB to server, behind them. What leaves it is delivered.
    path_ul: Path<OfUe<T>>,
    /// From the UEs, until the slot that finds them in the buffer.
    from_ues: Timeline<OfUe<T>>,
    /// Decoded by the UEs, in order of time.
    to_ues: VecDeque<Delivery<T>>,
    grants: VecDeque<Grant>,
    now: Nanos,
    next_slot: u64,
    sample_interval: Nanos,
    sampled_to: Nanos,
    samples: Vec<MacSample>,
}

impl<T> Link<T> {
    /// A link at time 0, with one channel for each UE of `config.devices.ue`.
    ///
    /// # Errors
    /// The number of channels is not that of UEs.
    pub fn new(config: &ResolvedConfig, channels: Vec<Channel>) -> Result<Self, String> {
        if channels.len() != config.devices.ue.len() {
            return Err(format!(
                "{} channels for {} UEs; make one for each",
                channels.len(),
                config.devices.ue.len()
            ));
        }
        let ues = channels
            .into_iter()
            .enumerate()
            .map(|(index, channel)| Ue::new(index, config, channel));
        Ok(Self {
            cell: Cell::new(config),
            ues: ues.collect(),
            path_dl: Path::new(config.path.dl, config.seed, Direction::Downlink),
            path_ul: Path::new(config.path.ul, config.seed, Direction::Uplink),
            from_ues: Timeline::default(),
            to_ues: VecDeque::new(),
            grants: VecDeque::new(),
            now: 0,
            next_slot: 0,
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
                let totals = &mut self.ues[ue].dl.account.totals;
                totals.enqueued_bytes += bytes;
                if self.path_dl.enter((ue, packet), self.now).is_err() {
                    totals.path_losses += 1;
                    totals.path_lost_bytes += bytes;
                }
            }
            Port::Ue(ue) => {
                self.ues[ue].ul.account.totals.enqueued_bytes += bytes;
                self.from_ues.push(self.now, (ue, packet));
            }
        }
    }

    /// Runs every slot whose start is not after `now`. The result does not depend on how often
    /// this is called.
    pub fn advance(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        self.run_to(self.now);
    }

    /// Slots and samples up to `now`, in order of time.
    fn run_to(&mut self, now: Nanos) {
        loop {
            let slot = self.cell.timing.start(self.next_slot);
            let sample = self.sampled_to + self.sample_interval;
            if slot.min(sample) > now {
                return;
            }
            if sample <= slot {
                self.sample(sample);
            } else {
                self.run_slot(self.next_slot);
                self.next_slot += 1;
            }
        }
    }

    /// The next packet that is due by the last `advance`, in order of time; downlink first where
    /// two are due at once.
    pub fn dequeue(&mut self) -> Option<Delivery<T>> {
        let dl = self.to_ues.front().map(|delivery| delivery.due);
        let ul = self.path_ul.next();
        let uplink_first = match (dl, ul) {
            (Some(dl), Some(ul)) => ul < dl,
            (dl, _) => dl.is_none(),
        };
        if uplink_first {
            let (due, (ue, packet)) = self.path_ul.leave(self.now)?;
            return Some(Delivery {
                to: Port::Core { ue },
                packet,
                due,
                ce: false,
            });
        }
        dl.filter(|&due| due <= self.now)?;
        self.to_ues.pop_front()
    }

    /// When to call `advance` next if no packet comes before: a slot with work to do, a delivery,
    /// or the end of a sample interval. Idle slots before it are caught up at almost no cost, and
    /// with the same result as if each had been run in its time.
    pub fn next_event(&self) -> Nanos {
        let delivery = self.to_ues.front().map(|delivery| delivery.due);
        let sample = self.sampled_to + self.sample_interval;
        [delivery, self.path_ul.next(), self.next_work()]
            .into_iter()
            .flatten()
            .fold(sample, Nanos::min)
    }

    /// Start of the next slot that has anything to carry.
    fn next_work(&self) -> Option<Nanos> {
        let next_slot = self.cell.timing.start(self.next_slot);
        let busy = !self.from_ues.is_empty()
            || !self.grants.is_empty()
            || self.ues.iter().any(|ue| !ue.is_idle());
        if busy {
            return Some(next_slot);
        }
        let length = self.cell.timing.slot;
        self.path_dl
            .next()
            .map(|arrives| arrives.div_ceil(length) * length)
            .map(|at| at.max(next_slot))
    }

    /// Takes the samples of the intervals that have ended, in order of time and UE.
    pub fn samples(&mut self) -> std::vec::Drain<'_, MacSample> {
        self.samples.drain(..)
    }

    /// Slots run since the start.
    pub fn slots(&self) -> u64 {
        self.next_slot
    }

    /// How many UEs it has.
    pub fn ues(&self) -> usize {
        self.ues.len()
    }

    /// Length of a slot.
    pub fn slot_length(&self) -> Nanos {
        self.cell.timing.slot
    }

    fn sample(&mut self, end: Nanos) {
        let start = self.sampled_to;
        let cell = &self.cell;
        self.samples.extend(
            self.ues
                .iter_mut()
                .map(|ue| MacSample::take(ue, cell, start, end - start)),
        );
        self.sampled_to = end;
    }
}
