// SPDX-License-Identifier: Apache-2.0
//! The time grid on which slow things are tabled: the SSB's period.

use crate::Nanos;
use crate::scenario::AtEnd;

/// The period of the SSB that a UE assumes at cell search (TS 38.213 clause 4.1).
const SSB_PERIOD_S: f64 = 0.020;

/// A scenario cut into equal ticks of at most 20 ms, and what follows the last.
#[derive(Debug, Clone)]
pub(super) struct TimeGrid {
    duration_s: f64,
    count: usize,
    at_end: AtEnd,
}

/// A time within the scenario: the tick before it, the one after it, and how far between.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridPosition {
    pub t_s: f64,
    before: usize,
    after: usize,
    share: f64,
}

impl TimeGrid {
    pub fn new(duration_s: f64, at_end: AtEnd) -> Self {
        let count = (duration_s / SSB_PERIOD_S).ceil().max(1.0) as usize;
        Self {
            duration_s,
            count,
            at_end,
        }
    }

    pub fn duration_s(&self) -> f64 {
        self.duration_s
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn tick_s(&self) -> f64 {
        self.duration_s / self.count as f64
    }

    pub fn loops(&self) -> bool {
        self.at_end == AtEnd::Loop
    }

    /// Each tick's time.
    pub fn times_s(&self) -> impl Iterator<Item = f64> + use<> {
        let tick_s = self.tick_s();
        (0..self.count).map(move |tick| tick as f64 * tick_s)
    }

    /// Where `t` lies; none when the scenario has stopped.
    pub fn place(&self, t: Nanos) -> Option<GridPosition> {
        let t_s = t as f64 * 1e-9;
        if t_s < self.duration_s {
            Some(self.place_within(t_s))
        } else if self.loops() {
            Some(self.place_within(t_s % self.duration_s))
        } else {
            None
        }
    }

    /// The last tick.
    pub fn last(&self) -> GridPosition {
        self.place_within(self.duration_s - self.tick_s())
    }

    fn place_within(&self, t_s: f64) -> GridPosition {
        let position = t_s / self.tick_s();
        let before = (position as usize).min(self.count - 1);
        let after = match before + 1 {
            next if next < self.count => next,
            _ if self.loops() => 0,
            _ => before,
        };
        GridPosition {
            t_s,
            before,
            after,
            share: position - before as f64,
        }
    }
}

impl GridPosition {
    /// The value here of a table with one entry a tick.
    pub fn interpolate(self, table: &[f32]) -> f64 {
        let (before, after) = (f64::from(table[self.before]), f64::from(table[self.after]));
        before + self.share * (after - before)
    }

    /// The tick that was last.
    pub fn latest(self, table: &[f32]) -> f64 {
        f64::from(table[self.before])
    }
}
