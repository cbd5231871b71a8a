// SPDX-License-Identifier: Apache-2.0
//! Small-scale fading: complex taps as sums of sinusoids over the distance that the UE has gone.
//!
//! Each tap is Clarke's ring of scatterers (1968): waves of equal strength and random phase, one
//! from each sixteenth of the circle, at a random direction α within it. A wave's phase turns by
//! cos(α)/λ a metre, so the tap's autocorrelation is J0(2πΔ/λ). Turns a metre are rounded to whole
//! turns a lap: after a lap everything is as it was.

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

/// Waves of each tap: enough for an envelope that is Rayleigh to the 1st percentile.
const WAVES: usize = 16;
/// Of the longest table, that of TDL-C.
const MOST_TAPS: usize = 24;
/// cos α of the steady part: TR 38.901 clause 7.7.2 has its Doppler at 0.7 of the largest.
const STEADY_DIRECTION: f64 = 0.7;
/// PRBs of the SSB (TS 38.211 clause 7.4.3.1), of which every fourth is looked at.
const SSB_PRB: i32 = 20;

/// A time, and how far the UE has gone by then.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub t_s: f64,
    pub distance_m: f64,
}

/// How the paths add, at each frequency of interest.
#[derive(Debug, Clone)]
pub(super) enum Multipath {
    /// Taps drawn from statistics, over the way.
    Drawn(DrawnTaps),
    /// Taps that a file gives, over time: at the centre of each group, and over the SSB.
    Given {
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
        lap_m: f64,
        streams: &Streams,
    ) -> Self {
        let rays = match fading {
            None => Vec::new(),
            Some(Fading::Taps(taps)) => normalised(taps.get().iter().map(Ray::from)),
            Some(Fading::Tdl(tdl)) => normalised(tdl::rays(tdl)),
            Some(Fading::TapSeries(series)) => match &series.rows {
                Some(rows) => {
                    return Self::Given {
                        taps: TapTable::new(rows, ticks.duration_s()),
                        groups_hz: group_offsets_hz(grid).collect(),
                        ssb_hz: ssb_offsets_hz(grid).collect(),
                    };
                }
                None => Vec::new(),
            },
        };
        Self::Drawn(DrawnTaps::new(&rays, grid, lap_m, streams))
    }

    /// How many groups of PRBs the carrier has.
    pub fn groups(&self) -> usize {
        match self {
            Self::Drawn(taps) => taps.groups.len(),
            Self::Given { groups_hz, .. } => groups_hz.len(),
        }
    }

    /// Takes the power gain of each group, mean 1, lowest frequency first.
    pub fn each_group(&self, now: Moment, take: impl FnMut(f64)) {
        match self {
            Self::Drawn(taps) => taps.group_powers(now.distance_m).for_each(take),
            Self::Given {
                taps, groups_hz, ..
            } => taps.powers(now.t_s, groups_hz).for_each(take),
        }
    }

    /// Mean power gain over the SSB.
    pub fn ssb_power(&self, now: Moment) -> f64 {
        match self {
            Self::Drawn(taps) => taps.ssb_power(now.distance_m),
            Self::Given { taps, ssb_hz, .. } => {
                taps.powers(now.t_s, ssb_hz).sum::<f64>() / ssb_hz.len() as f64
            }
        }
    }
}

/// The taps, and how each frequency of interest sees them.
#[derive(Debug, Clone)]
pub(super) struct DrawnTaps {
    taps: Vec<TapProcess>,
    /// Rows of one phase a tap, for the centre of each group of PRBs.
    groups: Vec<Vec<Complex64>>,
    ssb: Vec<Vec<Complex64>>,
}

impl DrawnTaps {
    fn new(rays: &[Ray], grid: &Grid, lap_m: f64, streams: &Streams) -> Self {
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
                .map(|ray| TapProcess::new(ray, grid, lap_m, &mut stream))
                .collect(),
        }
    }

    /// Power gain of each group, mean 1, after `distance_m`.
    fn group_powers(&self, distance_m: f64) -> impl Iterator<Item = f64> {
        let gains = self.gains(distance_m);
        self.groups.iter().map(move |phases| power(&gains, phases))
    }

    /// Mean power gain over the SSB after `distance_m`.
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
            of_taps: [Complex64::ZERO; MOST_TAPS],
            count: self.taps.len(),
        };
        for (gain, tap) in gains.of_taps.iter_mut().zip(&self.taps) {
            *gain = tap.gain(distance_m);
        }
        gains
    }
}

/// The taps' gains at one time. An array, because this is computed in every busy slot.
struct Gains {
    of_taps: [Complex64; MOST_TAPS],
    count: usize,
}

/// |Σ gain · phase|²; 1 for a channel without taps.
fn power(gains: &Gains, phases: &[Complex64]) -> f64 {
    if gains.count == 0 {
        return 1.0;
    }
    gains.of_taps[..gains.count]
        .iter()
        .zip(phases)
        .map(|(gain, phase)| gain * phase)
        .sum::<Complex64>()
        .norm_sqr()
}

/// A tap's waves: the first steady, the others scattered.
#[derive(Debug, Clone)]
struct TapProcess {
    steady_amplitude: f64,
    scattered_amplitude: f64,
    turns_per_m: [f64; WAVES + 1],
    phase_turns: [f64; WAVES + 1],
}

impl TapProcess {
    fn new(ray: &Ray, grid: &Grid, lap_m: f64, stream: &mut ChaCha8Rng) -> Self {
        let mut turns_per_m = [0.0; WAVES + 1];
        let mut phase_turns = [0.0; WAVES + 1];
        for wave in 0..=WAVES {
            let direction = match wave {
                0 => STEADY_DIRECTION,
                n => cis((n as f64 + stream.random::<f64>()) / WAVES as f64).re,
            };
            turns_per_m[wave] = whole_turns(direction / wavelength_m(grid), lap_m);
            phase_turns[wave] = stream.random();
        }
        Self {
            steady_amplitude: ray.steady_power.sqrt(),
            scattered_amplitude: (ray.scattered_power / WAVES as f64).sqrt(),
            turns_per_m,
            phase_turns,
        }
    }

    fn gain(&self, distance_m: f64) -> Complex64 {
        let wave = |n: usize| cis(self.turns_per_m[n] * distance_m + self.phase_turns[n]);
        let scattered: Complex64 = (1..=WAVES).map(wave).sum();
        self.steady_amplitude * wave(0) + self.scattered_amplitude * scattered
    }
}

fn whole_turns(turns_per_m: f64, lap_m: f64) -> f64 {
    if lap_m > 0.0 {
        (turns_per_m * lap_m).round() / lap_m
    } else {
        0.0
    }
}

/// Centres of the groups, from the carrier's.
fn group_offsets_hz(grid: &Grid) -> impl Iterator<Item = f64> + use<> {
    let groups = usize::from(grid.prb).div_ceil(super::subband_prb(grid.prb));
    let width_hz = f64::from(grid.prb) * prb_hz(grid) / groups as f64;
    (0..groups).map(move |group| (group as f64 + 0.5 - groups as f64 / 2.0) * width_hz)
}

/// Every fourth PRB of an SSB in the middle of the carrier.
fn ssb_offsets_hz(grid: &Grid) -> impl Iterator<Item = f64> + use<> {
    let prb_hz = prb_hz(grid);
    (-SSB_PRB / 2 + 2..SSB_PRB / 2)
        .step_by(4)
        .map(move |prb| f64::from(prb) * prb_hz)
}

fn prb_hz(grid: &Grid) -> f64 {
    f64::from(SUBCARRIERS_PER_PRB) * grid.scs_hz
}
