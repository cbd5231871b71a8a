// SPDX-License-Identifier: Apache-2.0
//! A UE on its way through one of TR 38.901's environments.

use libm::exp;

use super::odometer::Odometer;
use super::path_loss::PathLoss;
use super::random_streams::{Purpose, Streams};
use super::shadowing::Correlated;
use crate::problem::Violation;
use crate::radio::Grid;
use crate::scenario::{LineOfSight, Tr38901};

/// The way, and what the report's environment does along it.
pub(super) struct Tr38901Path<'a> {
    geometry: &'a Tr38901,
    odometer: &'a Odometer,
    path: PathLoss,
    sight: Correlated,
    shadow_seen: Correlated,
    shadow_hidden: Correlated,
}

/// What arrives at one place.
pub(super) struct Arrival {
    /// Antenna gain less path loss, dB.
    pub gain_db: f64,
    /// Shadowing, dB.
    pub shadow_db: f64,
}

impl<'a> Tr38901Path<'a> {
    pub fn new(
        geometry: &'a Tr38901,
        odometer: &'a Odometer,
        grid: &Grid,
        streams: &Streams,
    ) -> Result<Self, Violation> {
        let path = PathLoss {
            environment: geometry.environment,
            carrier_hz: grid.carrier_hz,
            gnb_m: geometry.gnb.height_m.get(),
            ue_m: geometry.ue_height_m.get(),
        };
        let drawn = |decorrelation_m, purpose| {
            Correlated::new(decorrelation_m, odometer.lap_m(), streams.of(purpose))
        };
        Ok(Self {
            sight: drawn(path.seen_decorrelation_m(), Purpose::LineOfSight)?,
            shadow_seen: drawn(path.shadowing_decorrelation_m(true), Purpose::Shadowing)?,
            shadow_hidden: drawn(
                path.shadowing_decorrelation_m(false),
                Purpose::ShadowingHidden,
            )?,
            geometry,
            odometer,
            path,
        })
    }

    /// What arrives at `t_s`.
    ///
    /// # Errors
    /// The way leads where the report has no formula.
    pub fn at(&self, t_s: f64) -> Result<Arrival, Violation> {
        let distance_m = self.geometry.distance_m.map(|distance| distance.get());
        let ground_m = distance_m.unwrap_or_else(|| self.odometer.to_origin_m(t_s));
        self.path
            .check(ground_m)
            .map_err(|Violation { rule, fix }| {
                Violation::new(format!("at {t_s:.1} s: {rule}"), fix)
            })?;
        let gone_m = self.odometer.distance_m(t_s);
        let seen = self.sees(ground_m, gone_m);
        let (loss_db, shadow) = match seen {
            true => (self.path.seen_db(ground_m), &self.shadow_seen),
            false => (self.path.hidden_db(ground_m), &self.shadow_hidden),
        };
        let antennas_db = self
            .geometry
            .gnb
            .antenna_gain_dbi
            .map_or(0.0, |gain| gain.get());
        Ok(Arrival {
            gain_db: antennas_db - loss_db,
            shadow_db: self.path.shadowing_db(ground_m, seen) * shadow.at(gone_m),
        })
    }

    fn sees(&self, ground_m: f64, gone_m: f64) -> bool {
        match self.geometry.line_of_sight {
            LineOfSight::Always => true,
            LineOfSight::Never => false,
            LineOfSight::Probable => {
                normal_share(self.sight.at(gone_m)) < self.path.seen_probability(ground_m)
            }
        }
    }
}

/// Share of a standard normal below `z`, within 1e-7: Abramowitz and Stegun 26.2.17.
fn normal_share(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let tail = t * series.iter().fold(0.0, |sum, term| sum * t + term);
    let tail = tail * exp(-z * z / 2.0) / std::f64::consts::TAU.sqrt();
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    #[test]
    fn shares_are_those_of_the_normal_table() {
        for (z, share) in [
            (0.0, 0.5),
            (1.0, 0.841_344_7),
            (-1.959_964, 0.025),
            (3.0, 0.998_650_1),
        ] {
            assert!((super::normal_share(z) - share).abs() < 1e-6, "{z}");
        }
    }
}
