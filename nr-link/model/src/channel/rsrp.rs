// SPDX-License-Identifier: Apache-2.0
//! RSRP as a UE measures it, computed once for the whole scenario.

use libm::pow;

use super::NO_SIGNAL_DBM;
use super::fading::{Moment, Multipath};
use super::large_scale::Levels;
use super::odometer::Odometer;
use super::time_grid::{GridPosition, TimeGrid};
use crate::radio::decibel::from_ratio;

/// With the default filterCoefficient k = 4, the layer 3 filter halves the weight of old values (a
/// = 1/2^(k/4)) in each measurement period (TS 38.331 clause 5.5.3.2; in dB, as specified there),
/// which is 200 ms (TS 38.133 clause 9.2.5).
const HALF_LIFE_S: f64 = 0.200;

/// Filtered measurements, one per tick, dBm.
#[derive(Debug, Clone)]
pub(super) struct RsrpMeter(Vec<f32>);

impl RsrpMeter {
    pub fn new(
        ticks: &TimeGrid,
        odometer: &Odometer,
        levels: &Levels,
        multipath: &Multipath,
    ) -> Self {
        let levels = levels.signals_dbm().iter().zip(ticks.times_s());
        let samples_dbm: Vec<f64> = levels
            .map(|(level_dbm, t_s)| {
                let faded = multipath.ssb_power(Moment {
                    t_s,
                    distance_m: odometer.distance_m(t_s),
                });
                (f64::from(*level_dbm) + from_ratio(faded)).max(NO_SIGNAL_DBM)
            })
            .collect();
        let memory = pow(0.5, ticks.tick_s() / HALF_LIFE_S);
        let start = if ticks.loops() {
            settled(&samples_dbm, memory)
        } else {
            samples_dbm[0]
        };
        let filter = |mean_dbm: &mut f64, sample_dbm: &f64| {
            *mean_dbm = memory * *mean_dbm + (1.0 - memory) * sample_dbm;
            Some(*mean_dbm as f32)
        };
        Self(samples_dbm.iter().scan(start, filter).collect())
    }

    /// Returns the latest measurement at a position in time.
    pub fn at(&self, position: GridPosition) -> f64 {
        position.latest(&self.0)
    }
}

/// Returns the filter's value at the end of a loop in the periodic state, from which the next loop
/// starts.
fn settled(samples: &[f64], memory: f64) -> f64 {
    let forgotten = pow(memory, samples.len() as f64);
    let from_zero = samples
        .iter()
        .fold(0.0, |mean, sample| memory * mean + (1.0 - memory) * sample);
    from_zero / (1.0 - forgotten)
}
