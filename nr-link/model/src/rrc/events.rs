// SPDX-License-Identifier: Apache-2.0
//! Measurement events (TS 38.331 clauses 5.5.4.1 to 5.5.4.7). All frequency offsets (Ofn, Ofp) are 0.

use crate::Nanos;
use crate::config::Event;
use crate::ids::CellId;

/// The filtered level of a cell, and its individual offset (Ocn, Ocp).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub dbm: f64,
    pub offset_db: f64,
    pub carrier_hz: f64,
}

impl Level {
    /// Returns the level by which cells are compared.
    fn compared_db(self) -> f64 {
        self.dbm + self.offset_db
    }
}

/// Returns whether the entering condition is fulfilled.
fn enters(event: Event, serving: Level, neighbour: Level, hysteresis_db: f64) -> bool {
    match event {
        // A1-1: Ms − Hys > Thresh
        Event::A1 { threshold_dbm } => serving.dbm - hysteresis_db > threshold_dbm,
        // A2-1: Ms + Hys < Thresh
        Event::A2 { threshold_dbm } => serving.dbm + hysteresis_db < threshold_dbm,
        // A3-1: Mn + Ofn + Ocn − Hys > Mp + Ofp + Ocp + Off
        Event::A3 { offset_db } => {
            neighbour.compared_db() - hysteresis_db > serving.compared_db() + offset_db
        }
        // A4-1: Mn + Ofn + Ocn − Hys > Thresh
        Event::A4 { threshold_dbm } => neighbour.compared_db() - hysteresis_db > threshold_dbm,
        // A5-1: Mp + Hys < Thresh1, and A5-2: Mn + Ofn + Ocn − Hys > Thresh2
        Event::A5 {
            serving_dbm,
            neighbour_dbm,
        } => {
            serving.dbm + hysteresis_db < serving_dbm
                && neighbour.compared_db() - hysteresis_db > neighbour_dbm
        }
        // A6-1: Mn + Ocn − Hys > Ms + Ocs + Off, on the frequency of the serving cell
        Event::A6 { offset_db } => {
            neighbour.carrier_hz == serving.carrier_hz
                && neighbour.compared_db() - hysteresis_db > serving.compared_db() + offset_db
        }
    }
}

/// Returns whether the entering condition is fulfilled at these levels with any cell as the serving one.
pub(crate) fn can_enter(event: Event, hysteresis_db: f64, cells: &[Level]) -> bool {
    let enters_from = |(number, &serving): (usize, &Level)| {
        let others = cells
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != number);
        let mut others = others.map(|(_, &other)| other);
        others.any(|other| enters(event, serving, other, hysteresis_db))
    };
    cells.iter().enumerate().any(enters_from)
}

/// Returns whether the leaving condition is fulfilled.
fn leaves(event: Event, serving: Level, neighbour: Level, hysteresis_db: f64) -> bool {
    match event {
        // A1-2: Ms + Hys < Thresh
        Event::A1 { threshold_dbm } => serving.dbm + hysteresis_db < threshold_dbm,
        // A2-2: Ms − Hys > Thresh
        Event::A2 { threshold_dbm } => serving.dbm - hysteresis_db > threshold_dbm,
        // A3-2: Mn + Ofn + Ocn + Hys < Mp + Ofp + Ocp + Off; A6-2 likewise
        Event::A3 { offset_db } | Event::A6 { offset_db } => {
            neighbour.compared_db() + hysteresis_db < serving.compared_db() + offset_db
        }
        // A4-2: Mn + Ofn + Ocn + Hys < Thresh
        Event::A4 { threshold_dbm } => neighbour.compared_db() + hysteresis_db < threshold_dbm,
        // A5-3: Mp − Hys > Thresh1, or A5-4: Mn + Ofn + Ocn + Hys < Thresh2
        Event::A5 {
            serving_dbm,
            neighbour_dbm,
        } => {
            serving.dbm - hysteresis_db > serving_dbm
                || neighbour.compared_db() + hysteresis_db < neighbour_dbm
        }
    }
}

/// One event of one UE, with its state for each cell.
#[derive(Debug)]
pub(super) struct Trigger {
    pub event: Event,
    hysteresis_db: f64,
    time_to_trigger: Nanos,
    cells: Vec<State>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Since when all measurements fulfil the entering condition.
    entered: Option<Nanos>,
    reported: bool,
    compared_db: f64,
}

impl Trigger {
    pub fn new(event: Event, hysteresis_db: f64, time_to_trigger: Nanos, cells: usize) -> Self {
        Self {
            event,
            hysteresis_db,
            time_to_trigger,
            cells: vec![State::default(); cells],
        }
    }

    /// Takes new measurements at `now`; `level` returns a cell's. The events of the serving cell alone are kept in its
    /// own state.
    pub fn measure(
        &mut self,
        now: Nanos,
        serving: CellId,
        level: impl Fn(CellId) -> Option<Level>,
    ) {
        let Some(own) = level(serving) else { return };
        let names_neighbour = self.event.names_neighbour();
        for (number, state) in self.cells.iter_mut().enumerate() {
            if (number == serving.0) == names_neighbour {
                *state = State::default();
                continue;
            }
            let Some(other) = level(CellId(number)) else {
                continue;
            };
            state.compared_db = other.compared_db();
            if enters(self.event, own, other, self.hysteresis_db) {
                state.entered.get_or_insert(now);
            } else if !state.reported || leaves(self.event, own, other, self.hysteresis_db) {
                *state = State::default();
            }
        }
    }

    /// Returns the cell whose event has been fulfilled for the time to trigger and is not reported yet; the strongest of
    /// several among those that `may`. It counts as reported from then on.
    pub fn due(&mut self, now: Nanos, may: impl Fn(CellId) -> bool) -> Option<CellId> {
        let wait = self.time_to_trigger;
        let is_due = |state: &State| {
            !state.reported && state.entered.is_some_and(|entered| entered + wait <= now)
        };
        let (number, _) = self
            .cells
            .iter()
            .enumerate()
            .filter(|(number, state)| is_due(state) && may(CellId(*number)))
            .max_by(|(_, a), (_, b)| a.compared_db.total_cmp(&b.compared_db))?;
        self.cells[number].reported = true;
        Some(CellId(number))
    }

    /// Starts over, in a new cell.
    pub fn reset(&mut self) {
        self.cells.fill(State::default());
    }

    /// Starts over for one cell.
    pub fn forget(&mut self, cell: CellId) {
        self.cells[cell.0] = State::default();
    }

    /// Lets a report that had no effect be made again after another time to trigger (reportInterval).
    pub fn repeat(&mut self, now: Nanos) {
        for state in self.cells.iter_mut().filter(|state| state.reported) {
            *state = State {
                entered: Some(now),
                reported: false,
                ..*state
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(dbm: f64) -> Level {
        Level {
            dbm,
            offset_db: 0.0,
            carrier_hz: 3.6e9,
        }
    }

    /// Event, and serving and neighbour levels at which it is just not entered, entered, just not left, and left, with a
    /// hysteresis of 2 dB: written from the inequalities of the standard.
    #[test]
    fn each_event_enters_and_leaves_where_the_standard_says() {
        let a1 = Event::A1 {
            threshold_dbm: -90.0,
        };
        let a2 = Event::A2 {
            threshold_dbm: -90.0,
        };
        let a3 = Event::A3 { offset_db: 3.0 };
        let a4 = Event::A4 {
            threshold_dbm: -90.0,
        };
        let a5 = Event::A5 {
            serving_dbm: -100.0,
            neighbour_dbm: -90.0,
        };
        let a6 = Event::A6 { offset_db: 3.0 };
        for (event, [out, entered, kept, left]) in [
            (a1, [(-88.0, 0.0), (-87.9, 0.0), (-92.0, 0.0), (-92.1, 0.0)]),
            (a2, [(-92.0, 0.0), (-92.1, 0.0), (-88.0, 0.0), (-87.9, 0.0)]),
            (
                a3,
                [
                    (-95.0, -90.0),
                    (-95.0, -89.9),
                    (-95.0, -94.0),
                    (-95.0, -94.1),
                ],
            ),
            (a4, [(0.0, -88.0), (0.0, -87.9), (0.0, -92.0), (0.0, -92.1)]),
            (
                a5,
                [
                    (-102.0, -80.0),
                    (-102.1, -87.9),
                    (-98.0, -92.0),
                    (-97.9, -80.0),
                ],
            ),
            (
                a6,
                [
                    (-95.0, -90.0),
                    (-95.0, -89.9),
                    (-95.0, -94.0),
                    (-95.0, -94.1),
                ],
            ),
        ] {
            let is = |(serving, neighbour): (f64, f64)| {
                let levels = (at(serving), at(neighbour));
                (
                    enters(event, levels.0, levels.1, 2.0),
                    leaves(event, levels.0, levels.1, 2.0),
                )
            };
            assert!(!is(out).0 && is(entered).0, "{event:?}");
            assert!(!is(kept).1 && is(left).1, "{event:?}");
        }
        let elsewhere = Level {
            carrier_hz: 2.1e9,
            ..at(-80.0)
        };
        assert!(!enters(a6, at(-95.0), elsewhere, 0.0) && enters(a3, at(-95.0), elsewhere, 0.0));
    }

    #[test]
    fn an_individual_offset_counts_where_cells_are_compared() {
        let favoured = Level {
            offset_db: 6.0,
            ..at(-95.0)
        };
        assert!(enters(
            Event::A3 { offset_db: 3.0 },
            at(-95.0),
            favoured,
            2.0
        ));
        assert!(!enters(
            Event::A3 { offset_db: 3.0 },
            favoured,
            at(-92.0),
            0.0
        ));
    }

    #[test]
    fn the_condition_must_hold_for_the_time_to_trigger() {
        const MS: Nanos = 1_000_000;
        let mut trigger = Trigger::new(Event::A3 { offset_db: 3.0 }, 0.0, 100 * MS, 2);
        let measure = |trigger: &mut Trigger, ms: Nanos, neighbour: f64| {
            let levels = [at(-90.0), at(neighbour)];
            trigger.measure(ms * MS, CellId(0), |cell| Some(levels[cell.0]));
        };
        measure(&mut trigger, 0, -86.0);
        measure(&mut trigger, 40, -88.0); // interrupted
        measure(&mut trigger, 80, -86.0);
        measure(&mut trigger, 120, -86.0);
        assert_eq!(trigger.due(179 * MS, |_| true), None);
        assert_eq!(trigger.due(180 * MS, |_| true), Some(CellId(1)));
        assert_eq!(trigger.due(181 * MS, |_| true), None); // reported
        trigger.repeat(200 * MS);
        assert_eq!(trigger.due(300 * MS, |_| true), Some(CellId(1)));
    }
}
