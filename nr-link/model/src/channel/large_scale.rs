// SPDX-License-Identifier: Apache-2.0
//! Large-scale effects: the mean received power with shadowing and blockage, and noise.

use libm::log10;

use super::odometer::Odometer;
use super::random_streams::{Purpose, Streams};
use super::time_grid::{GridPosition, TimeGrid};
use super::tr38901::Tr38901Path;
use crate::correlated_process::CorrelatedProcess;
use crate::problem::{Problem, Violation};
use crate::radio::Grid;
use crate::scenario::{Blocker, Level, Noise, Radio, Series, Shadowing};

/// Boltzmann's constant times 290 K, dBm in one hertz.
const THERMAL_DBM_PER_HZ: f64 = -173.975;

/// Signal and noise of a resource element, dBm, with one entry per tick.
#[derive(Debug, Clone)]
pub(super) struct Levels {
    mean_dbm: Vec<f32>,
    signal_dbm: Vec<f32>,
    noise_dbm: Floor,
    noise_ul_dbm: Floor,
}

#[derive(Debug, Clone)]
enum Floor {
    Constant(f64),
    PerTick(Vec<f32>),
}

impl Levels {
    pub fn new(
        radio: &Radio,
        grid: &Grid,
        ticks: &TimeGrid,
        odometer: &Odometer,
        streams: &Streams,
    ) -> Result<Self, Problem> {
        let ReceivedPower {
            mean_dbm,
            shadow_db,
        } = ReceivedPower::new(radio, grid, ticks, odometer, streams)?;
        let blocked = |t_s| {
            radio
                .blockage
                .iter()
                .map(|blocker| blocked_db(blocker, t_s))
                .sum()
        };
        let signal_dbm = mean_dbm.iter().zip(&shadow_db).zip(ticks.times_s());
        let signal_dbm = signal_dbm.map(|((mean_dbm, shadow_db), t_s)| {
            let blocked_db: f64 = blocked(t_s);
            mean_dbm + shadow_db - blocked_db as f32
        });
        let floor = |noise: &Noise| Floor::new(noise, grid, ticks, &mean_dbm);
        Ok(Self {
            signal_dbm: signal_dbm.collect(),
            noise_dbm: floor(&radio.noise),
            noise_ul_dbm: floor(radio.noise_ul.as_ref().unwrap_or(&radio.noise)),
            mean_dbm,
        })
    }

    /// Attenuates the signal.
    pub fn attenuate(&mut self, loss_db: f64) {
        if loss_db > 0.0 {
            self.signal_dbm
                .iter_mut()
                .for_each(|dbm| *dbm -= loss_db as f32);
        }
    }

    /// Returns the received power before fading, interpolated between ticks.
    pub fn signal_dbm(&self, position: GridPosition) -> f64 {
        position.interpolate(&self.signal_dbm)
    }

    /// Returns the received power before fading at each tick.
    pub fn signals_dbm(&self) -> &[f32] {
        &self.signal_dbm
    }

    /// Returns the mean SNR at a tick, before shadowing and blockage, dB.
    pub fn mean_snr_db(&self, tick: usize) -> f64 {
        f64::from(self.mean_dbm[tick]) - self.noise_dbm.at_tick(tick)
    }

    /// Returns noise and interference at the UE.
    pub fn noise_dbm(&self, position: GridPosition) -> f64 {
        self.noise_dbm.at(position)
    }

    /// Returns noise and interference at the gNB.
    pub fn noise_ul_dbm(&self, position: GridPosition) -> f64 {
        self.noise_ul_dbm.at(position)
    }
}

impl Floor {
    fn new(noise: &Noise, grid: &Grid, ticks: &TimeGrid, mean_dbm: &[f32]) -> Self {
        let duration_s = ticks.duration_s();
        match noise {
            Noise::FigureDb(figure) => {
                let bandwidth_db = 10.0 * log10(grid.scs_hz);
                Self::Constant(THERMAL_DBM_PER_HZ + bandwidth_db + figure.get())
            }
            Noise::FloorDbmPerRe(series) => Self::PerTick(
                ticks
                    .times_s()
                    .map(|t_s| series.at(t_s, duration_s) as f32)
                    .collect(),
            ),
            Noise::SinrDb(series) => {
                let floor = |(mean_dbm, t_s)| mean_dbm - series.at(t_s, duration_s) as f32;
                Self::PerTick(
                    mean_dbm
                        .iter()
                        .copied()
                        .zip(ticks.times_s())
                        .map(floor)
                        .collect(),
                )
            }
        }
    }

    fn at_tick(&self, tick: usize) -> f64 {
        match self {
            Self::Constant(dbm) => *dbm,
            Self::PerTick(table) => f64::from(table[tick]),
        }
    }

    fn at(&self, position: GridPosition) -> f64 {
        match self {
            Self::Constant(dbm) => *dbm,
            Self::PerTick(table) => position.interpolate(table),
        }
    }
}

/// Mean and shadowing of the received power, with one entry per tick.
struct ReceivedPower {
    mean_dbm: Vec<f32>,
    shadow_db: Vec<f32>,
}

impl ReceivedPower {
    fn new(
        radio: &Radio,
        grid: &Grid,
        ticks: &TimeGrid,
        odometer: &Odometer,
        streams: &Streams,
    ) -> Result<Self, Problem> {
        let power_dbm = radio.ss_pbch_block_power_dbm.get();
        let mut power = match &radio.level {
            Level::RsrpDbm(series) => Self::from_series(ticks, |dbm| dbm, series),
            Level::PathLossDb(series) => {
                Self::from_series(ticks, |loss_db| power_dbm - loss_db, series)
            }
            Level::Tr38901(geometry) => Tr38901Path::new(geometry, odometer, grid, streams)
                .and_then(|path| Self::from_geometry(ticks, power_dbm, &path))
                .map_err(|violation| violation.at_key("radio.level.tr38901"))?,
        };
        if let Some(Shadowing {
            std_db,
            decorrelation_m,
        }) = radio.shadowing
        {
            let stream = streams.of(Purpose::Shadowing);
            let process = CorrelatedProcess::new(decorrelation_m.get(), odometer.loop_m(), stream)
                .map_err(|violation| violation.at_key("radio.shadowing"))?;
            let shadow_db = |t_s| (std_db.get() * process.at(odometer.distance_m(t_s))) as f32;
            power.shadow_db = ticks.times_s().map(shadow_db).collect();
        }
        Ok(power)
    }

    fn from_series(ticks: &TimeGrid, dbm: impl Fn(f64) -> f64, series: &Series) -> Self {
        let value = |t_s| dbm(series.at(t_s, ticks.duration_s())) as f32;
        Self {
            mean_dbm: ticks.times_s().map(value).collect(),
            shadow_db: vec![0.0; ticks.count()],
        }
    }

    fn from_geometry(
        ticks: &TimeGrid,
        power_dbm: f64,
        path: &Tr38901Path,
    ) -> Result<Self, Violation> {
        let arrivals = ticks
            .times_s()
            .map(|t_s| path.at(t_s))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            mean_dbm: arrivals
                .iter()
                .map(|arrival| (power_dbm + arrival.gain_db) as f32)
                .collect(),
            shadow_db: arrivals
                .iter()
                .map(|arrival| arrival.shadow_db as f32)
                .collect(),
        })
    }
}

/// Returns the loss by a blocker at `t_s`: a trapezium in dB over time.
fn blocked_db(blocker: &Blocker, t_s: f64) -> f64 {
    let inside_s = (t_s - blocker.from_s.get()).min(blocker.to_s.get() - t_s);
    let ramp_s = blocker.ramp_s.map_or(0.0, |ramp| ramp.get());
    if inside_s < 0.0 {
        0.0
    } else if inside_s < ramp_s {
        blocker.loss_db.get() * inside_s / ramp_s
    } else {
        blocker.loss_db.get()
    }
}
