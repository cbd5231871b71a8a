// SPDX-License-Identifier: Apache-2.0
//! The large-scale propagation to a moving UE in an environment of TR 38.901.

use libm::exp;

use super::odometer::Odometer;
use super::path_loss::PathLoss;
use super::random_streams::{Purpose, Streams};
use crate::correlated_process::CorrelatedProcess;
use crate::problem::Violation;
use crate::radio::Grid;
use crate::scenario::{LineOfSight, Tr38901};

/// The path between gNB and UE, with the processes that vary along the UE's route.
pub(super) struct Tr38901Path<'a> {
    geometry: &'a Tr38901,
    odometer: &'a Odometer,
    path: PathLoss,
    los_process: CorrelatedProcess,
    los_shadowing: CorrelatedProcess,
    nlos_shadowing: CorrelatedProcess,
}

/// Gain and shadowing at one position of the UE.
pub(super) struct Arrival {
    /// Antenna gain less path loss, dB.
    pub gain_db: f64,
    /// Shadowing, dB.
    pub shadow_db: f64,
}

impl Arrival {
    /// Beyond the range of the formulas nothing is received.
    const NONE: Self = Self {
        gain_db: -300.0,
        shadow_db: 0.0,
    };
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
            CorrelatedProcess::new(decorrelation_m, odometer.loop_m(), streams.of(purpose))
        };
        Ok(Self {
            los_process: drawn(path.los_decorrelation_m(), Purpose::LineOfSight)?,
            los_shadowing: drawn(path.shadowing_decorrelation_m(true), Purpose::Shadowing)?,
            nlos_shadowing: drawn(
                path.shadowing_decorrelation_m(false),
                Purpose::ShadowingNlos,
            )?,
            geometry,
            odometer,
            path,
        })
    }

    /// Returns gain and shadowing at `t_s`.
    ///
    /// # Errors
    /// The position is outside the range of the report's formulas.
    pub fn at(&self, t_s: f64) -> Result<Arrival, Violation> {
        let distance_m = self.geometry.distance_m.map(|distance| distance.get());
        let mut ground_m = distance_m.unwrap_or_else(|| self.odometer.to_origin_m(t_s));
        let moved_m = self.odometer.distance_m(t_s);
        let line_of_sight = self.has_line_of_sight(ground_m, moved_m);
        if self.geometry.one_of_several {
            let (nearest_m, farthest_m) = self.path.range_m(line_of_sight);
            if ground_m > farthest_m {
                return Ok(Arrival::NONE);
            }
            ground_m = ground_m.max(nearest_m);
        }
        self.path
            .check(ground_m, line_of_sight)
            .map_err(|Violation { rule, fix }| {
                Violation::new(format!("at {t_s:.1} s: {rule}"), fix)
            })?;
        let (loss_db, shadow) = match line_of_sight {
            true => (self.path.los_db(ground_m), &self.los_shadowing),
            false => (self.path.nlos_db(ground_m), &self.nlos_shadowing),
        };
        let antennas_db = self
            .geometry
            .gnb
            .antenna_gain_dbi
            .map_or(0.0, |gain| gain.get());
        Ok(Arrival {
            gain_db: antennas_db - loss_db - self.beside_db(t_s),
            shadow_db: self.path.shadowing_db(ground_m, line_of_sight) * shadow.at(moved_m),
        })
    }

    /// Returns what the antenna of a sector loses beside its bearing, dB: the horizontal pattern of TR 38.901 table
    /// 7.3-1, 65° wide at 3 dB, and at most 30 dB.
    fn beside_db(&self, t_s: f64) -> f64 {
        self.geometry.gnb.bearing_deg.map_or(0.0, |bearing_deg| {
            let away_deg = self.odometer.bearing_deg(t_s) - bearing_deg;
            let away_deg = (away_deg + 180.0).rem_euclid(360.0) - 180.0;
            (12.0 * (away_deg / 65.0).powi(2)).min(30.0)
        })
    }

    fn has_line_of_sight(&self, ground_m: f64, moved_m: f64) -> bool {
        match self.geometry.line_of_sight {
            LineOfSight::Always => true,
            LineOfSight::Never => false,
            LineOfSight::Probable => {
                normal_cdf(self.los_process.at(moved_m)) < self.path.los_probability(ground_m)
            }
        }
    }
}

/// Returns the probability that a standard normal variable is below `z`, within 1e-7 (Abramowitz
/// and Stegun 26.2.17).
fn normal_cdf(z: f64) -> f64 {
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
    fn probabilities_are_those_of_the_normal_distribution() {
        for (z, probability) in [
            (0.0, 0.5),
            (1.0, 0.841_344_7),
            (-1.959_964, 0.025),
            (3.0, 0.998_650_1),
        ] {
            assert!((super::normal_cdf(z) - probability).abs() < 1e-6, "{z}");
        }
    }
}
