// SPDX-License-Identifier: Apache-2.0
//! Small-scale fading: complex taps, each a sum of sinusoids over the distance that the UE has
//! moved.
//!
//! Each tap is Clarke's ring of scatterers (1968): waves of equal strength and random phase, one
//! from each sixteenth of the circle, at a random direction α within it. The phase of a wave turns
//! by cos(α)/λ per metre, so that the autocorrelation of the tap is J0(2πΔ/λ). The turns per metre
//! are rounded to whole turns per loop of the scenario, so that the loop closes without a
//! discontinuity.

use num_complex::Complex64;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::phasor::cis;
use super::random_streams::{Purpose, Streams};
use super::ray::{Ray, normalised};
use super::tap_table::TapTable;
use super::tdl;
use super::time_grid::TimeGrid;
use super::wavelength_m;
use crate::radio::Grid;
use crate::radio::grid::SUBCARRIERS_PER_PRB;
use crate::scenario::Fading;

/// Waves of each tap: enough for a Rayleigh envelope down to the 1st percentile.
const WAVES: usize = 16;
/// The taps of the longest table, TDL-C.
const LARGEST_TAP_COUNT: usize = 24;
/// cos α of the specular wave: TR 38.901 clause 7.7.2 sets its Doppler shift to 0.7 of the largest.
const SPECULAR_DIRECTION: f64 = 0.7;
/// PRBs of the SSB (TS 38.211 clause 7.4.3.1); every fourth is evaluated.
const SSB_PRB: i32 = 20;

/// A time, and the distance that the UE has moved until then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub t_s: f64,
    pub distance_m: f64,
}

/// The multipath propagation of a scenario, evaluated at the frequencies of the carrier.
#[derive(Debug, Clone)]
pub(super) enum Multipath {
    /// Taps drawn from statistics, over distance.
    Drawn(DrawnTaps),
    /// Taps read from a file, over time; evaluated at the centre of each group of PRBs and over the
    /// SSB.
    FromFile {
        taps: TapTable,
        groups_hz: Vec<f64>,
        ssb_hz: Vec<f64>,
    },
}

impl Multipath {
    pub fn new(
        fading: Option<&Fading>,
        grid: &Grid,
        ticks: &TimeGrid,
        loop_m: f64,
        streams: &Streams,
    ) -> Self {
        let rays = match fading {
            None => Vec::new(),
            Some(Fading::Taps(taps)) => normalised(taps.get().iter().map(Ray::from)),
            Some(Fading::Tdl(tdl)) => normalised(tdl::rays(tdl)),
            Some(Fading::TapSeries(series)) => match &series.rows {
                Some(rows) => {
                    return Self::FromFile {
                        taps: TapTable::new(rows, ticks.duration_s()),
                        groups_hz: group_offsets_hz(grid).collect(),
                        ssb_hz: ssb_offsets_hz(grid).collect(),
                    };
                }
                None => Vec::new(),
            },
        };
        Self::Drawn(DrawnTaps::new(&rays, grid, loop_m, streams))
    }

    /// Returns the number of groups of PRBs.
    pub fn groups(&self) -> usize {
        match self {
            Self::Drawn(taps) => taps.groups.len(),
            Self::FromFile { groups_hz, .. } => groups_hz.len(),
        }
    }

    /// Calls `take` with the power gain of each group, mean 1, lowest frequency first.
    pub fn each_group(&self, now: Moment, take: impl FnMut(f64)) {
        match self {
            Self::Drawn(taps) => taps.group_powers(now.distance_m).for_each(take),
            Self::FromFile {
                taps, groups_hz, ..
            } => taps.powers(now.t_s, groups_hz).for_each(take),
        }
    }

    /// Calls `take` with the delay in seconds and the gain of each path; a channel without paths has one of gain 1.
    pub fn each_path(&self, now: Moment, mut take: impl FnMut(f64, Complex64)) {
        match self {
            Self::Drawn(drawn) if drawn.taps.is_empty() => take(0.0, Complex64::ONE),
            Self::Drawn(drawn) => {
                for tap in &drawn.taps {
                    take(tap.delay_s, tap.gain(now.distance_m));
                }
            }
            Self::FromFile { taps, .. } => taps.each_path(now.t_s, take),
        }
    }

    /// Returns the longest delay of a path, s.
    pub fn longest_delay_s(&self) -> f64 {
        match self {
            Self::Drawn(drawn) => drawn.taps.iter().map(|tap| tap.delay_s).fold(0.0, f64::max),
            Self::FromFile { taps, .. } => taps.longest_delay_s(),
        }
    }

    /// Returns the mean power gain over the SSB.
    pub fn ssb_power(&self, now: Moment) -> f64 {
        match self {
            Self::Drawn(taps) => taps.ssb_power(now.distance_m),
            Self::FromFile { taps, ssb_hz, .. } => {
                taps.powers(now.t_s, ssb_hz).sum::<f64>() / ssb_hz.len() as f64
            }
        }
    }
}

/// Drawn taps, and their phases at each frequency of interest.
#[derive(Debug, Clone)]
pub(super) struct DrawnTaps {
    taps: Vec<TapProcess>,
    /// The phase of each tap at the centre of each group of PRBs.
    groups: Vec<Vec<Complex64>>,
    ssb: Vec<Vec<Complex64>>,
}

impl DrawnTaps {
    fn new(rays: &[Ray], grid: &Grid, loop_m: f64, streams: &Streams) -> Self {
        let mut stream = streams.of(Purpose::Fading);
        let phases = |offset_hz: f64| {
            rays.iter()
                .map(|ray| cis(-offset_hz * ray.delay_s))
                .collect()
        };
        Self {
            groups: group_offsets_hz(grid).map(phases).collect(),
            ssb: ssb_offsets_hz(grid).map(phases).collect(),
            taps: rays
                .iter()
                .map(|ray| TapProcess::new(ray, grid, loop_m, &mut stream))
                .collect(),
        }
    }

    /// Returns the power gain of each group, mean 1, after `distance_m`.
    fn group_powers(&self, distance_m: f64) -> impl Iterator<Item = f64> {
        let gains = self.gains(distance_m);
        self.groups.iter().map(move |phases| power(&gains, phases))
    }

    /// Returns the mean power gain over the SSB after `distance_m`.
    fn ssb_power(&self, distance_m: f64) -> f64 {
        let gains = self.gains(distance_m);
        self.ssb
            .iter()
            .map(|phases| power(&gains, phases))
            .sum::<f64>()
            / self.ssb.len() as f64
    }

    fn gains(&self, distance_m: f64) -> Gains {
        let mut gains = Gains {
            taps: [Complex64::ZERO; LARGEST_TAP_COUNT],
            count: self.taps.len(),
        };
        for (gain, tap) in gains.taps.iter_mut().zip(&self.taps) {
            *gain = tap.gain(distance_m);
        }
        gains
    }
}

/// The gains of all taps at one time. An array, because it is computed in each busy slot.
struct Gains {
    taps: [Complex64; LARGEST_TAP_COUNT],
    count: usize,
}

/// Returns |Σ gain · phase|²; 1 for a channel without taps.
fn power(gains: &Gains, phases: &[Complex64]) -> f64 {
    if gains.count == 0 {
        return 1.0;
    }
    gains.taps[..gains.count]
        .iter()
        .zip(phases)
        .map(|(gain, phase)| gain * phase)
        .sum::<Complex64>()
        .norm_sqr()
}

/// The waves of a tap: the first is specular, the others are diffuse.
#[derive(Debug, Clone)]
struct TapProcess {
    delay_s: f64,
    specular_amplitude: f64,
    diffuse_amplitude: f64,
    turns_per_m: [f64; WAVES + 1],
    phase_turns: [f64; WAVES + 1],
}

impl TapProcess {
    fn new(ray: &Ray, grid: &Grid, loop_m: f64, stream: &mut ChaCha8Rng) -> Self {
        let mut turns_per_m = [0.0; WAVES + 1];
        let mut phase_turns = [0.0; WAVES + 1];
        for wave in 0..=WAVES {
            let direction = match wave {
                0 => SPECULAR_DIRECTION,
                n => cis((n as f64 + stream.random::<f64>()) / WAVES as f64).re,
            };
            turns_per_m[wave] = whole_turns(direction / wavelength_m(grid), loop_m);
            phase_turns[wave] = stream.random();
        }
        Self {
            delay_s: ray.delay_s,
            specular_amplitude: ray.specular_power.sqrt(),
            diffuse_amplitude: (ray.diffuse_power / WAVES as f64).sqrt(),
            turns_per_m,
            phase_turns,
        }
    }

    fn gain(&self, distance_m: f64) -> Complex64 {
        let wave = |n: usize| cis(self.turns_per_m[n] * distance_m + self.phase_turns[n]);
        let diffuse: Complex64 = (1..=WAVES).map(wave).sum();
        self.specular_amplitude * wave(0) + self.diffuse_amplitude * diffuse
    }
}

fn whole_turns(turns_per_m: f64, loop_m: f64) -> f64 {
    if loop_m > 0.0 {
        (turns_per_m * loop_m).round() / loop_m
    } else {
        0.0
    }
}

/// Returns the centre frequencies of the groups, relative to the carrier's.
fn group_offsets_hz(grid: &Grid) -> impl Iterator<Item = f64> + use<> {
    let groups = usize::from(grid.prb).div_ceil(super::subband_prb(grid.prb));
    let width_hz = f64::from(grid.prb) * prb_hz(grid) / groups as f64;
    (0..groups).map(move |group| (group as f64 + 0.5 - groups as f64 / 2.0) * width_hz)
}

/// Returns the frequencies of every fourth PRB of an SSB in the middle of the carrier, relative to
/// the carrier's.
fn ssb_offsets_hz(grid: &Grid) -> impl Iterator<Item = f64> + use<> {
    let prb_hz = prb_hz(grid);
    (-SSB_PRB / 2 + 2..SSB_PRB / 2)
        .step_by(4)
        .map(move |prb| f64::from(prb) * prb_hz)
}

fn prb_hz(grid: &Grid) -> f64 {
    f64::from(SUBCARRIERS_PER_PRB) * grid.scs_hz
}
