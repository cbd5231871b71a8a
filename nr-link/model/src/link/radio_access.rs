// SPDX-License-Identifier: Apache-2.0
//! Radio access, slot by slot: arrivals, downlink, grants, uplink, scheduling requests.
//!
//! Each component carrier has its own slots and schedulers. Retransmissions come first, then the UEs in the scheduler's
//! order: each takes the PRBs that it needs, the next one takes from the rest.

use std::collections::VecDeque;

use super::endpoints::Endpoints;
use super::mobile::{Mobile, mobiles};
use super::source::UeRadio;
use crate::config::{PerDirection, RadioConfig, ResolvedConfig};
use crate::delays::Part;
use crate::ids::{CarrierId, CellId, UeId};
use crate::mac::bearer::Bearer;
use crate::mac::cell::{Cell, CellSlot};
use crate::mac::grants::Grant;
use crate::mac::lte_leg::{Change as LegChange, Legs, LteLeg};
use crate::mac::pdu::MacPdu;
use crate::mac::scheduler::Scheduler;
use crate::mac::ue::Ue;
use crate::packet::UePacket;
use crate::radio_events::RadioEvent;
use crate::rrc::Connection;
use crate::samples::MacSample;
use crate::time::{Slot, earlier};
use crate::{Direction, Nanos, Packet};

/// The parts of a packet's delay: all but that of a real radio, which states no reasons.
pub(super) const PARTS: &[Part] = {
    let [modelled @ .., Part::Radio] = &Part::ALL else {
        panic!("Part::Radio is the last")
    };
    modelled
};

#[derive(Debug)]
pub(super) struct RadioAccess<T> {
    pub(super) cell: Cell,
    pub(super) ues: Vec<Ue<T>>,
    /// The UEs' connections and their data among several cells; empty with one cell.
    pub(super) mobiles: Vec<Mobile<T>>,
    pub(super) events: Vec<RadioEvent>,
    carriers: usize,
    /// One entry for each cell and carrier, those of the first cell first.
    schedulers: Vec<PerDirection<Scheduler>>,
    /// One entry for each carrier, in order of slots.
    pub(super) grants: Vec<VecDeque<Grant>>,
    next_tick: u64,
    /// Whether each UE has a retransmission in this slot. Kept so that no slot allocates memory.
    retransmits: Vec<bool>,
    /// Whether buffers account for why packets wait.
    explains: bool,
}

impl<T> RadioAccess<T> {
    /// Makes the access link with the radio of each UE, and the LTE legs of the first UEs.
    pub fn new(
        config: &ResolvedConfig,
        radio: &RadioConfig,
        radios: Vec<UeRadio>,
        legs: Vec<Option<LteLeg>>,
    ) -> Self {
        let cells = radios.first().map_or(1, |radio| radio.channels.len());
        let prescribed: Vec<_> = radios
            .iter()
            .map(|radio| radio.prescribed.clone())
            .collect();
        let ues = radios
            .into_iter()
            .enumerate()
            .map(|(index, own)| Ue::new(UeId(index), config, radio, own.channels));
        let mut ues: Vec<_> = ues.collect();
        for (ue, leg) in ues.iter_mut().zip(legs) {
            ue.legs = leg.map(|leg| Box::new(Legs::new(leg)));
        }
        let cell = Cell::new(radio, config.mtu_bytes);
        let scheduler = |carrier, direction| {
            let quantum = cell.whole_slot(carrier, direction).size();
            Scheduler::new(radio.scheduler, ues.len(), quantum)
        };
        let carriers = radio.carriers.len();
        let of_cells = (0..cells).flat_map(|_| CarrierId::all(carriers));
        let schedulers = of_cells.map(|carrier| PerDirection {
            dl: scheduler(carrier, Direction::Downlink),
            ul: scheduler(carrier, Direction::Uplink),
        });
        let mut access = Self {
            schedulers: schedulers.collect(),
            carriers,
            mobiles: mobiles(radio, &ues, prescribed),
            events: Vec::new(),
            cell,
            grants: radio.carriers.iter().map(|_| VecDeque::new()).collect(),
            next_tick: 0,
            retransmits: vec![false; ues.len()],
            explains: false,
            ues,
        };
        access.select_cells();
        for index in 0..access.ues.len() {
            if let Some(cell) = access.ues[index].cell {
                access.attach(cell, UeId(index));
            }
        }
        access
    }

    /// Returns the schedulers of a cell, one for each carrier.
    pub(super) fn cell_schedulers(&mut self, cell: CellId) -> &mut [PerDirection<Scheduler>] {
        let first = cell.0 * self.carriers;
        &mut self.schedulers[first..first + self.carriers]
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.schedulers.len() / self.carriers
    }

    /// Removes the events since the last call.
    pub fn events(&mut self) -> Vec<RadioEvent> {
        std::mem::take(&mut self.events)
    }

    /// Begins to account for why packets wait.
    pub fn explain(&mut self) {
        self.explains = true;
        let timing = &self.cell.timing;
        for ue in &mut self.ues {
            ue.dl.rlc.explain(timing.gnb_ahead());
            ue.ul.rlc.explain(timing.ue_ahead());
        }
    }

    /// Begins to record the blocks that arrive.
    pub fn record_pdus(&mut self) {
        for ue in &mut self.ues {
            ue.dl.pdus = Some(Vec::new());
            ue.ul.pdus = Some(Vec::new());
        }
    }

    /// Removes the blocks that have arrived, in order of their slots.
    pub fn pdus(&mut self) -> Vec<MacPdu> {
        let bearers = self.ues.iter_mut().flat_map(|ue| [&mut ue.dl, &mut ue.ul]);
        let recorded = bearers.filter_map(|bearer| bearer.pdus.as_mut());
        let mut pdus: Vec<_> = recorded.flat_map(|pdus| pdus.drain(..)).collect();
        pdus.sort_by_key(|pdu| pdu.received.at);
        pdus
    }

    pub fn bearer(&self, ue: UeId, direction: Direction) -> &Bearer<T> {
        match direction {
            Direction::Downlink => &self.ues[ue.0].dl,
            Direction::Uplink => &self.ues[ue.0].ul,
        }
    }

    pub fn bearer_mut(&mut self, ue: UeId, direction: Direction) -> &mut Bearer<T> {
        match direction {
            Direction::Downlink => &mut self.ues[ue.0].dl,
            Direction::Uplink => &mut self.ues[ue.0].ul,
        }
    }

    /// Schedules so many PRBs of the primary carrier from now on.
    pub fn schedule(&mut self, prb: u16) {
        self.cell.schedule(prb);
    }

    /// Returns the start of the next slot of any carrier.
    fn next_slot(&self) -> Nanos {
        self.next_tick * self.tick_length()
    }

    /// Returns when the next event is: a slot, or a packet that enters the path.
    pub fn next(&self, ends: &Endpoints<T>) -> Nanos {
        let slot = self.next_slot();
        ends.from_gnb.next().map_or(slot, |leaves| leaves.min(slot))
    }

    /// Returns when the next event is, without slots that have nothing to transmit.
    pub fn next_work(&self, ends: &Endpoints<T>) -> Option<Nanos> {
        let busy = !ends.from_ues.is_empty()
            || self.grants.iter().any(|grants| !grants.is_empty())
            || self.ues.iter().any(|ue| !ue.is_idle())
            || self
                .mobiles
                .iter()
                .any(|mobile| !mobile.forwarding.is_idle());
        let slot = match (busy, ends.path_dl.next()) {
            (true, _) => Some(self.next_slot()),
            (false, Some(arrives)) => {
                let length = self.tick_length();
                let admitted = arrives + self.cell.timing.gnb_ahead();
                Some((admitted.div_ceil(length) * length).max(self.next_slot()))
            }
            (false, None) => None,
        };
        earlier(ends.from_gnb.next(), slot)
    }

    /// Runs the events at `now`.
    pub fn run(&mut self, now: Nanos, ends: &mut Endpoints<T>) {
        while let Some((left, packet)) = ends.from_gnb.pop(now) {
            let counters = &mut self.ues[packet.ue.0].ul.counters;
            counters.count_path(left, ends.path_ul.enter(packet, left));
        }
        if self.next_slot() == now {
            self.run_slot(now, ends);
        }
    }

    /// Runs the slots of all carriers that start now.
    fn run_slot(&mut self, start: Nanos, ends: &mut Endpoints<T>) {
        let tick = self.next_tick;
        self.next_tick += 1;
        self.admit(start, ends);
        for index in 0..self.ues.len() {
            self.run_timers(index, start, ends);
        }
        self.run_connections(start);
        for index in 0..self.ues.len() {
            self.run_ue(index, start, ends);
            self.ues[index].measure(&self.cell, start, tick);
        }
        for index in 0..self.schedulers.len() {
            if let Some(slot) = self.cell.timing.slot_at(self.carrier(index), tick) {
                self.serve_downlink(index, slot, ends);
            }
        }
        for nth in 0.. {
            let mut any = false;
            for index in 0..self.schedulers.len() {
                any |= self.grant_uplink(index, tick, nth, ends);
            }
            if !any {
                break;
            }
        }
        for carrier in CarrierId::all(self.carriers) {
            if let Some(slot) = self.cell.timing.slot_at(carrier, tick) {
                self.serve_uplink(carrier, slot, ends);
            }
        }
        let timing = &self.cell.timing;
        let primary = timing.slot_at(CarrierId::PRIMARY, tick);
        if let Some(slot) = primary.filter(|&slot| timing.carries_pucch(slot)) {
            for ue in &mut self.ues {
                ue.request(&self.cell, slot);
            }
        }
        if self.explains {
            self.explain_slot(start, tick);
        }
    }

    /// Runs the timers of a UE up to a slot that starts at `now`.
    fn run_timers(&mut self, index: usize, now: Nanos, ends: &mut Endpoints<T>) {
        let (ue, events) = (&mut self.ues[index], &mut self.events);
        if ue.expire(now) {
            ue.depart_downlink(&mut ends.to_ues);
            ue.depart_uplink(&mut ends.from_gnb);
        }
        let connection = self.mobiles.get(index).map(|mobile| &mobile.connection);
        let moves = connection.is_some_and(Connection::is_changing);
        let is_released = ue.act(now, moves, |at, ue, cell, change| {
            events.push(change.event(at, ue, cell));
        });
        if is_released {
            ue.release(&self.cell.radio, now);
            self.drop_grants(UeId(index));
        }
    }

    /// Drops the grants of a UE whose MAC is reset.
    pub(super) fn drop_grants(&mut self, ue: UeId) {
        for grants in &mut self.grants {
            grants.retain(|grant| grant.ue != ue);
        }
    }

    /// Runs the beam and the leg of a UE up to a slot that starts at `now`.
    fn run_ue(&mut self, index: usize, now: Nanos, ends: &mut Endpoints<T>) {
        let (ue, events) = (&mut self.ues[index], &mut self.events);
        let id = ue.id;
        if let Some(kind) = ue.change_beam(now) {
            events.push(RadioEvent {
                time: now,
                ue: id,
                kind,
            });
        }
        if let Some(change) = ue.change_leg(&self.cell, now) {
            events.push(change.event(now, id));
            if let LegChange::Leaves { .. } = change {
                for grants in &mut self.grants {
                    grants.retain(|grant| grant.ue != id || ue.lose_grant(grant, now));
                }
            }
        }
        self.follow_service(index, now);
        let ue = &mut self.ues[index];
        if ue.serve_by_lte(&self.cell, now) {
            ue.depart_downlink(&mut ends.to_ues);
            ue.depart_uplink(&mut ends.from_gnb);
        }
    }

    /// Ends the slots of all carriers that start now in the accounts of why packets wait.
    fn explain_slot(&mut self, start: Nanos, tick: u64) {
        let carries_data = CarrierId::all(self.carriers).any(|carrier| {
            let slot = self.cell.timing.slot_at(carrier, tick);
            let free = |slot| self.cell.resources(carrier, slot, Direction::Uplink);
            slot.and_then(free).is_some()
        });
        for ue in &mut self.ues {
            if let Some(reason) = ue.absence(start) {
                ue.dl.rlc.buffer.note(reason);
                ue.ul.rlc.buffer.note(reason);
            }
            let uplink = ue.uplink_wait(start, carries_data);
            ue.dl.rlc.buffer.end_slot(start, Part::Slot);
            ue.ul.rlc.buffer.end_slot(start, uplink);
        }
    }

    /// Returns the carrier of a scheduler.
    fn carrier(&self, scheduler: usize) -> CarrierId {
        CarrierId(scheduler % self.carriers)
    }

    /// Returns one sample for each UE.
    pub fn sample(&mut self, start: Nanos, end: Nanos) -> impl Iterator<Item = MacSample> {
        let (cell, has_legs) = (&self.cell, self.has_legs());
        let mobiles = &self.mobiles;
        let samples = self.ues.iter_mut();
        samples.map(move |ue| {
            let mobile = mobiles.get(ue.id.0);
            let connection = mobile.map(|mobile| &mobile.connection);
            MacSample::for_ue(ue, cell, has_legs, connection, start, end)
        })
    }

    pub fn packets(&self, ue: UeId, direction: Direction) -> impl Iterator<Item = &Packet<T>> {
        let down = direction == Direction::Downlink;
        let mobile = self.mobiles.get(ue.0).filter(|_| down);
        let forwarded = mobile
            .into_iter()
            .flat_map(|mobile| mobile.forwarding.packets());
        self.bearer(ue, direction).rlc.packets().chain(forwarded)
    }

    /// Returns whether UEs have a leg of LTE.
    pub fn has_legs(&self) -> bool {
        self.ues.iter().any(|ue| ue.legs.is_some())
    }

    /// Returns whether UEs have DRX or RRC states.
    pub fn has_activity(&self) -> bool {
        self.ues.iter().any(|ue| ue.activity.is_some())
    }

    pub fn ues(&self) -> usize {
        self.ues.len()
    }

    /// Returns the number of slots run, of the carrier with the shortest slots.
    pub fn ticks(&self) -> u64 {
        self.next_tick
    }

    /// Returns the length of the shortest slot.
    pub fn tick_length(&self) -> Nanos {
        self.cell.timing.tick
    }

    /// Moves packets that are in time for the slot that starts at `start` into the RLC buffers.
    fn admit(&mut self, start: Nanos, ends: &mut Endpoints<T>) {
        let timing = &self.cell.timing;
        let (by_gnb, by_ue) = (timing.gnb_ahead(), timing.ue_ahead());
        if let Some(decided) = start.checked_sub(by_gnb) {
            self.admit_downlink(decided, ends);
        }
        if let Some(decided) = start.checked_sub(by_ue) {
            self.admit_uplink(decided, ends);
        }
    }

    fn admit_downlink(&mut self, by: Nanos, ends: &mut Endpoints<T>) {
        while let Some((arrived, UePacket { ue, packet })) = ends.path_dl.leave(by) {
            match self.mobiles.get_mut(ue.0) {
                None => self.ues[ue.0].dl.rlc.buffer.offer(packet, arrived),
                Some(mobile) => mobile.admit(&mut self.ues[ue.0], packet, arrived),
            }
        }
        for (ue, mobile) in self.ues.iter_mut().zip(&mut self.mobiles) {
            mobile.receive(ue, by);
        }
    }

    fn admit_uplink(&mut self, by: Nanos, ends: &mut Endpoints<T>) {
        while let Some((arrived, UePacket { ue, packet })) = ends.from_ues.pop(by) {
            self.ues[ue.0].ul.rlc.buffer.offer(packet, arrived);
        }
    }

    fn serve_downlink(&mut self, scheduler: usize, slot: Slot, ends: &mut Endpoints<T>) {
        let carrier = self.carrier(scheduler);
        let Self {
            cell,
            ues,
            schedulers,
            retransmits,
            ..
        } = self;
        let Some(mut free) = cell.resources(carrier, slot, Direction::Downlink) else {
            return;
        };
        let at = CellSlot {
            cell,
            carrier,
            slot,
        };
        let (scheduler, received) = (&mut schedulers[scheduler].dl, &mut ends.to_ues);
        let (whole, least_prb) = (free.prb, cell.least_prb());
        for &UeId(ue) in scheduler.queue() {
            ues[ue].learn_downlink(at);
            let prb = ues[ue].retransmit_downlink(at, free);
            ues[ue].depart_downlink(received);
            free = free.after_retransmission(prb.unwrap_or(0)).unwrap_or(free);
            retransmits[ue] = prb.is_some();
            if retransmits[ue] {
                ues[ue].dl.rlc.buffer.note(Part::Blocked);
            }
        }
        let rate = |ue: UeId| ues[ue.0].downlink_bytes(cell, carrier, free);
        scheduler.sort(|ue| !retransmits[ue.0], rate);
        let mut index = 0;
        while let Some(ue) = scheduler.at(index).filter(|_| free.prb >= least_prb) {
            let allocated = ues[ue.0].send_new_downlink(at, free);
            ues[ue.0].note_downlink(allocated.prb, free.prb == whole);
            ues[ue.0].depart_downlink(received);
            free.prb -= allocated.prb;
            scheduler.allocated(ue, free.part(allocated.prb), allocated.bytes);
            index += 1;
        }
        while let Some(ue) = scheduler.at(index) {
            ues[ue.0].dl.rlc.buffer.note(Part::Priority);
            index += 1;
        }
        scheduler.end_slot();
    }

    /// Grants the `nth` of the uplink slots that the slot of the scheduler's carrier grants which starts with `tick`;
    /// returns false if there is none.
    fn grant_uplink(
        &mut self,
        scheduler: usize,
        tick: u64,
        nth: usize,
        ends: &mut Endpoints<T>,
    ) -> bool {
        let carrier = self.carrier(scheduler);
        let Self {
            cell,
            ues,
            schedulers,
            retransmits,
            grants,
            ..
        } = self;
        let timing = &cell.timing;
        let Some(slot) = timing.slot_at(carrier, tick) else {
            return false;
        };
        let Some(granted) = timing.granted(carrier, slot, nth) else {
            return false;
        };
        let Some(mut free) = cell.resources(carrier, granted, Direction::Uplink) else {
            return true;
        };
        let now = CellSlot {
            cell,
            carrier,
            slot,
        };
        let (scheduler, grants) = (&mut schedulers[scheduler].ul, &mut grants[carrier.0]);
        let (whole, least_prb) = (free.prb, cell.least_prb());
        for &UeId(ue) in scheduler.queue() {
            ues[ue].learn_uplink(now);
            ues[ue].depart_uplink(&mut ends.from_gnb);
            let grant = ues[ue].grant_retransmission(now, granted, free);
            retransmits[ue] = grant.is_some();
            let prb = grant.as_ref().map_or(0, Grant::prb);
            free = free.after_retransmission(prb).unwrap_or(free);
            if retransmits[ue] {
                ues[ue].note_grant(now, granted, grant.as_ref(), false);
            }
            grants.extend(grant);
        }
        let rate = |ue: UeId| ues[ue.0].uplink_bytes(cell, carrier, free);
        scheduler.sort(|ue| !retransmits[ue.0], rate);
        let mut index = 0;
        while let Some(ue) = scheduler.at(index).filter(|_| free.prb >= least_prb) {
            let grant = ues[ue.0].grant_new(now, granted, free);
            ues[ue.0].note_grant(now, granted, grant.as_ref(), free.prb == whole);
            if let Some(grant) = grant {
                free.prb -= grant.prb();
                scheduler.allocated(ue, free.part(grant.prb()), grant.new_bytes());
                grants.push_back(grant);
            }
            index += 1;
        }
        while let Some(ue) = scheduler.at(index) {
            ues[ue.0].note_grant(now, granted, None, false);
            index += 1;
        }
        scheduler.end_slot();
        true
    }

    fn serve_uplink(&mut self, carrier: CarrierId, slot: Slot, ends: &mut Endpoints<T>) {
        let grants = &mut self.grants[carrier.0];
        while grants.front().is_some_and(|grant| grant.slot == slot) {
            let Some(grant) = grants.pop_front() else {
                return;
            };
            let ue = &mut self.ues[grant.ue.0];
            ue.send_uplink(&self.cell, grant);
            ue.depart_uplink(&mut ends.from_gnb);
        }
    }
}
