// SPDX-License-Identifier: Apache-2.0
//! The slow part: mean received power with shadowing and blockage, and noise beside it.

use super::motion::Odometer;
use super::shadowing::Correlated;
use super::streams::{Purpose, Streams};
use super::ticks::{Place, Ticks};
use super::{Carrier, ChannelError};
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
        carrier: Carrier,
        ticks: &Ticks,
        odometer: &Odometer,
        streams: &Streams,
    ) -> Result<Self, ChannelError> {
        let mean_dbm = mean_dbm(radio, ticks)?;
        let shadow = radio
            .shadowing
            .map(|shadowing| Shadow::new(shadowing, odometer, streams));
        let signal_dbm = mean_dbm.iter().zip(ticks.times_s()).map(|(mean_dbm, t_s)| {
            let shadow_db = shadow
                .as_ref()
                .map_or(0.0, |shadow| shadow.at(odometer.distance_m(t_s)));
            let blocked_db: f64 = radio
                .blockage
                .iter()
                .map(|blocker| blocked_db(blocker, t_s))
                .sum();
            (f64::from(*mean_dbm) + shadow_db - blocked_db) as f32
        });
        let floor = |noise: &Noise| Floor::new(noise, carrier, ticks, &mean_dbm);
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
    fn new(noise: &Noise, carrier: Carrier, ticks: &Ticks, mean_dbm: &[f32]) -> Self {
        let duration_s = ticks.duration_s();
        match noise {
            Noise::FigureDb(figure) => {
                let bandwidth_db = 10.0 * carrier.subcarrier_hz.log10();
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

struct Shadow {
    std_db: f64,
    process: Correlated,
}

impl Shadow {
    fn new(shadowing: Shadowing, odometer: &Odometer, streams: &Streams) -> Self {
        let stream = streams.of(Purpose::Shadowing);
        let process = Correlated::new(shadowing.decorrelation_m.get(), odometer.lap_m(), stream);
        Self {
            std_db: shadowing.std_db.get(),
            process,
        }
    }

    fn at(&self, distance_m: f64) -> f64 {
        self.std_db * self.process.at(distance_m)
    }
}

fn mean_dbm(radio: &Radio, ticks: &Ticks) -> Result<Vec<f32>, ChannelError> {
    let duration_s = ticks.duration_s();
    let power_dbm = radio.ss_pbch_block_power_dbm.get();
    match &radio.level {
        Level::RsrpDbm(series) => Ok(ticks
            .times_s()
            .map(|t_s| series.at(t_s, duration_s) as f32)
            .collect()),
        Level::PathLossDb(series) => Ok(ticks
            .times_s()
            .map(|t_s| (power_dbm - series.at(t_s, duration_s)) as f32)
            .collect()),
        Level::Tr38901(_) => Err(ChannelError(
            "path loss from geometry is not built yet; give rsrp_dbm".into(),
        )),
    }
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
