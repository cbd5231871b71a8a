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
/// At least the groups of PRBs of any carrier (18) and the PRBs that are evaluated of an SSB; whole vectors.
const MOST_FREQUENCIES: usize = 20;
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
            Self::Drawn(taps) => taps.groups.count,
            Self::FromFile { groups_hz, .. } => groups_hz.len(),
        }
    }

    /// Calls `take` with the power gain of each group, mean 1, lowest frequency first.
    pub fn each_group(&self, now: Moment, take: impl FnMut(f64)) {
        match self {
            Self::Drawn(taps) => {
                let powers = taps.powers(&taps.groups, now.distance_m);
                powers.into_iter().take(taps.groups.count).for_each(take);
            }
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
            Self::Drawn(taps) => {
                let powers = taps.powers(&taps.ssb, now.distance_m);
                let powers = &powers[..taps.ssb.count];
                powers.iter().sum::<f64>() / powers.len() as f64
            }
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
    /// The centres of the groups of PRBs.
    groups: Frequencies,
    ssb: Frequencies,
}

/// Frequencies at which a channel is evaluated.
#[derive(Debug, Clone)]
struct Frequencies {
    count: usize,
    /// The phases of each tap.
    phases: Vec<Phases>,
}

/// e^(j·phase) of a tap at each frequency; 0 behind the last.
#[derive(Debug, Clone)]
struct Phases {
    re: [f64; MOST_FREQUENCIES],
    im: [f64; MOST_FREQUENCIES],
}

impl Frequencies {
    fn new(offsets_hz: impl Iterator<Item = f64>, rays: &[Ray]) -> Self {
        let offsets_hz: Vec<f64> = offsets_hz.collect();
        let phases = rays.iter().map(|ray| {
            let mut phases = Phases {
                re: [0.0; MOST_FREQUENCIES],
                im: [0.0; MOST_FREQUENCIES],
            };
            for (n, offset_hz) in offsets_hz.iter().enumerate() {
                let phase = cis(-offset_hz * ray.delay_s);
                (phases.re[n], phases.im[n]) = (phase.re, phase.im);
            }
            phases
        });
        Self {
            count: offsets_hz.len(),
            phases: phases.collect(),
        }
    }
}

impl DrawnTaps {
    fn new(rays: &[Ray], grid: &Grid, loop_m: f64, streams: &Streams) -> Self {
        let mut stream = streams.of(Purpose::Fading);
        Self {
            groups: Frequencies::new(group_offsets_hz(grid), rays),
            ssb: Frequencies::new(ssb_offsets_hz(grid), rays),
            taps: rays
                .iter()
                .map(|ray| TapProcess::new(ray, grid, loop_m, &mut stream))
                .collect(),
        }
    }

    /// Returns the power gain at each of the frequencies, mean 1, after `distance_m`; 1 for a channel without taps.
    fn powers(&self, at: &Frequencies, distance_m: f64) -> [f64; MOST_FREQUENCIES] {
        if self.taps.is_empty() {
            return [1.0; MOST_FREQUENCIES];
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: this processor has AVX2.
            return unsafe { powers_with_avx2(&self.taps, &at.phases, distance_m) };
        }
        powers(&self.taps, &at.phases, distance_m)
    }
}

/// The same code, compiled for wider vectors: each number is computed as without them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn powers_with_avx2(
    taps: &[TapProcess],
    phases: &[Phases],
    distance_m: f64,
) -> [f64; MOST_FREQUENCIES] {
    powers(taps, phases, distance_m)
}

/// Returns |Σ gain · phase|² at each frequency.
#[inline(always)]
fn powers(taps: &[TapProcess], phases: &[Phases], distance_m: f64) -> [f64; MOST_FREQUENCIES] {
    let mut re = [0.0; MOST_FREQUENCIES];
    let mut im = [0.0; MOST_FREQUENCIES];
    for (tap, phases) in taps.iter().zip(phases) {
        let gain = tap.gain(distance_m);
        for n in 0..MOST_FREQUENCIES {
            re[n] += gain.re * phases.re[n] - gain.im * phases.im[n];
            im[n] += gain.re * phases.im[n] + gain.im * phases.re[n];
        }
    }
    std::array::from_fn(|n| re[n] * re[n] + im[n] * im[n])
}

/// The waves of a tap: one is specular, the others are diffuse.
#[derive(Debug, Clone)]
struct TapProcess {
    delay_s: f64,
    specular_amplitude: f64,
    diffuse_amplitude: f64,
    specular: Wave,
    turns_per_m: [f64; WAVES],
    phase_turns: [f64; WAVES],
}

#[derive(Debug, Clone, Copy)]
struct Wave {
    turns_per_m: f64,
    phase_turns: f64,
}

impl TapProcess {
    fn new(ray: &Ray, grid: &Grid, loop_m: f64, stream: &mut ChaCha8Rng) -> Self {
        let wave = |direction: f64, stream: &mut ChaCha8Rng| Wave {
            turns_per_m: whole_turns(direction / wavelength_m(grid), loop_m),
            phase_turns: stream.random(),
        };
        let specular = wave(SPECULAR_DIRECTION, stream);
        let diffuse: [Wave; WAVES] = std::array::from_fn(|n| {
            let sector = (n + 1) as f64 + stream.random::<f64>();
            wave(cis(sector / WAVES as f64).re, stream)
        });
        Self {
            delay_s: ray.delay_s,
            specular_amplitude: ray.specular_power.sqrt(),
            diffuse_amplitude: (ray.diffuse_power / WAVES as f64).sqrt(),
            specular,
            turns_per_m: diffuse.map(|wave| wave.turns_per_m),
            phase_turns: diffuse.map(|wave| wave.phase_turns),
        }
    }

    #[inline(always)]
    fn gain(&self, distance_m: f64) -> Complex64 {
        let turns: [f64; WAVES] =
            std::array::from_fn(|n| self.turns_per_m[n] * distance_m + self.phase_turns[n]);
        let waves = turns.map(cis);
        let diffuse: Complex64 = waves.into_iter().sum();
        let turns = self.specular.turns_per_m * distance_m + self.specular.phase_turns;
        self.specular_amplitude * cis(turns) + self.diffuse_amplitude * diffuse
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn wider_vectors_give_the_same_bits() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let grid = Grid {
            carrier_hz: 3.6e9,
            scs_hz: 30e3,
            prb: 273,
        };
        let rays = [0.0, 60e-9, 150e-9, 310e-9, 1e-6].map(|delay_s| Ray {
            delay_s,
            specular_power: 0.1,
            diffuse_power: 0.1,
        });
        let drawn = DrawnTaps::new(&rays, &grid, 1e4, &Streams::new(7));
        for step in 0..1000 {
            let distance_m = f64::from(step) * 0.37;
            let phases = &drawn.groups.phases;
            // SAFETY: this processor has AVX2.
            let wide = unsafe { powers_with_avx2(&drawn.taps, phases, distance_m) };
            let narrow = powers(&drawn.taps, phases, distance_m);
            assert_eq!(wide.map(f64::to_bits), narrow.map(f64::to_bits));
        }
    }
}
