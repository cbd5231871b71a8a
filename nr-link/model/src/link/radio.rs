// SPDX-License-Identifier: Apache-2.0
//! A link over radio, slot by slot: what comes in, downlink, grants, uplink, requests.
//!
//! Each component carrier has its own slots and schedulers. What is to be sent again goes first; then UEs in
//! the scheduler's order, each takes what it needs, the next what is left.

use std::collections::VecDeque;

use super::ends::Ends;
use crate::channel::Channel;
use crate::config::{PerDirection, RadioConfig, ResolvedConfig};
use crate::mac::bearer::Bearer;
use crate::mac::cell::Cell;
use crate::mac::grants::Grant;
use crate::mac::scheduler::Scheduler;
use crate::mac::ue::Ue;
use crate::samples::MacSample;
use crate::{Direction, Nanos, Packet};

#[derive(Debug)]
pub(super) struct Radio<T> {
    cell: Cell,
    ues: Vec<Ue<T>>,
    /// One of each direction for each carrier.
    schedulers: Vec<PerDirection<Scheduler>>,
    /// Of each carrier, by slot.
    grants: Vec<VecDeque<Grant>>,
    next_tick: u64,
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
        let cell = Cell::new(radio, config.mtu_bytes);
        let scheduler = |carrier, direction| {
            let quantum = cell.whole_slot(carrier, direction).size();
            Scheduler::new(radio.scheduler, ues.len(), quantum)
        };
        let schedulers = (0..radio.carriers.len()).map(|carrier| PerDirection {
            dl: scheduler(carrier, Direction::Downlink),
            ul: scheduler(carrier, Direction::Uplink),
        });
        Self {
            schedulers: schedulers.collect(),
            cell,
            grants: radio.carriers.iter().map(|_| VecDeque::new()).collect(),
            next_tick: 0,
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

    /// Start of the next slot of any carrier.
    fn next_slot(&self) -> Nanos {
        self.next_tick * self.tick_length()
    }

    /// When something happens next: a slot, or the path takes what the gNB has decoded.
    pub fn next(&self, ends: &Ends<T>) -> Nanos {
        let slot = self.next_slot();
        ends.from_gnb.next().map_or(slot, |leaves| leaves.min(slot))
    }

    /// The same, for slots that have anything to carry.
    pub fn next_work(&self, ends: &Ends<T>) -> Option<Nanos> {
        let busy = !ends.from_ues.is_empty()
            || self.grants.iter().any(|grants| !grants.is_empty())
            || self.ues.iter().any(|ue| !ue.is_idle());
        let slot = match (busy, ends.path_dl.next()) {
            (true, _) => Some(self.next_slot()),
            (false, Some(arrives)) => {
                let length = self.tick_length();
                Some((arrives.div_ceil(length) * length).max(self.next_slot()))
            }
            (false, None) => None,
        };
        ends.from_gnb.next().into_iter().chain(slot).min()
    }

    /// Runs what happens next, at `now`.
    pub fn run(&mut self, now: Nanos, ends: &mut Ends<T>) {
        while let Some((left, (ue, packet))) = ends.from_gnb.pop(now) {
            let outcome = ends.path_ul.enter(ue, packet, left);
            self.ues[ue].ul.account.entered_path(left, outcome);
        }
        if self.next_slot() == now {
            self.run_slot(now, ends);
        }
    }

    /// Runs the slots of all carriers that start now.
    fn run_slot(&mut self, start: Nanos, ends: &mut Ends<T>) {
        let tick = self.next_tick;
        self.next_tick += 1;
        self.admit(start, ends);
        for ue in &mut self.ues {
            ue.measure(&self.cell, tick);
        }
        for carrier in 0..self.schedulers.len() {
            if let Some(slot) = self.cell.timing.slot_at(carrier, tick) {
                self.serve_downlink(carrier, slot, ends);
            }
        }
        for nth in 0.. {
            let mut any = false;
            for carrier in 0..self.schedulers.len() {
                any |= self.grant_uplink(carrier, tick, nth, ends);
            }
            if !any {
                break;
            }
        }
        for carrier in 0..self.schedulers.len() {
            if let Some(slot) = self.cell.timing.slot_at(carrier, tick) {
                self.serve_uplink(carrier, slot, ends);
            }
        }
        let primary = self.cell.timing.slot_at(0, tick);
        if let Some(slot) = primary.filter(|&slot| self.cell.timing.kind(0, slot).carries_pucch()) {
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

    /// Slots run, of the carrier with the shortest.
    pub fn ticks(&self) -> u64 {
        self.next_tick
    }

    /// Length of the shortest slot.
    pub fn tick_length(&self) -> Nanos {
        self.cell.timing.tick
    }

    /// Packets that have come by the start of a slot enter the RLC buffers.
    fn admit(&mut self, start: Nanos, ends: &mut Ends<T>) {
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
        let Some(mut space) = cell.space(carrier, slot, Direction::Downlink) else {
            return;
        };
        let (scheduler, out) = (&mut schedulers[carrier].dl, &mut ends.to_ues);
        for &ue in scheduler.line() {
            ues[ue].learn_downlink(cell, carrier, slot, out);
            let again = ues[ue].send_down_again(cell, carrier, slot, space, out);
            space.prb -= again.unwrap_or(0);
            busy[ue] = again.is_some();
        }
        let rate = |ue: usize| ues[ue].downlink_bytes(cell, carrier, space);
        scheduler.sort(|ue| !busy[ue], rate);
        let mut place = 0;
        while let Some(ue) = scheduler.at(place).filter(|_| space.prb > 0) {
            let given = ues[ue].send_down_new(cell, carrier, slot, space, out);
            space.prb -= given.prb;
            scheduler.give(ue, space.part(given.prb), given.bytes);
            place += 1;
        }
        scheduler.end();
    }

    /// Grants the `nth` uplink slot that the slot of a carrier grants which begins with `tick`;
    /// false if there is none.
    fn grant_uplink(&mut self, carrier: usize, tick: u64, nth: usize, ends: &mut Ends<T>) -> bool {
        let Self {
            cell,
            ues,
            schedulers,
            busy,
            grants,
            ..
        } = self;
        let timing = &cell.timing;
        let Some(slot) = timing.slot_at(carrier, tick) else {
            return false;
        };
        let Some(at) = timing.granted(carrier, slot, nth) else {
            return false;
        };
        let Some(mut space) = cell.space(carrier, at, Direction::Uplink) else {
            return true;
        };
        let (scheduler, grants) = (&mut schedulers[carrier].ul, &mut grants[carrier]);
        for &ue in scheduler.line() {
            ues[ue].learn_uplink(cell, carrier, slot, &mut ends.from_gnb);
            let again = ues[ue].grant_again(carrier, at, space);
            busy[ue] = again.is_some();
            space.prb -= again.as_ref().map_or(0, Grant::prb);
            grants.extend(again);
        }
        let rate = |ue: usize| ues[ue].uplink_bytes(cell, carrier, space);
        scheduler.sort(|ue| !busy[ue], rate);
        let mut place = 0;
        while let Some(ue) = scheduler.at(place).filter(|_| space.prb > 0) {
            if let Some(grant) = ues[ue].grant_new(cell, carrier, slot, at, space) {
                space.prb -= grant.prb();
                scheduler.give(ue, space.part(grant.prb()), grant.new_bytes());
                grants.push_back(grant);
            }
            place += 1;
        }
        scheduler.end();
        true
    }

    fn serve_uplink(&mut self, carrier: usize, slot: u64, ends: &mut Ends<T>) {
        let grants = &mut self.grants[carrier];
        while grants.front().is_some_and(|grant| grant.slot == slot) {
            let Some(grant) = grants.pop_front() else {
                return;
            };
            self.ues[grant.ue].send_up(&self.cell, grant, &mut ends.from_gnb);
        }
    }
}
