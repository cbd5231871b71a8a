// SPDX-License-Identifier: Apache-2.0
//! Taps that a file gives over time, played as they are.

use num_complex::Complex64;

use super::phasor::cis;
use crate::scenario::Table;

/// Values of a tap in a row of the table: delay in ns, real and imaginary part.
const OF_TAP: usize = 3;

/// The taps of a file, closed into a loop.
#[derive(Debug, Clone)]
pub(super) struct TapTable {
    rows: Table,
    duration_s: f64,
    /// Makes the mean power 1.
    scale: f64,
}

/// One tap at one time.
#[derive(Debug, Clone, Copy)]
struct TapNow {
    delay_s: f64,
    gain: Complex64,
}

impl TapTable {
    pub fn new(rows: &Table, duration_s: f64) -> Self {
        let power = rows.values.chunks_exact(OF_TAP).map(|tap| {
            let (re, im) = (f64::from(tap[1]), f64::from(tap[2]));
            re * re + im * im
        });
        let mean = power.sum::<f64>() / rows.t_s.len() as f64;
        Self {
            rows: rows.clone(),
            duration_s,
            scale: mean.sqrt().recip(),
        }
    }

    /// Power gain at each offset from the carrier's centre, at `t_s`.
    pub fn powers(&self, t_s: f64, offsets_hz: &[f64]) -> impl Iterator<Item = f64> {
        let (taps, count) = self.at(t_s);
        let scale = self.scale;
        offsets_hz.iter().map(move |offset_hz| {
            let turned = |tap: &TapNow| tap.gain * cis(-offset_hz * tap.delay_s);
            let sum: Complex64 = taps[..count].iter().map(turned).sum();
            (sum * scale).norm_sqr()
        })
    }

    /// The taps at `t_s`, and how many there are.
    fn at(&self, t_s: f64) -> ([TapNow; 4], usize) {
        let stamps = &self.rows.t_s;
        let last = stamps.len() - 1;
        let next = stamps.partition_point(|stamp| *stamp <= t_s);
        let (before, before_s) = match next {
            0 => (last, stamps[last] - self.duration_s),
            n => (n - 1, stamps[n - 1]),
        };
        let (after, after_s) = match next {
            n if n > last => (0, stamps[0] + self.duration_s),
            n => (n, stamps[n]),
        };
        let share = (t_s - before_s) / (after_s - before_s);
        let (before, after) = (self.row(before), self.row(after));
        let between = |at: usize| {
            let (before, after) = (f64::from(before[at]), f64::from(after[at]));
            before + share * (after - before)
        };
        let mut taps = [TapNow {
            delay_s: 0.0,
            gain: Complex64::ZERO,
        }; 4];
        let count = self.rows.width / OF_TAP;
        for (tap, at) in taps.iter_mut().zip((0..self.rows.width).step_by(OF_TAP)) {
            tap.delay_s = between(at) * 1e-9;
            tap.gain = Complex64::new(between(at + 1), between(at + 2));
        }
        (taps, count)
    }

    fn row(&self, index: usize) -> &[f32] {
        &self.rows.values[index * self.rows.width..][..self.rows.width]
    }
}
