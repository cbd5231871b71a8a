// SPDX-License-Identifier: Apache-2.0
//! A UE on its way through one of TR 38.901's environments.

use libm::exp;

use super::ChannelError;
use super::level::Slow;
use super::motion::Odometer;
use super::path_loss::PathLoss;
use super::shadowing::Correlated;
use super::streams::{Purpose, Streams};
use super::ticks::Ticks;
use crate::radio::Grid;
use crate::scenario::{LineOfSight, Tr38901};

/// What decides where the UE is and how much arrives there.
pub(super) struct Place<'a> {
    pub geometry: &'a Tr38901,
    pub power_dbm: f64,
    pub ticks: &'a Ticks,
    pub odometer: &'a Odometer,
}

impl Place<'_> {
    /// Received power without fading, and the shadowing that the report has for it.
    ///
    /// # Errors
    /// The way leads where the report has no formula.
    pub fn slow(&self, grid: &Grid, streams: &Streams) -> Result<Slow, ChannelError> {
        let path = self.path_loss(grid);
        let sight = self.correlated(path.seen_decorrelation_m(), Purpose::LineOfSight, streams);
        let shadow = [
            (true, Purpose::Shadowing),
            (false, Purpose::ShadowingHidden),
        ]
        .map(|(seen, purpose)| {
            self.correlated(path.shadowing_decorrelation_m(seen), purpose, streams)
        });
        let gain_dbi = self
            .geometry
            .gnb
            .antenna_gain_dbi
            .map_or(0.0, |gain| gain.get());
        let mut slow = Slow {
            mean_dbm: Vec::new(),
            shadow_db: Vec::new(),
        };
        for t_s in self.ticks.times_s() {
            let ground_m = self
                .geometry
                .distance_m
                .map_or_else(|| self.odometer.to_origin_m(t_s), |d| d.get());
            path.check(ground_m)
                .map_err(|rule| ChannelError(format!("at {t_s:.1} s: {rule}")))?;
            let gone_m = self.odometer.distance_m(t_s);
            let seen = match self.geometry.line_of_sight {
                LineOfSight::Always => true,
                LineOfSight::Never => false,
                LineOfSight::Probable => {
                    normal_share(sight.at(gone_m)) < path.seen_probability(ground_m)
                }
            };
            let loss_db = if seen {
                path.seen_db(ground_m)
            } else {
                path.hidden_db(ground_m)
            };
            let shadow_db =
                path.shadowing_db(ground_m, seen) * shadow[usize::from(!seen)].at(gone_m);
            slow.mean_dbm
                .push((self.power_dbm + gain_dbi - loss_db) as f32);
            slow.shadow_db.push(shadow_db as f32);
        }
        Ok(slow)
    }

    fn path_loss(&self, grid: &Grid) -> PathLoss {
        PathLoss {
            environment: self.geometry.environment,
            carrier_hz: grid.carrier_hz,
            gnb_m: self.geometry.gnb.height_m.get(),
            ue_m: self.geometry.ue_height_m.get(),
        }
    }

    fn correlated(&self, decorrelation_m: f64, purpose: Purpose, streams: &Streams) -> Correlated {
        Correlated::new(decorrelation_m, self.odometer.lap_m(), streams.of(purpose))
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
