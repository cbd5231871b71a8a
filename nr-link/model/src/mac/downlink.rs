// SPDX-License-Identifier: Apache-2.0
//! One UE's share of a downlink slot on one carrier.

use super::cell::{Capacity, Cell, Space};
use super::harq::{Block, Feedback};
use super::serving::{Outcome, Serving};
use super::ue::Ue;
use crate::link::OfUe;
use crate::timeline::Timeline;

/// What a slot gave to a UE.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Given {
    pub prb: u16,
    /// Of the transport block.
    pub bytes: u32,
}

impl<T> Ue<T> {
    /// The gNB learns what it can know by `slot`, and the UE gives up gaps whose time has come.
    pub fn learn_downlink(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        out: &mut Timeline<OfUe<T>>,
    ) {
        let start = cell.timing.start(carrier, slot);
        let half = &mut self.serving[carrier].dl;
        while let Some(feedback) = half.learn(&cell.schemes, slot, |_| false) {
            if let Feedback::GivenUp(block) = feedback {
                let missed = cell.timing.decoded_by_ue(carrier, block.slot);
                self.dl
                    .give_up(&block, missed, start, |at| cell.timing.status_of_ue(at));
            }
        }
        half.adaptation.come_to(&cell.schemes, slot);
        self.dl.rlc.expire(start);
        self.depart_down(out);
    }

    /// Bytes of a new block that takes all of `room`; 0 while no report is in force or the last
    /// was out of range (CQI 0).
    pub fn downlink_bytes(&self, cell: &Cell, carrier: usize, space: Space) -> u32 {
        downlink_choice(&self.serving[carrier], cell).map_or(0, |Choice { mcs, layers }| {
            cell.block_bytes(mcs, space.room(layers))
        })
    }

    /// Sends the longest waiting failed block that fits. Packets that become complete go to `out`.
    /// Returns the PRBs taken.
    pub fn send_down_again(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        space: Space,
        out: &mut Timeline<OfUe<T>>,
    ) -> Option<u16> {
        let (process, block) = self.serving[carrier].dl.harq.take_failed(space.fits())?;
        self.send_down(cell, carrier, slot, process, block, out);
        Some(block.prb)
    }

    /// Sends new data in as much of `space` as it needs. Packets that become complete go to `out`.
    pub fn send_down_new(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        space: Space,
        out: &mut Timeline<OfUe<T>>,
    ) -> Given {
        let serving = &mut self.serving[carrier];
        let choice = downlink_choice(serving, cell).filter(|_| serving.dl.harq.has_free());
        let Some(Choice { mcs, layers }) = choice else {
            return Given::default();
        };
        let room = space.room(layers);
        let start = cell.timing.start(carrier, slot);
        let wanted = self.dl.rlc.next_bytes(start);
        if wanted == 0 {
            let capacity = idle_downlink(serving, cell, space);
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
            layers,
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
        out: &mut Timeline<OfUe<T>>,
    ) {
        let Serving {
            channel, seen, dl, ..
        } = &mut self.serving[carrier];
        channel.observe(cell.timing.start(carrier, slot), seen);
        cell.layers.dl.divide(&mut seen.sinr_db, block.layers);
        let outcome = Outcome {
            decoded: cell.timing.decoded_by_ue(carrier, slot),
            known: cell.timing.acknowledged(carrier, slot),
        };
        dl.transmit(
            &mut self.dl,
            process,
            block,
            &cell.schemes,
            &seen.sinr_db,
            outcome,
        );
        self.depart_down(out);
    }

    /// What has become complete at the UE leaves.
    fn depart_down(&mut self, out: &mut Timeline<OfUe<T>>) {
        while let Some((left, packet)) = self.dl.depart() {
            out.push(left, (self.index, packet));
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
    let believed_db = cell.cqi_table.sinr_db(report.cqi);
    Some(Choice {
        mcs: serving.dl.adaptation.choose(&cell.schemes, believed_db),
        layers: report.rank.dl,
    })
}

fn idle_downlink(serving: &mut Serving, cell: &Cell, space: Space) -> Capacity {
    let Some(report) = serving.csi.in_force() else {
        return Capacity::default();
    };
    let room = space.room(report.rank.dl);
    let believed_db = cell.cqi_table.sinr_db(report.cqi.max(1));
    serving
        .dl
        .idle_capacity(room, serving.csi.version(), |adaptation| {
            let mcs = adaptation.settled(&cell.schemes, believed_db);
            cell.expected(mcs, room, report.sinr_db)
        })
}
