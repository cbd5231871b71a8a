// SPDX-License-Identifier: Apache-2.0
//! One UE's share of an uplink slot: the grant first, the transmission slots later.

use super::cell::{Capacity, Cell, Room};
use super::csi::Report;
use super::grants::{Content, Grant};
use super::harq::{Block, Feedback};
use super::power::{Power, uplink_snr};
use super::ue::{IdleCapacity, Ue};
use crate::headers::BUFFER_STATUS_BYTES;
use crate::{Direction, Packet};

const UP: Direction = Direction::Uplink;

/// An MCS on an allocation, and the SNR that it was chosen for.
#[derive(Debug, Clone, Copy)]
struct Choice {
    mcs: u8,
    room: Room,
    snr_db: f64,
}

impl<T> Ue<T> {
    /// In slot `now` the gNB decides what the UE sends in slot `at`, of which `room` is left.
    pub fn grant(&mut self, cell: &Cell, now: u64, at: u64, room: Room) -> Option<Grant> {
        self.learn_uplink(cell, now);
        let ue = self.index;
        let fits = |block: &Block| block.prb <= room.prb && block.re_per_prb <= room.re_per_prb;
        if let Some((process, block)) = self.ul.harq.take_failed(fits) {
            return Some(Grant {
                slot: at,
                ue,
                process,
                content: Content::Again(block),
            });
        }
        let report = *self.csi.in_force().filter(|_| self.ul.harq.has_free())?;
        let believed = self.buffer_status.believed(now);
        if believed == 0 {
            let Capacity { bytes, sdu_bytes } = self.idle_uplink(cell, &report, room);
            self.ul.account.totals.capacity_bytes += bytes;
            self.ul.account.totals.capacity_sdu_bytes += sdu_bytes;
            return None;
        }
        let widest = self.choose_uplink(cell, &report, room);
        let taken = self.narrowest_uplink(
            cell,
            &report,
            widest,
            believed + u64::from(BUFFER_STATUS_BYTES),
        );
        let bytes = cell.block_bytes(taken.mcs, taken.room);
        let full = f64::from(cell.block_bytes(widest.mcs, room).max(bytes));
        let full = Capacity {
            bytes: full,
            sdu_bytes: cell.ip_bytes(full),
        };
        let process = self.ul.harq.reserve()?;
        self.buffer_status.grant(at, u64::from(bytes));
        let content = Content::New {
            mcs: taken.mcs,
            room: taken.room,
            bytes,
            full,
        };
        Some(Grant {
            slot: at,
            ue,
            process,
            content,
        })
    }

    /// The UE sends what it was granted. Packets that become complete leave through `leave`.
    pub fn send_up(
        &mut self,
        cell: &Cell,
        grant: Grant,
        mut leave: impl FnMut(&mut Self, Packet<T>),
    ) {
        let block = match grant.content {
            Content::Again(block) => block,
            Content::New {
                mcs,
                room,
                bytes,
                full,
            } => self.build_up(cell, grant.slot, mcs, room, bytes, full),
        };
        self.observe_up(cell, grant.slot, block.prb);
        let known = cell.timing.used_by_gnb(grant.slot);
        let arrived = self.ul.transmit(
            grant.process,
            block,
            &cell.schemes,
            &self.seen.sinr_db,
            known,
        );
        if arrived {
            self.buffer_status
                .report(block.slot, block.buffer_status, known);
        }
        let due = cell.timing.decoded_by_gnb(grant.slot);
        while let Some(packet) = self.ul.depart(due) {
            leave(self, packet);
        }
    }

    /// The UE asks to be heard, if it has data that the gNB does not know of.
    pub fn request(&mut self, cell: &Cell, slot: u64) {
        if self.buffer_status.unannounced()
            && self.ul.rlc.backlog_bytes(cell.timing.start(slot)) > 0
        {
            self.buffer_status
                .request(slot, cell.timing.used_by_gnb(slot));
        }
    }

    fn build_up(
        &mut self,
        cell: &Cell,
        slot: u64,
        mcs: u8,
        room: Room,
        bytes: u32,
        full: Capacity,
    ) -> Block {
        let start = cell.timing.start(slot);
        let payload = self
            .ul
            .rlc
            .fill_or_nothing(bytes - BUFFER_STATUS_BYTES, start);
        let left = self.ul.rlc.backlog_bytes(start);
        self.buffer_status.announce(left);
        let header_bytes = payload.header_bytes + BUFFER_STATUS_BYTES;
        let unused = full.bytes - f64::from(payload.bytes());
        Block {
            span: payload.span,
            header_bytes,
            bytes,
            mcs,
            prb: room.prb,
            re_per_prb: room.re_per_prb,
            round: 0,
            sinr: 0.0,
            capacity_bytes: full.bytes,
            capacity_sdu_bytes: f64::from(payload.span.bytes()) + cell.ip_bytes(unused),
            slot,
            buffer_status: left,
        }
    }

    /// Leaves in `seen` the SNRs at the gNB.
    fn observe_up(&mut self, cell: &Cell, slot: u64, prb: u16) {
        let start = cell.timing.start(slot);
        self.channel.observe(start, &mut self.seen);
        let Some(report) = self.csi.in_force() else {
            return;
        };
        let power = Power::of(cell.radio.uplink, report, prb);
        self.gauges.headroom_db = Some(power.headroom_db);
        let noise_dbm = self.channel.noise_ul_dbm_per_re(start);
        uplink_snr(&mut self.seen, power, noise_dbm, cell.layer_db(UP));
    }

    fn learn_uplink(&mut self, cell: &Cell, slot: u64) {
        while let Some(feedback) = self.ul.learn(&cell.schemes, slot) {
            if let Feedback::GivenUp(block) = feedback {
                self.buffer_status.lose();
                let delay = cell.timing.report_delay(slot);
                self.ul.give_up(&block, cell.timing.start(slot), delay);
            }
        }
        self.ul.rlc.expire(cell.timing.start(slot));
    }

    fn choose_uplink(&self, cell: &Cell, report: &Report, room: Room) -> Choice {
        let power = Power::of(cell.radio.uplink, report, room.prb);
        let snr_db = power.expected_snr_db(report, cell.layer_db(UP));
        Choice {
            mcs: self.ul.outer_loop.choose(&cell.schemes, snr_db),
            room,
            snr_db,
        }
    }

    /// Fewer PRBs where they hold all that waits; with the power on fewer, the MCS may be higher.
    fn narrowest_uplink(&self, cell: &Cell, report: &Report, widest: Choice, bytes: u64) -> Choice {
        let room = cell.narrowest(widest.mcs, widest.room, bytes);
        let narrowed = self.choose_uplink(cell, report, room);
        Choice {
            room: cell.narrowest(narrowed.mcs, room, bytes),
            ..narrowed
        }
    }

    fn idle_uplink(&mut self, cell: &Cell, report: &Report, room: Room) -> Capacity {
        let versions = (self.csi.version(), self.ul.outer_loop.version());
        match self.idle_ul {
            Some(kept) if kept.room == room && kept.versions == versions => kept.capacity,
            _ => {
                let Choice { mcs, snr_db, .. } = self.choose_uplink(cell, report, room);
                let capacity = cell.expected(mcs, room, snr_db);
                self.idle_ul = Some(IdleCapacity {
                    room,
                    versions,
                    capacity,
                });
                capacity
            }
        }
    }
}
