// SPDX-License-Identifier: Apache-2.0
//! One UE on one component carrier (a serving cell of TS 38.331): its channel, what the gNB knows
//! of it, and each direction's HARQ entity and link adaptation.

use super::adaptation::{Adaptation, Schemes};
use super::bearer::Bearer;
use super::cell::{Capacity, Cell, Room};
use super::csi::{Csi, Report};
use super::harq::{Block, Feedback, Harq};
use crate::channel::{Channel, Observation};
use crate::config::RadioConfig;
use crate::radio::bler::{CodeBlocks, block_error_ratio};
use crate::radio::{Constellation, decibel};
use crate::random::{Purpose, Stream};
use crate::{Direction, Nanos};

#[derive(Debug)]
pub(crate) struct Serving {
    carrier: usize,
    pub channel: Channel,
    pub csi: Csi,
    pub dl: Half,
    pub ul: Half,
    /// Kept, so that no slot allocates.
    pub seen: Observation,
}

impl Serving {
    /// UE `ue` of a link of `seed` on `carrier`.
    pub fn new(
        seed: u64,
        ue: usize,
        carrier: usize,
        radio: &RadioConfig,
        channel: Channel,
    ) -> Self {
        let half = |direction| Half {
            harq: Harq::default(),
            adaptation: Adaptation::new(radio, radio.carriers[carrier].numerology.slot_ns()),
            idle: None,
            errors: Stream::on_carrier(seed, Purpose::BlockError, ue, direction, carrier),
        };
        Self {
            carrier,
            channel,
            csi: Csi::new(radio.csi_period_slots, radio.csi_delay_slots),
            dl: half(Direction::Downlink),
            ul: half(Direction::Uplink),
            seen: Observation::default(),
        }
    }

    /// Whether no block is under way.
    pub fn is_idle(&self) -> bool {
        self.dl.harq.is_idle() && self.ul.harq.is_idle()
    }

    /// Measures the channel when it is time; returns what was measured.
    pub fn measure(&mut self, cell: &Cell, tick: u64) -> Option<Report> {
        let slot = cell.timing.slot_at(self.carrier, tick)?;
        let measured = self.csi.measures(slot).then(|| {
            let start = cell.timing.start(self.carrier, slot);
            self.channel.observe(start, &mut self.seen);
            let noise_dbm = self.channel.noise_ul_dbm_per_re(start);
            self.csi
                .measure(cell, self.carrier, slot, &self.seen, noise_dbm)
        });
        self.csi.come_to(slot);
        measured
    }
}

/// One direction of it.
#[derive(Debug)]
pub(crate) struct Half {
    pub harq: Harq,
    pub adaptation: Adaptation,
    /// What an idle slot would have carried, kept until what it depends on changes.
    idle: Option<IdleCapacity>,
    errors: Stream,
}

/// When the outcome of a transmission shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// When the receiver has it.
    pub decoded: Nanos,
    /// The first slot of the carrier in which the gNB can use it.
    pub known: u64,
}

#[derive(Debug, Clone, Copy)]
struct IdleCapacity {
    room: Room,
    versions: (u64, u64),
    capacity: Capacity,
}

impl Half {
    /// Sends a block of `bearer` once more; `sinr_db` is each layer's for each part of the carrier.
    /// Returns whether the block arrived.
    pub fn transmit<T>(
        &mut self,
        bearer: &mut Bearer<T>,
        process: usize,
        mut block: Block,
        schemes: &Schemes,
        sinr_db: &[f32],
        outcome: Outcome,
    ) -> bool {
        let mcs = schemes.get(block.mcs);
        block.round += 1;
        block.sinr +=
            decibel::to_ratio(Constellation::of(mcs.bits_per_symbol).effective_db(sinr_db));
        let blocks = CodeBlocks::of(8 * block.bytes, mcs);
        let ratio = block_error_ratio(mcs, blocks, decibel::from_ratio(block.sinr));
        let arrived = !self.errors.happens(ratio);
        bearer.transmitted(&block, arrived, outcome.decoded);
        self.adaptation.count(block.round);
        self.harq.sent(process, block, arrived, outcome.known);
        arrived
    }

    /// Lets the sender learn what it can know by `slot`; returns the next block that it gave up or
    /// saw arrive, until there is none. `narrows` tells whether fewer PRBs would have helped a block.
    pub fn learn(
        &mut self,
        schemes: &Schemes,
        slot: u64,
        narrows: impl Fn(&Block) -> bool,
    ) -> Option<Feedback> {
        let feedback = self.harq.feedback(slot)?;
        let (block, arrived) = match &feedback {
            Feedback::Arrived(block) => (block, true),
            Feedback::Failed(block) | Feedback::GivenUp(block) => (block, false),
        };
        if block.round == 1 {
            self.adaptation
                .learn(schemes, block.mcs, narrows(block), arrived);
        }
        Some(feedback)
    }

    /// What an idle slot would have carried with `room`, by `compute` where it is not known from
    /// before; `reports` counts what has been reported.
    pub fn idle_capacity(
        &mut self,
        room: Room,
        reports: u64,
        compute: impl FnOnce(&Adaptation) -> Capacity,
    ) -> Capacity {
        let versions = (reports, self.adaptation.version());
        match self.idle {
            Some(kept) if kept.room == room && kept.versions == versions => kept.capacity,
            _ => {
                let capacity = compute(&self.adaptation);
                self.idle = Some(IdleCapacity {
                    room,
                    versions,
                    capacity,
                });
                capacity
            }
        }
    }
}
