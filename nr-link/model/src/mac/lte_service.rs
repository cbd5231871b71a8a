// SPDX-License-Identifier: Apache-2.0
//! A UE whose bearer LTE serves (EN-DC): what NR had in transmission at a change, and the bytes that LTE carries.

use super::bearer::Bearer;
use super::cell::Cell;
use super::grants::{Content, Grant};
use super::harq::Block;
use super::lte_leg::{Change as LegChange, Legs};
use super::ue::Ue;
use crate::counters::Capacity;
use crate::headers::SHORTEST_SEGMENT_BYTES;
use crate::scenario::Leg;
use crate::{Direction, Nanos};

impl<T> Ue<T> {
    /// Runs the changes of the leg until a slot that starts at `now`; returns the one that happened.
    pub fn change_leg(&mut self, cell: &Cell, now: Nanos) -> Option<LegChange> {
        let change = self.legs.as_mut()?.advance(now)?;
        if let LegChange::Leaves { to: Leg::Lte, .. } = change {
            self.leave_nr(cell, now);
        }
        Some(change)
    }

    /// Resets MAC, as the cell group of NR is released (TS 38.331 clause 5.3.5.4). In acknowledged mode PDCP recovers the
    /// data (TS 38.323 clause 5.5): what the receiver lacks is sent over the other leg; in unacknowledged mode it is lost.
    fn leave_nr(&mut self, cell: &Cell, now: Nanos) {
        for serving in &mut self.serving {
            for block in serving.dl.harq.flush() {
                recover(&block, &mut self.dl, &mut self.ul, now);
            }
            for block in serving.ul.harq.flush() {
                recover(&block, &mut self.ul, &mut self.dl, now);
            }
        }
        self.reset_mac(&cell.radio);
    }

    /// Ends a grant of NR that was not used yet; returns false.
    pub fn lose_grant(&mut self, grant: &Grant, now: Nanos) -> bool {
        if let Content::Retransmission(block) = &grant.content
            && !block.received
        {
            recover(block, &mut self.ul, &mut self.dl, now);
        }
        false
    }

    /// Carries what LTE has offered since the slot before; returns whether LTE serves the UE, which it does in RRC_CONNECTED.
    pub fn serve_by_lte(&mut self, cell: &Cell, now: Nanos) -> bool {
        let is_connected = self.is_connected();
        let Some(legs) = self.legs.as_deref_mut() else {
            return false;
        };
        let serves = is_connected && legs.serving() == Some(Leg::Lte);
        for direction in Direction::BOTH {
            let offered = legs.offer(direction, now);
            if serves {
                let (own, opposite) = match direction {
                    Direction::Downlink => (&mut self.dl, &mut self.ul),
                    Direction::Uplink => (&mut self.ul, &mut self.dl),
                };
                carry(legs, offered, own, opposite, direction, cell, now);
            } else {
                // Also what LTE supplies while it would serve a UE that is not in RRC_CONNECTED.
                legs.take(direction, 0, true);
            }
        }
        serves
    }
}

/// Takes a block of NR that nobody receives any more: PDCP recovers its data, and its status report is lost.
fn recover<T>(block: &Block, own: &mut Bearer<T>, opposite: &mut Bearer<T>, now: Nanos) {
    own.rlc.recover(block.span, now);
    if let Some(status) = block.status {
        opposite.rlc.status_arrived(status, None);
    }
}

/// Carries `offered` bytes of a direction: the status report on what came in the opposite direction, then data.
fn carry<T>(
    legs: &mut Legs,
    offered: u64,
    bearer: &mut Bearer<T>,
    opposite: &mut Bearer<T>,
    direction: Direction,
    cell: &Cell,
    now: Nanos,
) {
    let arrives = now + legs.delay(direction);
    let mut left = u32::try_from(offered).unwrap_or(u32::MAX);
    let totals = &mut bearer.counters.totals;
    let (mut carried, mut carried_sdu) = (0, 0);
    if let Some((status, bytes)) = opposite.rlc.take_status(left, now) {
        opposite.rlc.status_arrived(status, Some(arrives));
        left -= bytes;
        carried += bytes;
        totals.scheduled_bytes += u64::from(bytes);
        totals.bytes += u64::from(bytes);
        totals.header_bytes += u64::from(bytes);
    }
    while let Some(payload) = bearer.rlc.fill(left, SHORTEST_SEGMENT_BYTES, now) {
        left -= payload.bytes();
        carried += payload.bytes();
        carried_sdu += payload.span.bytes();
        totals.scheduled_bytes += u64::from(payload.bytes());
        totals.bytes += u64::from(payload.bytes());
        totals.header_bytes += u64::from(payload.header_bytes);
        bearer
            .rlc
            .receive(payload.span, payload.polls, arrives, arrives);
    }
    let is_empty = bearer.rlc.next_bytes(now) == 0;
    legs.take(direction, carried.into(), is_empty);
    let unused = if is_empty { f64::from(left) } else { 0.0 };
    bearer.counters.add_unused_capacity(Capacity {
        bytes: f64::from(carried) + unused,
        sdu_bytes: f64::from(carried_sdu) + cell.ip_bytes(unused),
    });
}
