// SPDX-License-Identifier: Apache-2.0
//! One UE's share of a downlink slot on one carrier.

use super::cell::{Capacity, Cell, Room};
use super::csi::per_layer;
use super::harq::{Block, Feedback};
use super::serving::Serving;
use super::ue::Ue;
use crate::{Delivery, Direction, Port};

const DOWN: Direction = Direction::Downlink;

/// What a slot gave to a UE.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Given {
    pub prb: u16,
    /// Of the transport block.
    pub bytes: u32,
}

impl<T> Ue<T> {
    /// The gNB learns what it can know by `slot`.
    pub fn learn_downlink(&mut self, cell: &Cell, carrier: usize, slot: u64) {
        let half = &mut self.serving[carrier].dl;
        while let Some(feedback) = half.learn(&cell.schemes, slot) {
            if let Feedback::GivenUp(block) = feedback {
                let delay = cell.timing.report_delay(slot);
                self.dl.give_up(&block, cell.timing.start(slot), delay);
            }
        }
        half.adaptation.come_to(&cell.schemes, slot);
        self.dl.rlc.expire(cell.timing.start(slot));
    }

    /// Bytes of a new block that takes all of `room`; 0 while no report is in force or the last
    /// was out of range (CQI 0).
    pub fn downlink_bytes(&self, cell: &Cell, carrier: usize, room: Room) -> u32 {
        downlink_mcs(&self.serving[carrier], cell).map_or(0, |mcs| cell.block_bytes(mcs, room))
    }

    /// Sends the longest waiting failed block that fits. Packets that become complete go to `out`.
    /// Returns the PRBs taken.
    pub fn send_down_again(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        room: Room,
        out: &mut impl Extend<Delivery<T>>,
    ) -> Option<u16> {
        let (process, block) = self.serving[carrier].dl.harq.take_failed(room.fits())?;
        self.send_down(cell, carrier, slot, process, block, out);
        Some(block.prb)
    }

    /// Sends new data in as much of `room` as it needs. Packets that become complete go to `out`.
    pub fn send_down_new(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        room: Room,
        out: &mut impl Extend<Delivery<T>>,
    ) -> Given {
        let serving = &mut self.serving[carrier];
        let Some(mcs) = downlink_mcs(serving, cell).filter(|_| serving.dl.harq.has_free()) else {
            return Given::default();
        };
        let start = cell.timing.start(slot);
        let wanted = self.dl.rlc.next_bytes(start);
        if wanted == 0 {
            let capacity = idle_downlink(serving, cell, room);
            self.dl.account.could_carry(capacity);
            return Given::default();
        }
        let full = cell.block_bytes(mcs, room);
        let taken = cell.narrowest(mcs, room, wanted);
        let bytes = cell.block_bytes(mcs, taken);
        let Some(payload) = self.dl.rlc.fill(bytes, start) else {
            return Given::default();
        };
        let Some(process) = serving.dl.harq.reserve() else {
            return Given::default();
        };
        let unused = f64::from(full - payload.bytes());
        let block = Block {
            span: payload.span,
            header_bytes: payload.header_bytes,
            bytes,
            mcs,
            prb: taken.prb,
            re_per_prb: taken.re_per_prb,
            round: 0,
            sinr: 0.0,
            capacity_bytes: f64::from(full),
            capacity_sdu_bytes: f64::from(payload.span.bytes()) + cell.ip_bytes(unused),
            slot,
            buffer_status: 0,
        };
        self.send_down(cell, carrier, slot, process, block, out);
        Given {
            prb: taken.prb,
            bytes,
        }
    }

    fn send_down(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        process: usize,
        block: Block,
        out: &mut impl Extend<Delivery<T>>,
    ) {
        let Serving {
            channel, seen, dl, ..
        } = &mut self.serving[carrier];
        channel.observe(cell.timing.start(slot), seen);
        per_layer(&mut seen.sinr_db, cell.layer_db(DOWN));
        let known = cell.timing.acknowledged(slot);
        dl.transmit(
            &mut self.dl,
            process,
            block,
            &cell.schemes,
            &seen.sinr_db,
            known,
        );
        let due = cell.timing.decoded_by_ue(slot);
        let to = Port::Ue(self.index);
        while let Some(packet) = self.dl.depart(due) {
            out.extend([Delivery::new(to, packet, due)]);
        }
    }
}

fn downlink_mcs(serving: &Serving, cell: &Cell) -> Option<u8> {
    let report = serving.csi.in_force().filter(|report| report.cqi > 0)?;
    let believed_db = cell.cqi_table.sinr_db(report.cqi);
    Some(serving.dl.adaptation.choose(&cell.schemes, believed_db))
}

fn idle_downlink(serving: &mut Serving, cell: &Cell, room: Room) -> Capacity {
    let Some(report) = serving.csi.in_force() else {
        return Capacity::default();
    };
    let believed_db = cell.cqi_table.sinr_db(report.cqi.max(1));
    serving
        .dl
        .idle_capacity(room, serving.csi.version(), |adaptation| {
            let mcs = adaptation.settled(&cell.schemes, believed_db);
            cell.expected(mcs, room, report.sinr_db)
        })
}
