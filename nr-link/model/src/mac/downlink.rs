// SPDX-License-Identifier: Apache-2.0
//! One UE's share of a downlink slot on one carrier.

use super::adaptation::Occasion;
use super::cell::{Cell, CellSlot, FreeResources};
use super::harq::{Block, Feedback, Transmission};
use super::serving::{Outcome, Serving};
use super::ue::Ue;
use crate::Direction;
use crate::counters::Capacity;
use crate::delays::Part;
use crate::ids::CarrierId;
use crate::packet::UePacket;
use crate::time::Timeline;

/// The part of a slot that a UE was allocated.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allocated {
    pub prb: u16,
    /// Bytes of the transport block.
    pub bytes: u32,
}

impl<T> Ue<T> {
    /// Gives the gNB the feedback that it has by this slot, and ends RLC's wait for gaps that have expired.
    pub fn learn_downlink(&mut self, at: CellSlot) {
        let CellSlot {
            cell,
            carrier,
            slot,
        } = at;
        let start = at.start();
        let serving = &mut self.serving[carrier.0].dl;
        while let Some(feedback) = serving.learn(&cell.schemes, slot, |_| false) {
            if let Feedback::GivenUp(block) | Feedback::Mistaken(block) = feedback {
                if let Some(status) = block.status {
                    self.ul.rlc.status_arrived(status, None);
                }
                let missed = cell.timing.decoded_by_ue(carrier, block.slot);
                self.dl
                    .give_up(&block, missed, start, |at| cell.timing.status_of_ue(at));
            }
        }
        serving
            .adaptation
            .advance(&cell.schemes, slot, Occasion::Slot);
        self.dl.rlc.expire(start);
    }

    /// Returns the bytes of a new block that takes all of `free`; 0 while no report is in force, or the last was out
    /// of range (CQI 0).
    pub fn downlink_bytes(&self, cell: &Cell, carrier: CarrierId, free: FreeResources) -> u32 {
        downlink_choice(&self.serving[carrier.0], cell).map_or(0, |Choice { mcs, layers }| {
            cell.block_bytes(mcs, free.for_layers(layers))
        })
    }

    /// Retransmits the failed block that has waited longest and fits; returns its PRBs.
    pub fn retransmit_downlink(&mut self, at: CellSlot, free: FreeResources) -> Option<u16> {
        if !self.listens(at.start()) {
            return None;
        }
        let serving = &mut self.serving[at.carrier.0];
        if serving.dl.harq.has_failed() {
            serving.acknowledged(at.cell, at.slot)?;
        }
        let transmission = serving.dl.harq.take_failed(free.fits())?;
        self.send_down(at, transmission);
        Some(transmission.block.prb)
    }

    /// Sends new data in as much of `free` as it needs.
    pub fn send_new_downlink(&mut self, at: CellSlot, free: FreeResources) -> Allocated {
        let CellSlot {
            cell,
            carrier,
            slot,
        } = at;
        let (listens, has_beam) = (self.listens(at.start()), self.has_beam());
        if !self.is_on_nr() {
            return Allocated::default();
        }
        let serving = &mut self.serving[carrier.0];
        if !serving.dl.harq.has_free() || serving.acknowledged(cell, slot).is_none() {
            return Allocated::default();
        }
        let start = at.start();
        let status_bytes = self.ul.rlc.status_bytes(start);
        let waiting = self.dl.rlc.next_bytes(start) + u64::from(status_bytes);
        if waiting == 0 || !listens {
            if has_beam {
                let capacity = idle_downlink(serving, cell, free);
                self.dl.counters.add_unused_capacity(capacity);
            }
            return Allocated::default();
        }
        let Some(Choice { mut mcs, layers }) = downlink_choice(serving, cell) else {
            return Allocated::default();
        };
        let allocation = free.for_layers(layers);
        let adaptation = &mut serving.dl.adaptation;
        if adaptation.advance(&cell.schemes, slot, Occasion::Data)
            && let Some(changed) = downlink_choice(serving, cell)
        {
            mcs = changed.mcs;
        }
        let full = cell.block_bytes(mcs, allocation);
        let taken = cell.narrowest(mcs, allocation, waiting);
        let bytes = cell.block_bytes(mcs, taken);
        let status = self.ul.rlc.take_status(bytes, start);
        let status_bytes = status.map_or(0, |(_, bytes)| bytes);
        let payload = self.dl.rlc.fill_or_nothing(bytes - status_bytes, start);
        if payload.span.bytes() == 0 && status.is_none() {
            return Allocated::default();
        }
        let Some(process) = serving.dl.harq.reserve() else {
            return Allocated::default();
        };
        let unused = f64::from(full - payload.bytes() - status_bytes);
        let block = Block {
            span: payload.span,
            header_bytes: payload.header_bytes + status_bytes,
            bytes,
            mcs,
            prb: taken.prb,
            re_per_prb: taken.re_per_prb,
            layers,
            round: 0,
            received: false,
            sinr: 0.0,
            capacity: Capacity {
                bytes: f64::from(full),
                sdu_bytes: f64::from(payload.span.bytes()) + cell.ip_bytes(unused),
            },
            slot,
            due: 0,
            buffer_status: 0,
            polls: payload.polls,
            status: status.map(|(id, _)| id),
        };
        if let Some(drx) = self.drx() {
            drx.new_transmission(start, cell.timing.pdcch_end(carrier, slot));
        }
        self.send_down(at, Transmission { process, block });
        Allocated {
            prb: taken.prb,
            bytes,
        }
    }

    /// Notes why the UE keeps data that the slot could have carried: it has `prb` of its PRBs. `alone`: no other UE has a
    /// part of the slot.
    pub fn note_downlink(&mut self, prb: u16, alone: bool) {
        self.dl.rlc.buffer.note(match prb {
            0 => Part::Blocked,
            _ if alone => Part::Service,
            _ => Part::Priority,
        });
    }

    fn send_down(&mut self, at: CellSlot, transmission: Transmission) {
        let CellSlot {
            cell,
            carrier,
            slot,
        } = at;
        let serving = &mut self.serving[carrier.0];
        let (known, reading) = serving
            .acknowledge(cell, slot)
            .expect("an acknowledgement has room before a block is sent");
        let Serving {
            channel,
            observation,
            dl,
            ..
        } = serving;
        channel.observe(at.start(), observation);
        if let Some(own) = self.cell {
            self.surroundings
                .interfere(own, carrier, at.start(), observation);
        }
        cell.layers
            .dl
            .divide(&mut observation.sinr_db, transmission.block.layers);
        let outcome = Outcome {
            decoded: cell.timing.decoded_by_ue(carrier, slot),
            known,
            reading,
        };
        let process = (Direction::Downlink, carrier, transmission.process);
        let arrived = dl.transmit(
            &mut self.dl,
            transmission,
            &cell.schemes,
            &observation.sinr_db,
            outcome,
        );
        if arrived {
            let received = at.reception(self.id, Direction::Downlink, transmission.process);
            self.dl.record(&transmission.block, received);
        }
        if let Some(status) = transmission.block.status.filter(|_| arrived) {
            self.ul.rlc.status_arrived(status, Some(outcome.decoded));
        }
        if let Some(drx) = self.drx() {
            drx.transmission(process);
            if !arrived {
                let sent = cell.timing.acknowledgement_end(carrier, slot);
                drx.await_retransmission(process, sent, cell.timing.slot_length(carrier));
            }
        }
    }

    /// Moves the packets that the UE has completely received to `received`.
    pub fn depart_downlink(&mut self, received: &mut Timeline<UePacket<T>>) {
        while let Some((left, packet)) = self.dl.depart() {
            received.push(
                left,
                UePacket {
                    ue: self.id,
                    packet,
                },
            );
        }
    }
}

/// MCS and layers for new data.
#[derive(Debug, Clone, Copy)]
struct Choice {
    mcs: u8,
    layers: u8,
}

fn downlink_choice(serving: &Serving, cell: &Cell) -> Option<Choice> {
    let report = serving.csi.in_force().filter(|report| report.cqi > 0)?;
    let reported_db = cell.cqi_table.sinr_db(report.cqi);
    Some(Choice {
        mcs: serving.dl.adaptation.choose(&cell.schemes, reported_db),
        layers: report.rank.dl,
    })
}

/// Returns the capacity of a slot that the UE does not use, as if it were awake: a full queue would keep it so.
fn idle_downlink(serving: &mut Serving, cell: &Cell, free: FreeResources) -> Capacity {
    let Some(report) = serving.csi.latest().filter(|report| report.cqi > 0) else {
        return Capacity::default();
    };
    let allocation = free.for_layers(report.rank.dl);
    let reported_db = cell.cqi_table.sinr_db(report.cqi);
    serving
        .dl
        .idle_capacity(allocation, serving.csi.version(), |adaptation| {
            let mcs = adaptation.settled(&cell.schemes, reported_db);
            cell.expected(mcs, allocation, report.sinr_db)
        })
}
