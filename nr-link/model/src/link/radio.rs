// SPDX-License-Identifier: Apache-2.0
//! A link over radio, slot by slot: what comes in, downlink, grants, uplink, requests.
//!
//! Each component carrier has its own schedulers. What is to be sent again goes first; then UEs in
//! the scheduler's order, each takes what it needs, the next what is left.

use std::collections::VecDeque;

use super::ends::Ends;
use crate::channel::Channel;
use crate::config::{PerDirection, RadioConfig, ResolvedConfig};
use crate::mac::bearer::Bearer;
use crate::mac::cell::Cell;
use crate::mac::grants::Grant;
use crate::mac::scheduler::{Scheduler, turns};
use crate::mac::ue::Ue;
use crate::samples::MacSample;
use crate::{Direction, Nanos, Packet};

#[derive(Debug)]
pub(super) struct Radio<T> {
    cell: Cell,
    ues: Vec<Ue<T>>,
    /// One of each direction for each carrier.
    schedulers: Vec<PerDirection<Scheduler>>,
    grants: VecDeque<Grant>,
    next_slot: u64,
    /// UEs that have what is to be sent again in this slot. Kept, so that no slot allocates.
    busy: Vec<bool>,
}

impl<T> Radio<T> {
    /// With the channels of each UE, one for each carrier.
    pub fn new(config: &ResolvedConfig, radio: &RadioConfig, channels: Vec<Vec<Channel>>) -> Self {
        let ues = channels
            .into_iter()
            .enumerate()
            .map(|(index, channels)| Ue::new(index, config, radio, channels));
        let ues: Vec<_> = ues.collect();
        let schedulers = radio.carriers.iter().map(|_| PerDirection {
            dl: Scheduler::new(radio.scheduler, ues.len()),
            ul: Scheduler::new(radio.scheduler, ues.len()),
        });
        Self {
            cell: Cell::new(radio, config.mtu_bytes),
            schedulers: schedulers.collect(),
            grants: VecDeque::new(),
            next_slot: 0,
            busy: vec![false; ues.len()],
            ues,
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
        for carrier in 0..self.schedulers.len() {
            self.serve_downlink(carrier, slot, ends);
        }
        let mut nth = 0;
        while let Some(at) = self.cell.timing.granted(slot, nth) {
            for carrier in 0..self.schedulers.len() {
                self.grant_uplink(carrier, slot, at);
            }
            nth += 1;
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

    fn serve_downlink(&mut self, carrier: usize, slot: u64, ends: &mut Ends<T>) {
        let Self {
            cell,
            ues,
            schedulers,
            busy,
            ..
        } = self;
        let Some(mut room) = cell.room(carrier, slot, Direction::Downlink) else {
            return;
        };
        let (scheduler, out) = (&mut schedulers[carrier].dl, &mut ends.to_ues);
        for ue in turns(slot, ues.len()) {
            ues[ue].learn_downlink(cell, carrier, slot);
            let again = ues[ue].send_down_again(cell, carrier, slot, room, out);
            room.prb -= again.unwrap_or(0);
            busy[ue] = again.is_some();
        }
        let rate = |ue: usize| ues[ue].downlink_bytes(cell, carrier, room);
        scheduler.sort(slot, |ue| !busy[ue], rate);
        let mut place = 0;
        while let Some(ue) = scheduler.at(place).filter(|_| room.prb > 0) {
            let given = ues[ue].send_down_new(cell, carrier, slot, room, out);
            room.prb -= given.prb;
            scheduler.give(ue, given.bytes);
            place += 1;
        }
        scheduler.end();
    }

    fn grant_uplink(&mut self, carrier: usize, slot: u64, at: u64) {
        let Self {
            cell,
            ues,
            schedulers,
            busy,
            grants,
            ..
        } = self;
        let Some(mut room) = cell.room(carrier, at, Direction::Uplink) else {
            return;
        };
        let scheduler = &mut schedulers[carrier].ul;
        for ue in turns(at, ues.len()) {
            ues[ue].learn_uplink(cell, carrier, slot);
            let again = ues[ue].grant_again(carrier, at, room);
            busy[ue] = again.is_some();
            room.prb -= again.as_ref().map_or(0, Grant::prb);
            grants.extend(again);
        }
        let rate = |ue: usize| ues[ue].uplink_bytes(cell, carrier, room);
        scheduler.sort(at, |ue| !busy[ue], rate);
        let mut place = 0;
        while let Some(ue) = scheduler.at(place).filter(|_| room.prb > 0) {
            if let Some(grant) = ues[ue].grant_new(cell, carrier, slot, at, room) {
                room.prb -= grant.prb();
                scheduler.give(ue, grant.new_bytes());
                grants.push_back(grant);
            }
            place += 1;
        }
        scheduler.end();
    }

    fn serve_uplink(&mut self, slot: u64, ends: &mut Ends<T>) {
        let due = self.cell.timing.decoded_by_gnb(slot);
        while self.grants.front().is_some_and(|grant| grant.slot == slot) {
            let Some(grant) = self.grants.pop_front() else {
                return;
            };
            let path = &mut ends.path_ul;
            self.ues[grant.ue].send_up(&self.cell, grant, |ue, packet| {
                let outcome = path.enter(ue.index, packet, due);
                ue.ul.account.entered_path(due, outcome);
            });
        }
    }
}
