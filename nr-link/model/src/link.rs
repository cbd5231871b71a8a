// SPDX-License-Identifier: Apache-2.0
//! The link, with the methods that a driver calls.

mod access;
mod changes;
mod contents;
mod endpoints;
mod mac_delay;
mod mobile;
mod mobility;
mod radio_access;
mod source;
mod trace_driven;

use crate::config::{Change, ResolvedConfig};
use crate::delays::Part;
use crate::mac::pdu::MacPdu;
use crate::packet::UePacket;
use crate::path::CrossTotals;
use crate::problem::Problem;
use crate::radio_events::RadioEvent;
use crate::samples::{MacSample, csv_header};
use crate::time::earlier;
use crate::{Delivery, Direction, Nanos, Packet, Port};

use access::Access;
use changes::Changes;
use endpoints::Endpoints;

pub use crate::mac::lte_leg::LteLeg;
pub use contents::Contents;
pub use source::{ResolvedLink, Source};

/// The link's next event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextEvent {
    /// When: a slot with work to do, a delivery, or the end of a sample interval.
    pub at: Nanos,
    /// Whether no packet is in the link, so that the event is the end of a sample interval.
    pub idle: bool,
}

/// A link between the core network and its UEs.
#[derive(Debug)]
pub struct Link<T> {
    access: Access<T>,
    endpoints: Endpoints<T>,
    changes: Changes,
    seed: u64,
    now: Nanos,
    sample_interval: Nanos,
    sampled_to: Nanos,
    samples: Vec<MacSample>,
    explains: bool,
}

impl<T> Link<T> {
    /// Makes a link at time 0 from a `source` for the UEs of `config`.
    ///
    /// # Errors
    /// The source is for another number of UEs or carriers, or the configuration lacks the carrier of a radio channel.
    pub fn new(config: &ResolvedConfig, source: impl Into<Source>) -> Result<Self, Problem> {
        Ok(Self {
            access: Access::new(config, source.into())?,
            endpoints: Endpoints::new(config),
            changes: Changes::new(&config.changes),
            seed: config.seed,
            now: 0,
            sample_interval: config.sample_interval,
            sampled_to: 0,
            samples: Vec::new(),
            explains: false,
        })
    }

    /// Lets each packet that enters from now on carry an account of its delay, [`Packet::delays`]. To be called before
    /// the first packet.
    pub fn explain(&mut self) {
        self.explains = true;
        self.access.explain();
    }

    /// Returns the parts that the delay of a packet of this link can have, in the order of [`Part::ALL`].
    pub fn parts(&self) -> &'static [Part] {
        self.access.parts()
    }

    /// Records each transport block that arrives from now on, for [`Link::mac_pdus`].
    pub fn record_mac_pdus(&mut self) {
        self.access.record_pdus();
    }

    /// Removes the transport blocks that have arrived, in order of their slots.
    pub fn mac_pdus(&mut self) -> Vec<MacPdu> {
        self.access.pdus()
    }

    /// Adds a packet that enters at `from` at time `now`. Times must not decrease over calls of `enqueue` and
    /// `advance`; an earlier time counts as the latest one. A packet can be sent in a slot that starts at `now` if it
    /// is enqueued before `advance(now)`.
    ///
    /// # Panics
    /// The link has no such UE.
    pub fn enqueue(&mut self, from: Port, mut packet: Packet<T>, now: Nanos) {
        let now = now.max(self.now);
        self.run_to(now.saturating_sub(1));
        self.now = now;
        while self.change(now) {}
        if self.explains {
            packet.delays.get_or_insert_default().entered = now;
        }
        let bytes = u64::from(packet.bytes);
        match from {
            Port::Core { ue } => {
                let counters = self.access.counters(ue, Direction::Downlink);
                counters.totals.enqueued_bytes += bytes;
                let outcome = self.endpoints.path_dl.enter(UePacket { ue, packet }, now);
                counters.count_path(now, outcome);
            }
            Port::Ue(ue) => {
                let counters = self.access.counters(ue, Direction::Uplink);
                counters.totals.enqueued_bytes += bytes;
                self.endpoints.from_ues.push(now, UePacket { ue, packet });
            }
        }
    }

    /// Runs all events until `now`. The result does not depend on how often this is called.
    pub fn advance(&mut self, now: Nanos) {
        self.now = self.now.max(now);
        self.run_to(self.now);
    }

    /// Runs slots, packet arrivals and departures, and samples up to `now`, in order of time.
    fn run_to(&mut self, now: Nanos) {
        loop {
            let next = self.access.next(&self.endpoints);
            let sample = self.sampled_to + self.sample_interval;
            let first = next.map_or(sample, |next| next.min(sample)).min(now);
            if self.change(first) {
                continue;
            }
            if sample <= now && next.is_none_or(|next| sample <= next) {
                self.sample(sample);
                continue;
            }
            match next.filter(|&next| next <= now) {
                Some(next) => self.access.run(next, &mut self.endpoints),
                None => return,
            }
        }
    }

    /// Lets the times of the configuration's changes count from `from`, for example the start of the traffic. Until
    /// this is called nothing changes; later calls have no effect.
    pub fn count_changes_from(&mut self, from: Nanos) {
        self.changes.count_from(from);
    }

    /// Makes the changes that are due by `now`; returns whether there was one.
    fn change(&mut self, now: Nanos) -> bool {
        let due = self.changes.pop(now);
        if let Some(Change {
            path, queue, prb, ..
        }) = &due
        {
            if let Some(prb) = prb {
                self.access.schedule(*prb);
            }
            if let Some(path) = path {
                self.endpoints.path_dl.change(path.dl);
                self.endpoints.path_ul.change(path.ul);
            }
            if let Some(queue) = queue {
                self.access.change_queues(queue, self.seed, now);
            }
        }
        due.is_some()
    }

    /// Removes the next packet that is due by the last `advance`, in order of time; downlink first if two are due at
    /// the same time.
    pub fn dequeue(&mut self) -> Option<Delivery<T>> {
        self.endpoints.deliver(self.now)
    }

    /// Like [`Link::dequeue`], for packets whose delivery by `now` is already certain: for a driver that woke late
    /// and has packets to enqueue before it may advance.
    pub fn dequeue_early(&mut self, now: Nanos) -> Option<Delivery<T>> {
        self.endpoints.deliver(now.max(self.now))
    }

    /// Returns when to call `advance` next if no packet arrives before. Idle slots before that time are run later at
    /// almost no cost, with the same result as if each had been run in its time.
    pub fn next_event(&self) -> NextEvent {
        let sample = self.sampled_to + self.sample_interval;
        let sample = self
            .changes
            .next()
            .map_or(sample, |change| change.min(sample));
        let leaves = self.endpoints.next_delivery();
        match earlier(leaves, self.access.next_work(&self.endpoints)) {
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

    /// Returns the header of `mac.csv` with the columns of this link's samples, without a line terminator.
    pub fn csv_header(&self) -> String {
        csv_header(self.access.extent())
    }

    /// Removes the samples of the intervals that have ended, in order of time and UE.
    pub fn samples(&mut self) -> std::vec::Drain<'_, MacSample> {
        self.samples.drain(..)
    }

    /// Removes the events of the UEs' connections until the last `advance`, in order of time.
    pub fn radio_events(&mut self) -> Vec<RadioEvent> {
        self.access.radio_events()
    }

    /// Returns the number of cells; over a capacity trace, 1.
    pub fn cells(&self) -> usize {
        self.access.cells()
    }

    /// Slots since the start, of the carrier with the shortest slots; over a capacity trace, milliseconds.
    pub fn slots(&self) -> u64 {
        self.access.slots(self.now)
    }

    /// Returns the counters of the cross traffic on the path by the last `advance`, if there is any.
    pub fn cross_totals(&mut self, direction: Direction) -> Option<CrossTotals> {
        match direction {
            Direction::Downlink => self.endpoints.path_dl.cross_totals(self.now),
            Direction::Uplink => self.endpoints.path_ul.cross_totals(self.now),
        }
    }

    /// Returns the number of UEs.
    pub fn ues(&self) -> usize {
        self.access.ues()
    }

    /// Returns the length of the shortest slot; over a capacity trace, 1 ms.
    pub fn slot_length(&self) -> Nanos {
        self.access.slot_length()
    }

    fn sample(&mut self, end: Nanos) {
        self.access.sample(self.sampled_to, end, &mut self.samples);
        self.sampled_to = end;
    }
}
