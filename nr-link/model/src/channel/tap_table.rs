// SPDX-License-Identifier: Apache-2.0
//! Taps over time from a file, used as they are.

use num_complex::Complex64;

use super::phasor::cis;
use crate::scenario::{Table, Taps};

/// Values of a tap in a row of the table: delay in ns, real part, imaginary part.
const VALUES_PER_TAP: usize = 3;

/// The taps of a file, repeated with the scenario.
#[derive(Debug, Clone)]
pub(super) struct TapTable {
    rows: Table,
    duration_s: f64,
    /// Amplitude factor that makes the mean power 1.
    scale: f64,
}

/// A tap at one time.
#[derive(Debug, Clone, Copy)]
struct TapState {
    delay_s: f64,
    gain: Complex64,
}

impl TapTable {
    pub fn new(rows: &Table, duration_s: f64) -> Self {
        let power = rows.values.chunks_exact(VALUES_PER_TAP).map(|tap| {
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

    /// Returns the power gain at each offset from the carrier's centre, at `t_s`.
    pub fn powers(&self, t_s: f64, offsets_hz: &[f64]) -> impl Iterator<Item = f64> {
        let (taps, count) = self.at(t_s);
        let scale = self.scale;
        offsets_hz.iter().map(move |offset_hz| {
            let rotated = |tap: &TapState| tap.gain * cis(-offset_hz * tap.delay_s);
            let sum: Complex64 = taps[..count].iter().map(rotated).sum();
            (sum * scale).norm_sqr()
        })
    }

    /// Calls `take` with the delay in seconds and the gain of each tap at `t_s`.
    pub fn each_path(&self, t_s: f64, mut take: impl FnMut(f64, Complex64)) {
        let (taps, count) = self.at(t_s);
        for tap in &taps[..count] {
            take(tap.delay_s, tap.gain * self.scale);
        }
    }

    /// Returns the longest delay, s.
    pub fn longest_delay_s(&self) -> f64 {
        let taps = self.rows.values.chunks_exact(VALUES_PER_TAP);
        taps.map(|tap| f64::from(tap[0]) * 1e-9).fold(0.0, f64::max)
    }

    /// Returns the interpolated taps at `t_s`, and their number.
    fn at(&self, t_s: f64) -> ([TapState; Taps::MOST], usize) {
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
        let fraction = (t_s - before_s) / (after_s - before_s);
        let (before, after) = (self.row(before), self.row(after));
        let between = |at: usize| {
            let (before, after) = (f64::from(before[at]), f64::from(after[at]));
            before + fraction * (after - before)
        };
        let mut taps = [TapState {
            delay_s: 0.0,
            gain: Complex64::ZERO,
        }; Taps::MOST];
        let count = self.rows.width / VALUES_PER_TAP;
        for (tap, at) in taps
            .iter_mut()
            .zip((0..self.rows.width).step_by(VALUES_PER_TAP))
        {
            tap.delay_s = between(at) * 1e-9;
            tap.gain = Complex64::new(between(at + 1), between(at + 2));
        }
        (taps, count)
    }

    fn row(&self, index: usize) -> &[f32] {
        &self.rows.values[index * self.rows.width..][..self.rows.width]
    }
}
