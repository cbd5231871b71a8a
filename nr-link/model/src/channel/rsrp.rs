// SPDX-License-Identifier: Apache-2.0
//! RSRP as a UE measures it, over the scenario.

use std::sync::{Arc, Mutex, PoisonError};

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

/// After so many half-lives a measurement no longer counts: its weight is far below the precision of a result.
const FORGOTTEN_AFTER: f64 = 100.0;

/// Filtered measurements, one per tick. Each is computed when a UE first asks for it or a later one: scenarios are longer
/// than most runs.
#[derive(Debug)]
pub(super) struct RsrpMeter {
    ticks: TimeGrid,
    odometer: Arc<Odometer>,
    multipath: Arc<Multipath>,
    filter: Mutex<Filter>,
}

/// The layer 3 filter, with its results so far.
#[derive(Debug)]
struct Filter {
    mean_dbm: f64,
    filtered_dbm: Vec<f32>,
}

impl RsrpMeter {
    pub fn new(ticks: &TimeGrid, odometer: &Arc<Odometer>, multipath: &Arc<Multipath>) -> Self {
        Self {
            ticks: ticks.clone(),
            odometer: Arc::clone(odometer),
            multipath: Arc::clone(multipath),
            filter: Mutex::new(Filter {
                mean_dbm: 0.0,
                filtered_dbm: Vec::with_capacity(ticks.count()), // no slot allocates memory
            }),
        }
    }

    /// Returns the latest measurement at a position in time, dBm, of a signal with these levels.
    pub fn at(&self, position: GridPosition, levels: &Levels) -> f64 {
        let tick = position.latest_tick();
        // What a panic leaves behind is still a filter with its results.
        let mut filter = self.filter.lock().unwrap_or_else(PoisonError::into_inner);
        while filter.filtered_dbm.len() <= tick {
            self.measure_next(&mut filter, levels);
        }
        f64::from(filter.filtered_dbm[tick])
    }

    fn measure_next(&self, filter: &mut Filter, levels: &Levels) {
        let sample_dbm = |tick| self.sample_dbm(tick, levels);
        let memory = pow(0.5, self.ticks.tick_s() / HALF_LIFE_S);
        let next = filter.filtered_dbm.len();
        if next == 0 {
            filter.mean_dbm = match self.ticks.loops() {
                true => self.settled_dbm(memory, sample_dbm),
                false => sample_dbm(0),
            };
        }
        filter.mean_dbm = memory * filter.mean_dbm + (1.0 - memory) * sample_dbm(next);
        filter.filtered_dbm.push(filter.mean_dbm as f32);
    }

    /// Returns the filter's value at the end of a loop in the periodic state, from which the next loop starts.
    fn settled_dbm(&self, memory: f64, sample_dbm: impl Fn(usize) -> f64) -> f64 {
        let remembered = (FORGOTTEN_AFTER * HALF_LIFE_S / self.ticks.tick_s()).ceil() as usize;
        let remembered = remembered.min(self.ticks.count());
        let samples_dbm = (self.ticks.count() - remembered..self.ticks.count()).map(sample_dbm);
        let from_zero =
            samples_dbm.fold(0.0, |mean, sample| memory * mean + (1.0 - memory) * sample);
        from_zero / (1.0 - pow(memory, remembered as f64))
    }

    /// Returns the power over the SSB at a tick, dBm.
    fn sample_dbm(&self, tick: usize, levels: &Levels) -> f64 {
        let t_s = self.ticks.time_s(tick);
        let faded = self.multipath.ssb_power(Moment {
            t_s,
            distance_m: self.odometer.distance_m(t_s),
        });
        let level_dbm = f64::from(levels.signals_dbm()[tick]);
        (level_dbm + from_ratio(faded)).max(NO_SIGNAL_DBM)
    }
}
