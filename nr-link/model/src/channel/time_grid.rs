// SPDX-License-Identifier: Apache-2.0
//! The time grid for which slowly varying values are precomputed: the period of the SSB.

use crate::Nanos;
use crate::scenario::AtEnd;

/// The period of the SSB that a UE assumes at cell search (TS 38.213 clause 4.1).
const SSB_PERIOD_S: f64 = 0.020;

/// The duration of a scenario divided into equal ticks of at most 20 ms, and what follows it.
#[derive(Debug, Clone)]
pub(super) struct TimeGrid {
    duration_s: f64,
    count: usize,
    at_end: AtEnd,
}

/// A time within the scenario: the ticks before and after it, and the fraction of the tick between
/// them.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridPosition {
    pub t_s: f64,
    before: usize,
    after: usize,
    fraction: f64,
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

    /// Returns the time of a tick.
    pub fn time_s(&self, tick: usize) -> f64 {
        tick as f64 * self.tick_s()
    }

    /// Returns the time of each tick.
    pub fn times_s(&self) -> impl Iterator<Item = f64> {
        (0..self.count).map(|tick| self.time_s(tick))
    }

    /// Returns the position of `t` on the grid; `None` after a scenario that stops.
    pub fn position(&self, t: Nanos) -> Option<GridPosition> {
        let t_s = t as f64 * 1e-9;
        if t_s < self.duration_s {
            Some(self.position_within(t_s))
        } else if self.loops() {
            Some(self.position_within(t_s % self.duration_s))
        } else {
            None
        }
    }

    /// Returns the position of the last tick.
    pub fn last(&self) -> GridPosition {
        self.position_within(self.duration_s - self.tick_s())
    }

    fn position_within(&self, t_s: f64) -> GridPosition {
        let ticks = t_s / self.tick_s();
        let before = (ticks as usize).min(self.count - 1);
        let after = match before + 1 {
            next if next < self.count => next,
            _ if self.loops() => 0,
            _ => before,
        };
        GridPosition {
            t_s,
            before,
            after,
            fraction: ticks - before as f64,
        }
    }
}

impl GridPosition {
    /// Interpolates a table with one entry per tick.
    pub fn interpolate(self, table: &[f32]) -> f64 {
        let (before, after) = (f64::from(table[self.before]), f64::from(table[self.after]));
        before + self.fraction * (after - before)
    }

    /// Returns the number of the latest tick.
    pub fn latest_tick(self) -> usize {
        self.before
    }
}
