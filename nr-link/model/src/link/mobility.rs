// SPDX-License-Identifier: Apache-2.0
//! UEs that change their cell: what the connection of each decides is done to schedulers, HARQ and data.

use super::mobile::Mobile;
use super::radio_access::RadioAccess;
use crate::Nanos;
use crate::ids::{CellId, UeId};
use crate::rrc::{Action, Air, Data};

impl<T> RadioAccess<T> {
    /// Lets each UE select its first cell, if there are several.
    pub(super) fn select_cells(&mut self) {
        for (ue, mobile) in self.ues.iter_mut().zip(&mut self.mobiles) {
            let cell = mobile.connection.select(&mut ue.surroundings);
            ue.join(&self.cell.radio, cell, 0);
            self.events.extend(mobile.connection.events());
        }
    }

    /// Runs the connections of all UEs in the slot that starts at `now`.
    pub(super) fn run_connections(&mut self, now: Nanos) {
        for index in 0..self.mobiles.len() {
            let mut actions = Vec::new();
            let (ue, mobile) = (&mut self.ues[index], &mut self.mobiles[index]);
            let air = Air {
                cell: &self.cell,
                surroundings: &mut ue.surroundings,
                activity: ue.activity.as_mut(),
                beams: ue.beams.as_deref(),
            };
            let act = |action| actions.push(action);
            mobile.connection.run(now, air, act);
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

    /// Lets the connection of a UE follow its RRC state and leg, as they are in the slot that starts at `now`.
    pub(super) fn follow_service(&mut self, index: usize, now: Nanos) {
        let Some(mobile) = self.mobiles.get_mut(index) else {
            return;
        };
        let mut actions = Vec::new();
        let service = self.ues[index].service();
        let act = |action| actions.push(action);
        mobile.connection.follow(service, act);
        for action in actions {
            self.act(index, action, now);
        }
    }

    fn act(&mut self, index: usize, action: Action, now: Nanos) {
        match action {
            Action::Leave(data) => {
                if let Some(source) = self.ues[index].cell {
                    self.mobiles[index].left = source;
                }
                self.leave(index);
                self.move_data(index, data, now);
            }
            Action::Join(target, data) => {
                self.ues[index].join(&self.cell.radio, target, now);
                self.attach(target, UeId(index));
                self.move_data(index, data, now);
                if data != Data::Kept {
                    self.mobiles[index].complete(target, now);
                }
            }
            Action::Reselect(target) => {
                self.leave(index);
                self.ues[index].camp(&self.cell.radio, target);
                self.attach(target, UeId(index));
            }
            Action::Resume => self.ues[index].resume(now),
            Action::Fetch { anchor, target } => {
                self.mobiles[index].left = anchor;
                self.move_data(index, Data::CrossesXn, now);
                self.mobiles[index].complete(target, now);
            }
        }
    }

    fn move_data(&mut self, index: usize, data: Data, now: Nanos) {
        let (ue, mobile) = (&mut self.ues[index], &mut self.mobiles[index]);
        let config = &self.cell.radio.handover;
        let before = match data {
            Data::Stays => None,
            Data::CrossesXn => mobile.hand_over(ue, config, true, now),
            Data::IsThere => mobile.hand_over(ue, config, false, now),
            Data::Kept => mobile.reestablish(ue, now),
            Data::Shared => {
                Mobile::keep_data(ue, now, now);
                None
            }
        };
        self.events.extend(before);
    }

    fn leave(&mut self, index: usize) {
        if let Some(source) = self.ues[index].cell {
            self.detach(source, UeId(index));
        }
        self.ues[index].leave(&self.cell.radio);
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
        self.drop_grants(ue);
    }
}
