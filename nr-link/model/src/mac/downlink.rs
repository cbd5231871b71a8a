// SPDX-License-Identifier: Apache-2.0
//! One UE's share of a downlink slot.

use super::cell::{Capacity, Cell, Room};
use super::csi::per_layer;
use super::harq::{Block, Feedback};
use super::ue::{IdleCapacity, Ue};
use crate::{Delivery, Direction, Port};

const DOWN: Direction = Direction::Downlink;

impl<T> Ue<T> {
    /// Takes what it needs of `room`: a retransmission first, else new data. Packets that become
    /// complete go to `out`. Returns the PRBs taken.
    pub fn downlink(
        &mut self,
        cell: &Cell,
        slot: u64,
        room: Room,
        out: &mut impl Extend<Delivery<T>>,
    ) -> u16 {
        self.learn_downlink(cell, slot);
        let fits = |block: &Block| block.prb <= room.prb && block.re_per_prb <= room.re_per_prb;
        if let Some((process, block)) = self.dl.harq.take_failed(fits) {
            self.send_down(cell, slot, process, block, out);
            return block.prb;
        }
        let Some(mcs) = self.downlink_mcs(cell).filter(|_| self.dl.harq.has_free()) else {
            return 0;
        };
        let start = cell.timing.start(slot);
        let wanted = self.dl.rlc.next_bytes(start);
        if wanted == 0 {
            let Capacity { bytes, sdu_bytes } = self.idle_downlink(cell, mcs, room);
            self.dl.account.totals.capacity_bytes += bytes;
            self.dl.account.totals.capacity_sdu_bytes += sdu_bytes;
            return 0;
        }
        let full = cell.block_bytes(mcs, room);
        let taken = cell.narrowest(mcs, room, wanted);
        let bytes = cell.block_bytes(mcs, taken);
        let Some(payload) = self.dl.rlc.fill(bytes, start) else {
            return 0;
        };
        let Some(process) = self.dl.harq.reserve() else {
            return 0;
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
        self.send_down(cell, slot, process, block, out);
        taken.prb
    }

    fn learn_downlink(&mut self, cell: &Cell, slot: u64) {
        while let Some(feedback) = self.dl.learn(&cell.schemes, slot) {
            if let Feedback::GivenUp(block) = feedback {
                let delay = cell.timing.report_delay(slot);
                self.dl.give_up(&block, cell.timing.start(slot), delay);
            }
        }
        self.dl.rlc.expire(cell.timing.start(slot));
    }

    /// None while no report is in force or the last was out of range (CQI 0).
    fn downlink_mcs(&self, cell: &Cell) -> Option<u8> {
        let report = self.csi.in_force().filter(|report| report.cqi > 0)?;
        Some(
            self.dl
                .outer_loop
                .choose(&cell.schemes, cell.cqi_table.sinr_db(report.cqi)),
        )
    }

    fn send_down(
        &mut self,
        cell: &Cell,
        slot: u64,
        process: usize,
        block: Block,
        out: &mut impl Extend<Delivery<T>>,
    ) {
        self.channel
            .observe(cell.timing.start(slot), &mut self.seen);
        per_layer(&mut self.seen.sinr_db, cell.layer_db(DOWN));
        let known = cell.timing.acknowledged(slot);
        self.dl
            .transmit(process, block, &cell.schemes, &self.seen.sinr_db, known);
        let due = cell.timing.decoded_by_ue(slot);
        let to = Port::Ue(self.index);
        while let Some(packet) = self.dl.depart(due) {
            out.extend([Delivery::new(to, packet, due)]);
        }
    }

    fn idle_downlink(&mut self, cell: &Cell, mcs: u8, room: Room) -> Capacity {
        let versions = (self.csi.version(), self.dl.outer_loop.version());
        match self.idle_dl {
            Some(kept) if kept.room == room && kept.versions == versions => kept.capacity,
            _ => {
                let sinr_db = self
                    .csi
                    .in_force()
                    .map_or(f64::NEG_INFINITY, |report| report.sinr_db);
                let capacity = cell.expected(mcs, room, sinr_db);
                self.idle_dl = Some(IdleCapacity {
                    room,
                    versions,
                    capacity,
                });
                capacity
            }
        }
    }
}
