// SPDX-License-Identifier: Apache-2.0
//! One UE on one component carrier (a serving cell of TS 38.331): its channel, the gNB's knowledge of the channel,
//! and the HARQ entity and link adaptation of each direction.

use super::adaptation::{Adaptation, Schemes};
use super::bearer::Bearer;
use super::cell::Cell;
use super::csi::Csi;
use super::feedback::{PucchOccasions, Reading};
use super::harq::{Block, Feedback, Harq, Transmission};
use super::report::Report;
use crate::Direction;
use crate::channel::{Channel, Observation};
use crate::config::{Gnb, RadioConfig};
use crate::counters::Capacity;
use crate::ids::{CarrierId, UeId};
use crate::radio::tbs::Allocation;
use crate::radio::{Constellation, decibel};
use crate::random::{Purpose, Stream};
use crate::time::{Nanos, Slot};

#[derive(Debug)]
pub(crate) struct Serving {
    carrier: CarrierId,
    pub channel: Channel,
    pub csi: Csi,
    pub dl: ServingDirection,
    pub ul: ServingDirection,
    /// The acknowledgements of the downlink to come, for a gNB that limits them.
    pub occasions: PucchOccasions,
    /// The last observation; kept so that no slot allocates memory.
    pub observation: Observation,
}

impl Serving {
    /// Makes the state of `ue` on `carrier`; block errors are drawn from `seed`.
    pub fn new(
        seed: u64,
        ue: UeId,
        carrier: CarrierId,
        radio: &RadioConfig,
        channel: Channel,
    ) -> Self {
        let serving = |direction| ServingDirection {
            harq: Harq::default(),
            adaptation: Adaptation::new(radio, radio.carriers[carrier.0].numerology.slot_ns()),
            idle: None,
            errors: Stream::on_carrier(seed, Purpose::BlockError, ue, direction, carrier),
            narrow_sinr_db: match (radio.gnb(), direction) {
                (Some(gnb), Direction::Downlink) => gnb.narrow_pdsch_sinr_db,
                (Some(gnb), Direction::Uplink) => gnb.narrow_pusch_sinr_db,
                (None, _) => &[],
            },
            loss_db: match (radio.gnb(), direction) {
                (Some(gnb), Direction::Downlink) => gnb.pdsch_loss_db,
                _ => 0.0,
            },
            spread_db: radio.gnb().map_or(0.0, |gnb| gnb.receiver.spread_db),
        };
        Self {
            carrier,
            channel,
            csi: Csi::new(radio.csi_period_slots, radio.csi_delay_slots),
            dl: serving(Direction::Downlink),
            ul: serving(Direction::Uplink),
            occasions: PucchOccasions::default(),
            observation: Observation::default(),
        }
    }

    /// Starts over, with the channel of another cell: what was in transmission is gone, and nothing is known.
    pub fn reset(&mut self, radio: &RadioConfig, channel: Channel) {
        self.channel = channel;
        self.csi = Csi::new(radio.csi_period_slots, radio.csi_delay_slots);
        self.reset_mac(radio);
    }

    /// Resets MAC (TS 38.321 clause 5.12): all HARQ processes are empty, and the gNB knows as much of the channel as at a new
    /// connection, nothing.
    pub fn reset_mac(&mut self, radio: &RadioConfig) {
        self.csi.forget_reports();
        self.occasions = PucchOccasions::default();
        for direction in [&mut self.dl, &mut self.ul] {
            let slot_ns = radio.carriers[self.carrier.0].numerology.slot_ns();
            direction.harq = Harq::default();
            direction.adaptation = Adaptation::new(radio, slot_ns);
            direction.idle = None;
        }
    }

    /// Returns whether no block is in transmission.
    pub fn is_idle(&self) -> bool {
        self.dl.harq.is_idle() && self.ul.harq.is_idle()
    }

    /// Returns when the gNB knows the outcome of a downlink block of `slot`; `None` if no acknowledgement of it has room.
    pub fn acknowledged(&self, cell: &Cell, slot: Slot) -> Option<Slot> {
        match cell.radio.gnb() {
            None => Some(cell.timing.acknowledged(self.carrier, slot)),
            Some(gnb) => self
                .occasion(cell, gnb, slot)
                .map(|sent| cell.timing.used_by_gnb(self.carrier, sent)),
        }
    }

    /// Records that a downlink block of `slot` will be acknowledged; returns when the gNB knows its outcome, and how it
    /// reads the acknowledgement.
    pub fn acknowledge(&mut self, cell: &Cell, slot: Slot) -> Option<(Slot, Reading)> {
        let Some(gnb) = cell.radio.gnb() else {
            let known = cell.timing.acknowledged(self.carrier, slot);
            return Some((known, Reading::Right));
        };
        let sent = self.occasion(cell, gnb, slot)?;
        let reading = self.occasions.take(&gnb.feedback, slot, sent);
        Some((cell.timing.used_by_gnb(self.carrier, sent), reading))
    }

    /// Returns the slot in which the UE acknowledges a downlink block of `slot`, if one has room.
    fn occasion(&self, cell: &Cell, gnb: &Gnb, slot: Slot) -> Option<Slot> {
        let duplex = cell.timing.duplex(self.carrier);
        self.occasions.occasion(&gnb.feedback, duplex, slot)
    }

    /// Measures the channel in slots of the CSI period, and `reports` it or not; returns the measurement. `disturb` adds
    /// interference.
    pub fn measure(
        &mut self,
        cell: &Cell,
        tick: u64,
        reports: bool,
        disturb: impl FnOnce(Nanos, &mut Observation),
    ) -> Option<Report> {
        let slot = cell.timing.slot_at(self.carrier, tick)?;
        let measured = self.csi.measures(slot, reports).then(|| {
            let start = cell.timing.start(self.carrier, slot);
            self.channel.observe(start, &mut self.observation);
            disturb(start, &mut self.observation);
            let noise_dbm = self.channel.noise_ul_dbm_per_re(start);
            let report = self
                .csi
                .measure(cell, self.carrier, &self.observation, noise_dbm);
            self.csi.push(slot, report, reports);
            report
        });
        self.csi.advance(slot);
        measured
    }
}

/// One direction of a UE on one carrier.
#[derive(Debug)]
pub(crate) struct ServingDirection {
    pub harq: Harq,
    pub adaptation: Adaptation,
    /// The capacity of an idle slot, cached until its inputs change.
    idle: Option<IdleCapacity>,
    errors: Stream,
    /// The highest SINR of narrow allocations, by their PRBs.
    narrow_sinr_db: &'static [(u16, f64)],
    /// The receiver's loss beyond that of its kind, dB.
    loss_db: f64,
    /// Standard deviation of the receiver's loss, dB.
    spread_db: f64,
}

/// When and how the outcome of a transmission is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    /// When the receiver has decoded the block.
    pub decoded: Nanos,
    /// The first slot of the carrier in which the gNB can use the outcome.
    pub known: Slot,
    /// The way in which the gNB reads the acknowledgement.
    pub reading: Reading,
}

#[derive(Debug, Clone, Copy)]
struct IdleCapacity {
    allocation: Allocation,
    versions: (u64, u64),
    capacity: Capacity,
}

impl ServingDirection {
    /// Transmits a block of `bearer`; `sinr_db` holds the SINR of a layer for each part of the carrier. Returns whether
    /// the block arrived.
    pub fn transmit<T>(
        &mut self,
        bearer: &mut Bearer<T>,
        mut transmission: Transmission,
        schemes: &Schemes,
        sinr_db: &[f32],
        outcome: Outcome,
    ) -> bool {
        let block = &mut transmission.block;
        let mcs = schemes.get(block.mcs);
        let effective_db = Constellation::of(mcs.bits_per_symbol).effective_db(sinr_db);
        block.round += 1;
        if block.round == 1 {
            block.due = outcome.decoded;
        }
        block.sinr += self.estimated(block.prb, decibel::to_ratio(effective_db));
        let mut sinr_db = decibel::from_ratio(block.sinr) - self.loss_db;
        if self.spread_db > 0.0 {
            sinr_db += self.spread_db * self.errors.normal();
        }
        let ratio = schemes.block_error_ratio(block.mcs, block.bytes, sinr_db);
        let arrived = !self.errors.happens(ratio) && !block.received;
        block.received |= arrived;
        let acknowledged = block.received && outcome.reading != Reading::Failed;
        bearer.transmitted(block, arrived, acknowledged, outcome.decoded);
        self.adaptation.count(block.round);
        self.harq.sent(transmission, acknowledged, outcome.known);
        if outcome.reading == Reading::Backward {
            self.harq.reads_backward(transmission.process);
        }
        arrived
    }

    /// Returns the SINR, as a ratio, with which an allocation of so many PRBs is decoded: errors of its channel estimate
    /// act as noise.
    fn estimated(&self, prb: u16, sinr: f64) -> f64 {
        let narrow = self.narrow_sinr_db.iter().find(|(width, _)| prb <= *width);
        narrow.map_or(sinr, |(_, most_db)| {
            1.0 / (1.0 / sinr + 1.0 / decibel::to_ratio(*most_db))
        })
    }

    /// Passes the next outcome that is known by `slot` to link adaptation and returns it. `could_be_narrower` is
    /// whether fewer PRBs would have helped a block.
    pub fn learn(
        &mut self,
        schemes: &Schemes,
        slot: Slot,
        could_be_narrower: impl Fn(&Block) -> bool,
    ) -> Option<Feedback> {
        let feedback = self.harq.feedback(slot)?;
        let (block, arrived) = match &feedback {
            Feedback::Arrived(block) | Feedback::Mistaken(block) => (block, true),
            Feedback::Failed(block) | Feedback::GivenUp(block) => (block, false),
        };
        if block.round == 1 {
            self.adaptation
                .learn(schemes, block.mcs, could_be_narrower(block), arrived);
        }
        Some(feedback)
    }

    /// Returns the capacity of an idle slot with this `allocation`, from the cache or by `compute`; `measurements`
    /// counts those of CSI.
    pub fn idle_capacity(
        &mut self,
        allocation: Allocation,
        measurements: u64,
        compute: impl FnOnce(&Adaptation) -> Capacity,
    ) -> Capacity {
        let versions = (measurements, self.adaptation.version());
        match self.idle {
            Some(kept) if kept.allocation == allocation && kept.versions == versions => {
                kept.capacity
            }
            _ => {
                let capacity = compute(&self.adaptation);
                self.idle = Some(IdleCapacity {
                    allocation,
                    versions,
                    capacity,
                });
                capacity
            }
        }
    }
}
