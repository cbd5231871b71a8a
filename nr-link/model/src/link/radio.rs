// SPDX-License-Identifier: Apache-2.0
//! A link over radio, slot by slot: what comes in, downlink, grants, uplink, requests.
//!
//! UEs are served in turns: in slot n the n-th first (round robin over time), each takes what it
//! needs, the next what is left.

use std::collections::VecDeque;

use super::ends::Ends;
use crate::channel::Channel;
use crate::config::{RadioConfig, ResolvedConfig};
use crate::mac::bearer::Bearer;
use crate::mac::cell::Cell;
use crate::mac::grants::Grant;
use crate::mac::ue::Ue;
use crate::samples::MacSample;
use crate::{Direction, Nanos, Packet};

#[derive(Debug)]
pub(super) struct Radio<T> {
    cell: Cell,
    ues: Vec<Ue<T>>,
    grants: VecDeque<Grant>,
    next_slot: u64,
}

impl<T> Radio<T> {
    pub fn new(config: &ResolvedConfig, radio: &RadioConfig, channels: Vec<Channel>) -> Self {
        let ues = channels
            .into_iter()
            .enumerate()
            .map(|(index, channel)| Ue::new(index, config, radio, channel));
        Self {
            cell: Cell::new(radio, config.mtu_bytes),
            ues: ues.collect(),
            grants: VecDeque::new(),
            next_slot: 0,
        }
    }

    pub fn bearer(&self, ue: usize, direction: Direction) -> &Bearer<T> {
        match direction {
            Direction::Downlink => &self.ues[ue].dl,
            Direction::Uplink => &self.ues[ue].ul,
        }
    }

    pub fn bearer_mut(&mut self, ue: usize, direction: Direction) -> &mut Bearer<T> {
        match direction {
            Direction::Downlink => &mut self.ues[ue].dl,
            Direction::Uplink => &mut self.ues[ue].ul,
        }
    }

    /// Start of the next slot.
    pub fn next(&self) -> Nanos {
        self.cell.timing.start(self.next_slot)
    }

    /// Start of the next slot that has anything to carry.
    pub fn next_work(&self, ends: &Ends<T>) -> Option<Nanos> {
        let busy = !ends.from_ues.is_empty()
            || !self.grants.is_empty()
            || self.ues.iter().any(|ue| !ue.is_idle());
        if busy {
            return Some(self.next());
        }
        let length = self.slot_length();
        let arrives = ends.path_dl.next()?;
        Some((arrives.div_ceil(length) * length).max(self.next()))
    }

    /// Runs the next slot.
    pub fn run(&mut self, ends: &mut Ends<T>) {
        let slot = self.next_slot;
        self.next_slot += 1;
        self.admit(slot, ends);
        let start = self.cell.timing.start(slot);
        for ue in &mut self.ues {
            ue.measure(&self.cell, slot, start);
        }
        self.serve_downlink(slot, ends);
        for at in self.cell.timing.granted(slot) {
            self.grant_uplink(slot, at);
        }
        self.serve_uplink(slot, ends);
        if self.cell.timing.kind(slot).carries_pucch() {
            for ue in &mut self.ues {
                ue.request(&self.cell, slot);
            }
        }
    }

    /// One sample for each UE.
    pub fn sample(&mut self, start: Nanos, end: Nanos) -> impl Iterator<Item = MacSample> {
        let cell = &self.cell;
        let samples = self.ues.iter_mut();
        samples.map(move |ue| MacSample::of_ue(ue, cell, start, end))
    }

    pub fn packets(&self, ue: usize, direction: Direction) -> impl Iterator<Item = &Packet<T>> {
        self.bearer(ue, direction).rlc.packets()
    }

    pub fn ues(&self) -> usize {
        self.ues.len()
    }

    pub fn slots(&self) -> u64 {
        self.next_slot
    }

    pub fn slot_length(&self) -> Nanos {
        self.cell.timing.slot
    }

    /// Packets that have come by the start of the slot enter the RLC buffers.
    fn admit(&mut self, slot: u64, ends: &mut Ends<T>) {
        let start = self.cell.timing.start(slot);
        while let Some((arrived, (ue, packet))) = ends.path_dl.leave(start) {
            self.ues[ue].dl.rlc.buffer.offer(packet, arrived);
        }
        while let Some((arrived, (ue, packet))) = ends.from_ues.pop(start) {
            self.ues[ue].ul.rlc.buffer.offer(packet, arrived);
        }
    }

    fn serve_downlink(&mut self, slot: u64, ends: &mut Ends<T>) {
        let Some(mut room) = self.cell.room(slot, Direction::Downlink) else {
            return;
        };
        for index in turns(slot, self.ues.len()) {
            room.prb -= self.ues[index].downlink(&self.cell, slot, room, &mut ends.to_ues);
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

    fn serve_uplink(&mut self, slot: u64, ends: &mut Ends<T>) {
        let due = self.cell.timing.decoded_by_gnb(slot);
        while self.grants.front().is_some_and(|grant| grant.slot == slot) {
            let Some(grant) = self.grants.pop_front() else {
                return;
            };
            let path = &mut ends.path_ul;
            self.ues[grant.ue].send_up(&self.cell, grant, |ue, packet| {
                if let Err((_, lost)) = path.enter((ue.index, packet), due) {
                    ue.ul.account.path_loss(&lost);
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
