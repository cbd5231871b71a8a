// SPDX-License-Identifier: Apache-2.0
//! UEs that change their cell: what the connection of each decides is done to schedulers, HARQ and data.

use super::mobile::Mobile;
use super::radio_access::RadioAccess;
use crate::Nanos;
use crate::ids::{CellId, UeId};
use crate::rrc::{Action, Data};

impl<T> RadioAccess<T> {
    /// Lets each UE select its first cell, if there are several.
    pub(super) fn select_cells(&mut self) {
        for (ue, mobile) in self.ues.iter_mut().zip(&mut self.mobiles) {
            let cell = mobile.connection.select(&ue.surroundings);
            ue.join(&self.cell.radio, cell);
            self.events.extend(mobile.connection.events());
        }
    }

    /// Runs the connections of all UEs in the slot that starts at `now`.
    pub(super) fn run_connections(&mut self, now: Nanos) {
        for index in 0..self.mobiles.len() {
            let mut actions = Vec::new();
            let (ue, mobile) = (&mut self.ues[index], &mut self.mobiles[index]);
            let surroundings = &mut ue.surroundings;
            let act = |action| actions.push(action);
            mobile.connection.run(now, &self.cell, surroundings, act);
            for action in actions {
                self.act(index, action, now);
            }
            let mobile = &mut self.mobiles[index];
            if mobile.forwarding.ends(now) {
                self.events.push(mobile.data_forwarded(now, UeId(index)));
            }
            self.events.extend(mobile.connection.events());
        }
    }

    fn act(&mut self, index: usize, action: Action, now: Nanos) {
        let radio = &self.cell.radio;
        let (ue, mobile) = (&mut self.ues[index], &mut self.mobiles[index]);
        let data = match action {
            Action::Leave(data) => {
                if let Some(source) = ue.cell {
                    mobile.left = source;
                    self.detach(source, UeId(index));
                }
                self.ues[index].leave(&self.cell.radio);
                data
            }
            Action::Join(target, data) => {
                ue.join(radio, target);
                self.attach(target, UeId(index));
                data
            }
        };
        let (ue, mobile) = (&mut self.ues[index], &mut self.mobiles[index]);
        let config = &self.cell.radio.handover;
        let before = match data {
            Data::Stays => None,
            Data::CrossesXn => mobile.hand_over(ue, config, true, now),
            Data::IsThere => mobile.hand_over(ue, config, false, now),
            Data::Shared => {
                Mobile::keep_data(ue, now);
                None
            }
        };
        self.events.extend(before);
        if let Action::Join(target, _) = action {
            mobile.complete(target, now);
        }
    }

    pub(super) fn attach(&mut self, cell: CellId, ue: UeId) {
        for scheduler in self.cell_schedulers(cell) {
            scheduler.dl.attach(ue);
            scheduler.ul.attach(ue);
        }
    }

    fn detach(&mut self, cell: CellId, ue: UeId) {
        for scheduler in self.cell_schedulers(cell) {
            scheduler.dl.detach(ue);
            scheduler.ul.detach(ue);
        }
        for grants in &mut self.grants {
            grants.retain(|grant| grant.ue != ue);
        }
    }
}
