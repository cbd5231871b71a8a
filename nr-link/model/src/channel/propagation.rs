// SPDX-License-Identifier: Apache-2.0
//! The channel as a signal in the time domain meets it: paths with delays, level and noise.

use num_complex::Complex64;

use super::fading::Moment;
use super::{Channel, NO_SIGNAL_DBM};
use crate::Nanos;

/// The paths, level and noise that a signal meets at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Propagation {
    /// Received power before small-scale fading, dBm per resource element.
    pub signal_dbm: f64,
    /// Noise and interference at the UE, dBm per resource element.
    pub noise_dbm: f64,
    /// Power of the transmitter's error vector, as a ratio to that of its signal.
    pub evm_power: f64,
    /// SS-RSRP as the UE would report it, dBm.
    pub rsrp_dbm: f64,
    /// The paths, whose mean total power is 1.
    pub paths: Vec<Path>,
}

/// A path of the signal at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// Delay after the earliest path, s.
    pub delay_s: f64,
    /// Gain of the equivalent baseband signal around the carrier's centre.
    pub gain: Complex64,
}

impl Channel {
    /// Returns the longest delay that a path ever has, s.
    pub fn longest_delay_s(&self) -> f64 {
        self.multipath.longest_delay_s()
    }

    /// Returns the channel at `t` after the start of the scenario in the time domain. Its frequency response is that
    /// of [`Channel::observe`]. After a scenario that stops there are no paths.
    pub fn propagation(&self, t: Nanos) -> Propagation {
        let position = self.ticks.position(t);
        let at = position.unwrap_or(self.ticks.last());
        let beam = self.served();
        let levels = &beam.levels;
        let mut seen = Propagation {
            signal_dbm: NO_SIGNAL_DBM,
            noise_dbm: levels.noise_dbm(at),
            evm_power: self.evm_power,
            rsrp_dbm: NO_SIGNAL_DBM,
            paths: Vec::new(),
        };
        if position.is_none() {
            return seen;
        }
        seen.signal_dbm = levels.signal_dbm(at);
        seen.rsrp_dbm = beam.rsrp_dbm(at);
        let moment = Moment {
            t_s: at.t_s,
            distance_m: self.odometer.distance_m(at.t_s),
        };
        let mut keep = |delay_s, gain| seen.paths.push(Path { delay_s, gain });
        self.multipath.each_path(moment, &mut keep);
        seen
    }
}
