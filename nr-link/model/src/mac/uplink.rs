// SPDX-License-Identifier: Apache-2.0
//! One UE's share of an uplink slot on one carrier: first the grant, and the transmission some slots later.

use super::adaptation::{Adaptation, LOWEST, Occasion};
use super::cell::{Cell, CellSlot, FreeResources};
use super::feedback::Reading;
use super::grants::{Content, Grant};
use super::harq::{Block, Feedback, Transmission};
use super::power::{Power, uplink_snr};
use super::report::Report;
use super::serving::{Outcome, Serving};
use super::ue::Ue;
use crate::Direction;
use crate::counters::Capacity;
use crate::delays::Part;
use crate::headers::{BUFFER_STATUS_BYTES, MOST_SEGMENT_BYTES, SHORTEST_SEGMENT_BYTES};
use crate::ids::{CarrierId, HarqId};
use crate::packet::UePacket;
use crate::radio::tbs::Allocation;
use crate::time::{Nanos, Slot, Timeline};

/// The smallest grant that carries data: a buffer status report, and a segment with its headers.
const LEAST_BYTES: u32 = BUFFER_STATUS_BYTES + MOST_SEGMENT_BYTES + SHORTEST_SEGMENT_BYTES;

/// An MCS on an allocation, and the SNR of a layer that it was chosen for.
#[derive(Debug, Clone, Copy)]
struct Choice {
    mcs: u8,
    allocation: Allocation,
    snr_db: f64,
}

impl<T> Ue<T> {
    /// Gives the gNB the outcomes that it has by this slot, and ends RLC's wait for gaps that have expired.
    pub fn learn_uplink(&mut self, at: CellSlot) {
        let CellSlot {
            cell,
            carrier,
            slot,
        } = at;
        let start = at.start();
        let serving = &mut self.serving[carrier.0].ul;
        while let Some(feedback) = serving.learn(&cell.schemes, slot, could_be_narrower) {
            if let Feedback::GivenUp(block) = feedback {
                self.buffer_status.lose();
                if let Some(status) = block.status {
                    self.dl.rlc.status_arrived(status, None);
                }
                let missed = cell.timing.decoded_by_gnb(carrier, block.slot);
                self.ul
                    .give_up(&block, missed, start, |at| cell.timing.status_of_gnb(at));
            }
        }
        serving
            .adaptation
            .advance(&cell.schemes, slot, Occasion::Slot);
        self.ul.rlc.expire(start);
    }

    /// Returns the bytes of a new block that takes all of `free`; 0 while no report is in force.
    pub fn uplink_bytes(&self, cell: &Cell, carrier: CarrierId, free: FreeResources) -> u32 {
        let Serving { csi, ul, .. } = &self.serving[carrier.0];
        csi.in_force().map_or(0, |report| {
            let Choice {
                mcs, allocation, ..
            } = widest(&ul.adaptation, cell, report, free);
            cell.block_bytes(mcs, allocation)
        })
    }

    /// Grants at `now` the later `slot` to the failed block that has waited longest and fits in `free`.
    pub fn grant_retransmission(
        &mut self,
        now: CellSlot,
        slot: Slot,
        free: FreeResources,
    ) -> Option<Grant> {
        if !self.listens(now.start()) {
            return None;
        }
        let carrier = now.carrier;
        let Transmission { process, block } =
            self.serving[carrier.0].ul.harq.take_failed(free.fits())?;
        if let Some(drx) = self.drx() {
            drx.transmission((Direction::Uplink, carrier, process));
        }
        self.buffer_status.answer(slot);
        Some(self.grant(carrier, slot, process, Content::Retransmission(block)))
    }

    /// Decides at `now` which new data the UE sends in the later `slot` of the carrier, of which `free` is left.
    pub fn grant_new(&mut self, now: CellSlot, slot: Slot, free: FreeResources) -> Option<Grant> {
        if !self.is_on_nr() {
            return None;
        }
        let CellSlot { cell, carrier, .. } = now;
        let (listens, has_beam) = (self.listens(now.start()), self.has_beam());
        let serving = &mut self.serving[carrier.0];
        // The report that would be in force if the UE were awake: see `idle_downlink`.
        let measured = *serving
            .csi
            .latest()
            .filter(|_| serving.ul.harq.has_free())?;
        let known_bytes = self.buffer_status.known_bytes(now.start());
        let unasked = known_bytes == 0
            && self
                .buffer_status
                .small_grant(slot, cell.timing.first_uplink(carrier));
        if !has_beam {
            return None;
        }
        if (known_bytes == 0 && !unasked) || !listens {
            let measurements = serving.csi.version();
            let whole = free.for_layers(measured.rank.ul);
            let capacity = serving.ul.idle_capacity(whole, measurements, |adaptation| {
                let Choice {
                    snr_db, allocation, ..
                } = widest(adaptation, cell, &measured, free);
                cell.expected(
                    adaptation.settled(&cell.schemes, snr_db),
                    allocation,
                    snr_db,
                )
            });
            self.ul.counters.add_unused_capacity(capacity);
            return None;
        }
        let report = *serving.csi.in_force()?;
        let adaptation = &mut serving.ul.adaptation;
        adaptation.advance(&cell.schemes, now.slot, Occasion::Data);
        let adaptation = &serving.ul.adaptation;
        let widest = widest(adaptation, cell, &report, free);
        // Unasked, a grant has the fewest PRBs that the gNB allocates.
        let needed = known_bytes + u64::from(BUFFER_STATUS_BYTES);
        let taken = narrowest(adaptation, cell, &report, widest, needed);
        let bytes = cell.block_bytes(taken.mcs, taken.allocation);
        let full = f64::from(cell.block_bytes(widest.mcs, widest.allocation).max(bytes));
        let full = Capacity {
            bytes: full,
            sdu_bytes: cell.ip_bytes(full),
        };
        let process = serving.ul.harq.reserve()?;
        self.buffer_status
            .grant(slot, cell.timing.start(carrier, slot), u64::from(bytes));
        if let Some(drx) = self.drx() {
            drx.new_transmission(now.start(), cell.timing.pdcch_end(carrier, now.slot));
        }
        let content = Content::New {
            mcs: taken.mcs,
            allocation: taken.allocation,
            bytes,
            full,
        };
        Some(self.grant(carrier, slot, process, content))
    }

    fn grant(&self, carrier: CarrierId, slot: Slot, process: HarqId, content: Content) -> Grant {
        Grant {
            slot,
            ue: self.id,
            carrier,
            process,
            content,
        }
    }

    /// Returns why data that the UE still has after the slots that start at `start` waits, if nothing about these is
    /// noted. `carries_data`: one of them carries uplink data.
    pub fn uplink_wait(&self, start: Nanos, carries_data: bool) -> Part {
        if self.buffer_status.unannounced() {
            Part::Request
        } else if carries_data || !self.buffer_status.knows(start) {
            Part::Grant
        } else {
            Part::Slot
        }
    }

    /// Notes why the UE will keep data in a later `slot` that the gNB decides about: it has the `grant`, or none.
    /// `alone`: no other UE has a part of the slot.
    pub fn note_grant(&mut self, now: CellSlot, slot: Slot, grant: Option<&Grant>, alone: bool) {
        let reason = match grant.map(|grant| grant.content) {
            Some(Content::Retransmission(_)) => Part::Blocked,
            Some(Content::New { bytes, full, .. }) if f64::from(bytes) < full.bytes => Part::Grant,
            Some(Content::New { .. }) if alone => Part::Service,
            Some(Content::New { .. }) => Part::Priority,
            None if !self.buffer_status.knows_of_more() => return,
            None if alone => Part::Blocked,
            None => Part::Priority,
        };
        let start = now.cell.timing.start(now.carrier, slot);
        self.ul.rlc.buffer.note_for(start, reason);
    }

    /// Sends the block of a grant.
    pub fn send_uplink(&mut self, cell: &Cell, grant: Grant) {
        let block = match grant.content {
            Content::Retransmission(block) => block,
            Content::New {
                mcs,
                allocation,
                bytes,
                full,
            } => self.build_up(cell, &grant, mcs, allocation, bytes, full),
        };
        self.observe_up(cell, &grant, &block);
        let outcome = Outcome {
            decoded: cell.timing.decoded_by_gnb(grant.carrier, grant.slot),
            known: cell.timing.used_by_gnb(grant.carrier, grant.slot),
            reading: Reading::Right,
        };
        let Serving {
            observation, ul, ..
        } = &mut self.serving[grant.carrier.0];
        let transmission = Transmission {
            process: grant.process,
            block,
        };
        let arrived = ul.transmit(
            &mut self.ul,
            transmission,
            &cell.schemes,
            &observation.sinr_db,
            outcome,
        );
        if let Some(drx) = self.drx() {
            let process = (Direction::Uplink, grant.carrier, grant.process);
            let sent = cell.timing.start(grant.carrier, grant.slot + 1);
            drx.await_retransmission(process, sent, cell.timing.slot_length(grant.carrier));
        }
        if arrived {
            let at = CellSlot {
                cell,
                carrier: grant.carrier,
                slot: grant.slot,
            };
            let received = at.reception(self.id, Direction::Uplink, grant.process);
            self.ul.record(&block, received);
            let built = cell.timing.start(grant.carrier, block.slot);
            let known = cell.timing.known_by_gnb(grant.carrier, grant.slot);
            self.buffer_status.report(built, block.buffer_status, known);
            if let Some(status) = block.status {
                self.dl.rlc.status_arrived(status, Some(known));
            }
        }
    }

    /// Moves the packets that the gNB has completely received to `received`.
    pub fn depart_uplink(&mut self, received: &mut Timeline<UePacket<T>>) {
        while let Some((left, packet)) = self.ul.depart() {
            received.push(
                left,
                UePacket {
                    ue: self.id,
                    packet,
                },
            );
        }
    }

    /// Sends a scheduling request, in a slot of the primary carrier with PUCCH, if one is due and the slot is for requests.
    pub fn request(&mut self, cell: &Cell, slot: Slot) {
        if !self.is_served() || self.cell.is_none() {
            return;
        }
        let start = cell.timing.start(CarrierId::PRIMARY, slot);
        let has_data = self.waiting_bytes(start) > 0;
        let asks_again = has_data && self.drx().is_some_and(|drx| drx.asks_again(start));
        let is_due = self.buffer_status.is_request_due(start, has_data) || asks_again;
        if is_due && cell.timing.carries_request(slot) {
            let known = cell.timing.known_by_gnb(CarrierId::PRIMARY, slot);
            self.buffer_status.request(start, known);
            if let Some(drx) = self.drx() {
                drx.request();
            }
        }
    }

    /// Returns the bytes that the UE has to send, with a status PDU about the downlink.
    fn waiting_bytes(&self, now: Nanos) -> u64 {
        self.ul.rlc.backlog_bytes(now) + u64::from(self.dl.rlc.status_bytes(now))
    }

    fn build_up(
        &mut self,
        cell: &Cell,
        grant: &Grant,
        mcs: u8,
        allocation: Allocation,
        bytes: u32,
        full: Capacity,
    ) -> Block {
        let start = cell.timing.start(grant.carrier, grant.slot);
        let room = bytes - BUFFER_STATUS_BYTES;
        let status = self.dl.rlc.take_status(room, start);
        let status_bytes = status.map_or(0, |(_, bytes)| bytes);
        let payload = self.ul.rlc.fill_or_nothing(room - status_bytes, start);
        let left = self.waiting_bytes(start);
        self.buffer_status.announce(start, left);
        if let Some(drx) = self.drx() {
            drx.report(start);
        }
        let header_bytes = payload.header_bytes + BUFFER_STATUS_BYTES + status_bytes;
        let unused = full.bytes - f64::from(payload.bytes() + status_bytes);
        Block {
            span: payload.span,
            header_bytes,
            bytes,
            mcs,
            prb: allocation.prb,
            re_per_prb: allocation.re_per_prb,
            layers: allocation.layers,
            round: 0,
            received: false,
            sinr: 0.0,
            capacity: Capacity {
                bytes: full.bytes,
                sdu_bytes: f64::from(payload.span.bytes()) + cell.ip_bytes(unused),
            },
            slot: grant.slot,
            due: 0,
            buffer_status: left,
            polls: payload.polls,
            status: status.map(|(id, _)| id),
        }
    }

    /// Observes the SNR of each layer at the gNB.
    fn observe_up(&mut self, cell: &Cell, grant: &Grant, block: &Block) {
        let start = cell.timing.start(grant.carrier, grant.slot);
        let Serving {
            channel,
            csi,
            observation,
            ..
        } = &mut self.serving[grant.carrier.0];
        channel.observe(start, observation);
        let Some(report) = csi.in_force() else {
            return;
        };
        let power = Power::of(cell.uplink, report, block.prb);
        let noise_dbm = channel.noise_ul_dbm_per_re(start);
        if grant.carrier == CarrierId::PRIMARY {
            self.gauges.headroom_db = Some(power.headroom_db);
            self.gauges.rssi_dbm.add(power.rssi_dbm(
                observation.instant_loss_db,
                noise_dbm,
                block.prb,
            ));
        }
        uplink_snr(observation, power, noise_dbm);
        cell.layers
            .ul
            .divide(&mut observation.sinr_db, block.layers);
    }
}

fn choose(adaptation: &Adaptation, cell: &Cell, report: &Report, allocation: Allocation) -> Choice {
    let power = Power::of(cell.uplink, report, allocation.prb);
    let snr_db = power.expected_snr_db(report);
    let snr_db = cell.layers.ul.each_db(snr_db, allocation.layers);
    Choice {
        mcs: adaptation.choose(&cell.schemes, snr_db),
        allocation,
        snr_db,
    }
}

/// Returns the most PRBs of `free` on which the UE's power suffices for the lowest MCS, and at least as many as carry
/// data. A UE spreads P_CMAX over the granted PRBs (TS 38.213 clause 7.1.1): with a path loss that is too large
/// for the whole carrier, the gNB still decodes some PRBs.
fn widest(adaptation: &Adaptation, cell: &Cell, report: &Report, free: FreeResources) -> Choice {
    let whole = free.for_layers(report.rank.ul);
    let on = |prb: u16| choose(adaptation, cell, report, whole.with_prb(prb));
    let suffices = |prb: u16| {
        let bytes = cell.block_bytes(LOWEST, whole.with_prb(prb));
        adaptation.supports_lowest(&cell.schemes, bytes, on(prb).snr_db)
    };
    if suffices(whole.prb) {
        return on(whole.prb);
    }
    let mut low = cell.narrowest(LOWEST, whole, u64::from(LEAST_BYTES)).prb;
    let mut high = whole.prb;
    while low + 1 < high {
        let middle = (low + high) / 2;
        if suffices(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    on(low)
}

/// Returns whether half the PRBs would also have carried data.
fn could_be_narrower(block: &Block) -> bool {
    block.bytes >= 2 * LEAST_BYTES
}

/// Returns fewer PRBs if they suffice for all waiting data; with the power on fewer PRBs the MCS may be higher.
fn narrowest(
    adaptation: &Adaptation,
    cell: &Cell,
    report: &Report,
    widest: Choice,
    bytes: u64,
) -> Choice {
    let allocation = cell.narrowest(widest.mcs, widest.allocation, bytes);
    let narrowed = choose(adaptation, cell, report, allocation);
    Choice {
        allocation: cell.narrowest(narrowed.mcs, allocation, bytes),
        ..narrowed
    }
}
