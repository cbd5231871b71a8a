// SPDX-License-Identifier: Apache-2.0
//! One slot of the whole cell: what comes in, downlink, grants, uplink, requests.
//!
//! UEs are served in turns: in slot n the n-th first (round robin over time), each takes what it
//! needs, the next what is left.

use super::Link;
use crate::Direction;

impl<T> Link<T> {
    pub(super) fn run_slot(&mut self, slot: u64) {
        self.admit(slot);
        let start = self.cell.timing.start(slot);
        for ue in &mut self.ues {
            ue.measure(&self.cell, slot, start);
        }
        self.serve_downlink(slot);
        for at in self.cell.timing.granted(slot) {
            self.grant_uplink(slot, at);
        }
        self.serve_uplink(slot);
        if self.cell.timing.kind(slot).carries_pucch() {
            for ue in &mut self.ues {
                ue.request(&self.cell, slot);
            }
        }
    }

    /// Packets that have come by the start of the slot enter the RLC buffers.
    fn admit(&mut self, slot: u64) {
        let start = self.cell.timing.start(slot);
        while let Some((arrived, (ue, packet))) = self.path_dl.leave(start) {
            self.ues[ue].dl.offer(packet, arrived);
        }
        while let Some((arrived, (ue, packet))) = self.from_ues.pop(start) {
            self.ues[ue].ul.offer(packet, arrived);
        }
    }

    fn serve_downlink(&mut self, slot: u64) {
        let Some(mut room) = self.cell.room(slot, Direction::Downlink) else {
            return;
        };
        for index in turns(slot, self.ues.len()) {
            room.prb -= self.ues[index].downlink(&self.cell, slot, room, &mut self.to_ues);
            if room.prb == 0 {
                return;
            }
        }
    }

    fn grant_uplink(&mut self, slot: u64, at: u64) {
        let Some(mut room) = self.cell.room(at, Direction::Uplink) else {
            return;
        };
        for index in turns(at, self.ues.len()) {
            if let Some(grant) = self.ues[index].grant(&self.cell, slot, at, room) {
                room.prb -= grant.prb();
                self.grants.push_back(grant);
            }
            if room.prb == 0 {
                return;
            }
        }
    }

    fn serve_uplink(&mut self, slot: u64) {
        let due = self.cell.timing.decoded_by_gnb(slot);
        while self.grants.front().is_some_and(|grant| grant.slot == slot) {
            let Some(grant) = self.grants.pop_front() else {
                return;
            };
            let path = &mut self.path_ul;
            self.ues[grant.ue].send_up(&self.cell, grant, |ue, packet| {
                if let Err((_, lost)) = path.enter((ue.index, packet), due) {
                    ue.ul.account.totals.path_losses += 1;
                    ue.ul.account.totals.path_lost_bytes += u64::from(lost.bytes);
                }
            });
        }
    }
}

/// Every UE once, the first one moving with the slot.
fn turns(slot: u64, ues: usize) -> impl Iterator<Item = usize> {
    let first = (slot % ues as u64) as usize;
    (first..ues).chain(0..first)
}
