// SPDX-License-Identifier: Apache-2.0
//! Several cells in a scenario: the channel to each of them, and the rules that they obey.

use super::{Cell, Level, MeasuredHandover, Mobility, Radio, Scenario};
use crate::problem::{Problem, Violation, violation};

/// More cells than a UE measures: 8 of one frequency and some of others (TS 38.133 clause 9.2.3).
const MOST_CELLS: usize = 32;

impl Radio {
    /// Returns the radio channel to one of the cells, as if it stood alone.
    pub(crate) fn to_cell(&self, cell: &Cell) -> Self {
        let mut radio = self.clone();
        radio.cells.clear();
        radio.blockage.extend(&cell.blockage);
        if let Some(level) = &cell.level {
            radio.level = level.clone();
        }
        if let Some(power) = cell.ss_pbch_block_power_dbm {
            radio.ss_pbch_block_power_dbm = power;
        }
        if let Level::Tr38901(geometry) = &mut radio.level {
            geometry.gnb.height_m = cell.height_m.unwrap_or(geometry.gnb.height_m);
            geometry.gnb.bearing_deg = cell.bearing_deg.or(geometry.gnb.bearing_deg);
            geometry.one_of_several = true;
        }
        if let Some(Mobility::Route(route)) = &mut radio.mobility {
            *route = route.seen_from(cell.x_m, cell.y_m);
        }
        radio
    }

    /// Checks the rules that concern the cells.
    pub(super) fn check_cells(&self, duration_s: f64) -> Result<(), Problem> {
        self.cell_rules(duration_s)
            .map_err(|violation| violation.at_key("radio.cells"))?;
        self.handover_rules(duration_s)
            .map_err(|violation| violation.at_key("radio.handovers"))
    }

    fn handover_rules(&self, duration_s: f64) -> Result<(), Violation> {
        let mut before = None;
        for &MeasuredHandover { t_s, cell } in &self.handovers {
            let (t_s, cells) = (t_s.get(), self.cells.len());
            if cell >= cells {
                return Err(violation!(
                    "there is no cell {cell}, of {cells}",
                    "Write the number of a cell, from 0"
                ));
            }
            if let Some(before) = before.filter(|&before| t_s <= before) {
                return Err(violation!(
                    "the handover at {t_s} s does not come after the one at {before} s",
                    "Sort the handovers by time"
                ));
            }
            if t_s >= duration_s {
                return Err(super::series::ends_late(t_s, duration_s));
            }
            before = Some(t_s);
        }
        Ok(())
    }

    fn cell_rules(&self, duration_s: f64) -> Result<(), Violation> {
        let count = self.cells.len();
        if count > MOST_CELLS {
            return Err(violation!(
                "there are {count} cells, and at most {MOST_CELLS} are allowed",
                "Leave out cells that the UE does not come near"
            ));
        }
        for (number, cell) in self.cells.iter().enumerate() {
            if !(cell.x_m.is_finite() && cell.y_m.is_finite()) {
                return Err(violation!(
                    "the position of cell {number} is not finite",
                    "Write finite numbers of metres"
                ));
            }
            if let Some(bearing) = cell.bearing_deg
                && !(0.0..=360.0).contains(&bearing)
            {
                return Err(violation!(
                    "the bearing of cell {number}, {bearing}, is not between 0 and 360 degrees",
                    "Write degrees clockwise from north"
                ));
            }
            for blocker in &cell.blockage {
                blocker.check(duration_s)?;
            }
            let placed = matches!(
                cell.level.as_ref().unwrap_or(&self.level),
                Level::Tr38901(_)
            );
            if placed && !matches!(self.mobility, Some(Mobility::Route(_))) {
                return Err(violation!(
                    "cell {number} has a position, and the UE has none",
                    "Write a route below mobility"
                ));
            }
            let same = |other: &&Cell| {
                other.shares_site(cell)
                    && other.carrier_ghz == cell.carrier_ghz
                    && other.bearing_deg == cell.bearing_deg
                    && other.level.is_none()
                    && cell.level.is_none()
            };
            if let Some(before) = self.cells[..number].iter().position(|one| same(&one)) {
                return Err(violation!(
                    "cells {before} and {number} have one position and one carrier, so that nothing distinguishes them",
                    "Move one of them, or give them different carriers or bearings"
                ));
            }
        }
        Ok(())
    }
}

impl Scenario {
    /// Returns the cells of a radio scenario; none if there is one cell, which `radio` describes.
    pub(crate) fn cells(&self) -> &[Cell] {
        self.radio.as_ref().map_or(&[], |radio| &radio.cells)
    }

    /// Returns the measured handovers, if the scenario has any.
    pub(crate) fn handovers(&self) -> &[MeasuredHandover] {
        self.radio.as_ref().map_or(&[], |radio| &radio.handovers)
    }

    /// Returns the scenario with one of its cells alone; itself if it has one only.
    pub(crate) fn with_cell(&self, number: usize) -> Self {
        let mut alone = self.clone();
        if let (Some(radio), Some(cell)) = (&mut alone.radio, self.cells().get(number)) {
            *radio = radio.to_cell(cell);
        }
        alone
    }
}
