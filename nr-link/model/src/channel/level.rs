// SPDX-License-Identifier: Apache-2.0
//! The slow part: mean received power with shadowing and blockage, and noise beside it.

use libm::log10;

use super::motion::Odometer;
use super::shadowing::Correlated;
use super::streams::{Purpose, Streams};
use super::ticks::{Place, Ticks};
use super::{ChannelError, geometry};
use crate::radio::Grid;
use crate::scenario::{Blocker, Level, Noise, Radio, Shadowing};

/// Boltzmann's constant times 290 K, dBm in one hertz.
const THERMAL_DBM_PER_HZ: f64 = -173.975;

/// Signal and noise of a resource element, dBm, one entry a tick.
#[derive(Debug, Clone)]
pub(super) struct Levels {
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
        ticks: &Ticks,
        odometer: &Odometer,
        streams: &Streams,
    ) -> Result<Self, ChannelError> {
        let Slow {
            mean_dbm,
            shadow_db,
        } = slow(radio, grid, ticks, odometer, streams)?;
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
        })
    }

    /// Received power before fading, between ticks.
    pub fn signal_dbm(&self, place: Place) -> f64 {
        place.interpolate(&self.signal_dbm)
    }

    /// The same, at each tick.
    pub fn signals_dbm(&self) -> &[f32] {
        &self.signal_dbm
    }

    /// Noise and interference at the UE.
    pub fn noise_dbm(&self, place: Place) -> f64 {
        self.noise_dbm.at(place)
    }

    /// Noise and interference at the gNB.
    pub fn noise_ul_dbm(&self, place: Place) -> f64 {
        self.noise_ul_dbm.at(place)
    }
}

impl Floor {
    fn new(noise: &Noise, grid: &Grid, ticks: &Ticks, mean_dbm: &[f32]) -> Self {
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

    fn at(&self, place: Place) -> f64 {
        match self {
            Self::Constant(dbm) => *dbm,
            Self::PerTick(table) => place.interpolate(table),
        }
    }
}

/// Mean and shadowing of the received power, one entry a tick.
pub(super) struct Slow {
    pub mean_dbm: Vec<f32>,
    pub shadow_db: Vec<f32>,
}

fn slow(
    radio: &Radio,
    grid: &Grid,
    ticks: &Ticks,
    odometer: &Odometer,
    streams: &Streams,
) -> Result<Slow, ChannelError> {
    let tabled =
        |value: &dyn Fn(f64) -> f64| ticks.times_s().map(|t_s| value(t_s) as f32).collect();
    let duration_s = ticks.duration_s();
    let power_dbm = radio.ss_pbch_block_power_dbm.get();
    let shadow = radio
        .shadowing
        .map(|shadowing| shadow(shadowing, odometer, streams));
    let shadow_db: Option<Vec<f32>> =
        shadow.map(|shadow| tabled(&|t_s| shadow(odometer.distance_m(t_s))));
    let still = || vec![0.0; ticks.count()];
    match &radio.level {
        Level::RsrpDbm(series) => Ok(Slow {
            mean_dbm: tabled(&|t_s| series.at(t_s, duration_s)),
            shadow_db: shadow_db.unwrap_or_else(still),
        }),
        Level::PathLossDb(series) => Ok(Slow {
            mean_dbm: tabled(&|t_s| power_dbm - series.at(t_s, duration_s)),
            shadow_db: shadow_db.unwrap_or_else(still),
        }),
        Level::Tr38901(geometry) => {
            let place = geometry::Place {
                geometry,
                power_dbm,
                ticks,
                odometer,
            };
            let drawn = place.slow(grid, streams)?;
            Ok(Slow {
                shadow_db: shadow_db.unwrap_or(drawn.shadow_db),
                ..drawn
            })
        }
    }
}

fn shadow(shadowing: Shadowing, odometer: &Odometer, streams: &Streams) -> impl Fn(f64) -> f64 {
    let stream = streams.of(Purpose::Shadowing);
    let process = Correlated::new(shadowing.decorrelation_m.get(), odometer.lap_m(), stream);
    move |distance_m| shadowing.std_db.get() * process.at(distance_m)
}

/// What a blocker takes at `t_s`: a trapezium in dB.
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
