// SPDX-License-Identifier: Apache-2.0
//! RSRP as a UE measures it, tabled once for the whole scenario.

use libm::pow;

use super::SILENCE_DBM;
use super::fading::Multipath;
use super::level::Levels;
use super::motion::Odometer;
use super::ticks::{Place, Ticks};
use crate::radio::decibel::{from_ratio, to_ratio};

/// With filterCoefficient k = 4, the default, layer 3 forgets half (a = 1/2^(k/4)) in each
/// measurement period (TS 38.331 clause 5.5.3.2), and that is 200 ms (TS 38.133 clause 9.2.5).
const HALF_LIFE_S: f64 = 0.200;

/// One filtered measurement a tick, dBm.
#[derive(Debug, Clone)]
pub(super) struct RsrpMeter(Vec<f32>);

impl RsrpMeter {
    pub fn new(ticks: &Ticks, odometer: &Odometer, levels: &Levels, multipath: &Multipath) -> Self {
        let samples: Vec<f64> = levels
            .signals_dbm()
            .iter()
            .zip(ticks.times_s())
            .map(|(level_dbm, t_s)| {
                let faded = multipath.ssb_power(odometer.distance_m(t_s));
                to_ratio(f64::from(*level_dbm)) * faded
            })
            .collect();
        let memory = pow(0.5, ticks.tick_s() / HALF_LIFE_S);
        let start = if ticks.loops() {
            settled(&samples, memory)
        } else {
            samples[0]
        };
        let filter = |mean_mw: &mut f64, sample: &f64| {
            *mean_mw = memory * *mean_mw + (1.0 - memory) * sample;
            Some(from_ratio(*mean_mw).max(SILENCE_DBM) as f32)
        };
        Self(samples.iter().scan(start, filter).collect())
    }

    /// The measurement that is valid at `place`.
    pub fn at(&self, place: Place) -> f64 {
        place.latest(&self.0)
    }
}

/// What the filter holds at the end of a loop, and so at the start of the next.
fn settled(samples: &[f64], memory: f64) -> f64 {
    let forgotten = pow(memory, samples.len() as f64);
    let from_zero = samples
        .iter()
        .fold(0.0, |mean, sample| memory * mean + (1.0 - memory) * sample);
    from_zero / (1.0 - forgotten)
}
