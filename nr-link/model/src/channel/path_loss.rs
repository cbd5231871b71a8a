// SPDX-License-Identifier: Apache-2.0
//! Path loss and line of sight by 3GPP TR 38.901 V17: tables 7.4.1-1 (path loss, shadowing),
//! 7.4.2-1 (probability of line of sight), 7.5-6 (correlation of shadowing) and 7.6.3.1-2
//! (correlation of line of sight). Distances are in m, frequencies in Hz, losses in dB.
//!
//! Left out: UMa with a UE above 13 m, whose environment height is random, and loss into buildings.

use libm::{exp, hypot, log10, pow};

use crate::problem::Violation;
use crate::scenario::Environment;

const LIGHT_MPS: f64 = 3.0e8; // the report's value
/// Mean height of buildings and width of streets in RMa, m: the defaults of the report.
const BUILDINGS_M: f64 = 5.0;
const STREETS_M: f64 = 20.0;
/// Effective environment height h_E in UMi, and in UMa for a UE at street level, m.
const ENVIRONMENT_M: f64 = 1.0;

/// The geometry of a gNB and a UE in an environment of the report.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathLoss {
    pub environment: Environment,
    pub carrier_hz: f64,
    pub gnb_m: f64,
    pub ue_m: f64,
}

impl PathLoss {
    /// Returns the distances that table 7.4.1-1 covers, m.
    pub fn range_m(&self, line_of_sight: bool) -> (f64, f64) {
        match self.environment {
            Environment::Rma if line_of_sight => (10.0, 10_000.0),
            Environment::Rma | Environment::Uma | Environment::Umi => (10.0, 5_000.0),
            Environment::Inh => (1.0, 150.0),
        }
    }

    /// Checks that table 7.4.1-1 covers the geometry at a distance of `ground_m`.
    pub fn check(&self, ground_m: f64, line_of_sight: bool) -> Result<(), Violation> {
        let (nearest_m, farthest_m) = self.range_m(line_of_sight);
        let distance_m = nearest_m..=farthest_m;
        let (ghz, ue_m, gnb_m) = match self.environment {
            Environment::Rma => (0.5..=30.0, 1.0..=10.0, 10.0..=150.0),
            Environment::Uma => (0.5..=100.0, 1.5..=13.0, 10.0..=50.0),
            Environment::Umi => (0.5..=100.0, 1.5..=22.5, 3.0..=20.0),
            Environment::Inh => (0.5..=100.0, 1.0..=3.0, 2.0..=6.0),
        };
        let rules = [
            ("carrier, GHz", self.carrier_hz / 1e9, ghz),
            ("ue_height_m", self.ue_m, ue_m),
            ("gnb height_m", self.gnb_m, gnb_m),
            ("distance from the gNB, m", ground_m, distance_m),
        ];
        match rules
            .into_iter()
            .find(|(_, value, range)| !range.contains(value))
        {
            None => Ok(()),
            Some((what, value, range)) => Err(Violation::new(
                format!(
                    "{what}: {value} is not between {} and {}, the range of {:?} in TR 38.901",
                    range.start(),
                    range.end(),
                    self.environment
                ),
                "Choose a value in that range, or another environment",
            )),
        }
    }

    /// Returns the path loss with line of sight, dB.
    pub fn los_db(&self, ground_m: f64) -> f64 {
        let distance_m = self.slant_m(ground_m);
        let ghz = self.carrier_hz / 1e9;
        let street = |offset: f64, slope: f64, bend: f64| {
            let break_m = self.street_break_m();
            if ground_m <= break_m {
                return offset + slope * log10(distance_m) + 20.0 * log10(ghz);
            }
            let corner = log10(break_m.powi(2) + (self.gnb_m - self.ue_m).powi(2));
            offset + 40.0 * log10(distance_m) + 20.0 * log10(ghz) - bend * corner
        };
        match self.environment {
            Environment::Umi => street(32.4, 21.0, 9.5),
            Environment::Uma => street(28.0, 22.0, 9.0),
            Environment::Rma => self.rural_seen_db(ground_m),
            Environment::Inh => 32.4 + 17.3 * log10(distance_m) + 20.0 * log10(ghz),
        }
    }

    /// Returns the path loss without line of sight, dB.
    pub fn nlos_db(&self, ground_m: f64) -> f64 {
        let distance = log10(self.slant_m(ground_m));
        let ghz = log10(self.carrier_hz / 1e9);
        let nlos_db = match self.environment {
            Environment::Umi => 22.4 + 35.3 * distance + 21.3 * ghz - 0.3 * (self.ue_m - 1.5),
            Environment::Uma => 13.54 + 39.08 * distance + 20.0 * ghz - 0.6 * (self.ue_m - 1.5),
            Environment::Inh => 17.3 + 38.3 * distance + 24.9 * ghz,
            Environment::Rma => {
                161.04 - 7.1 * log10(STREETS_M) + 7.5 * log10(BUILDINGS_M)
                    - (24.37 - 3.7 * (BUILDINGS_M / self.gnb_m).powi(2)) * log10(self.gnb_m)
                    + (43.42 - 3.1 * log10(self.gnb_m)) * (distance - 3.0)
                    + 20.0 * ghz
                    - (3.2 * log10(11.75 * self.ue_m).powi(2) - 4.97)
            }
        };
        nlos_db.max(self.los_db(ground_m))
    }

    /// Returns the standard deviation of shadowing, dB.
    pub fn shadowing_db(&self, ground_m: f64, los: bool) -> f64 {
        match (self.environment, los) {
            (Environment::Umi | Environment::Uma, true) => 4.0,
            (Environment::Umi, false) => 7.82,
            (Environment::Uma, false) => 6.0,
            (Environment::Rma, true) if ground_m <= self.rural_break_m() => 4.0,
            (Environment::Rma, true) => 6.0,
            (Environment::Rma, false) => 8.0,
            (Environment::Inh, true) => 3.0,
            (Environment::Inh, false) => 8.03,
        }
    }

    /// Returns the distance over which the correlation of shadowing falls to 1/e, m.
    pub fn shadowing_decorrelation_m(&self, los: bool) -> f64 {
        match (self.environment, los) {
            (Environment::Umi | Environment::Inh, true) => 10.0,
            (Environment::Umi, false) => 13.0,
            (Environment::Uma | Environment::Rma, true) => 37.0,
            (Environment::Uma, false) => 50.0,
            (Environment::Rma, false) => 120.0,
            (Environment::Inh, false) => 6.0,
        }
    }

    /// Returns the probability of line of sight.
    pub fn los_probability(&self, ground_m: f64) -> f64 {
        let street = |scale_m: f64| {
            let near = 18.0 / ground_m;
            if near >= 1.0 {
                1.0
            } else {
                near + exp(-ground_m / scale_m) * (1.0 - near)
            }
        };
        match self.environment {
            Environment::Umi => street(36.0),
            Environment::Uma => street(63.0), // C'(h) = 0 up to 13 m
            Environment::Rma => exp(-(ground_m - 10.0).max(0.0) / 1000.0),
            Environment::Inh if ground_m < 6.5 => exp(-(ground_m - 1.2).max(0.0) / 4.7),
            Environment::Inh => 0.32 * exp(-(ground_m - 6.5) / 32.6),
        }
    }

    /// Returns the correlation distance of the line-of-sight state, m.
    pub fn los_decorrelation_m(&self) -> f64 {
        match self.environment {
            Environment::Umi | Environment::Uma => 50.0,
            Environment::Rma => 60.0,
            Environment::Inh => 10.0,
        }
    }

    fn slant_m(&self, ground_m: f64) -> f64 {
        hypot(ground_m, self.gnb_m - self.ue_m)
    }

    /// Returns d'_BP of notes 1 and 2 to table 7.4.1-1.
    fn street_break_m(&self) -> f64 {
        let (gnb_m, ue_m) = (self.gnb_m - ENVIRONMENT_M, self.ue_m - ENVIRONMENT_M);
        4.0 * gnb_m * ue_m * self.carrier_hz / LIGHT_MPS
    }

    /// Returns d_BP of note 5.
    fn rural_break_m(&self) -> f64 {
        std::f64::consts::TAU * self.gnb_m * self.ue_m * self.carrier_hz / LIGHT_MPS
    }

    fn rural_seen_db(&self, ground_m: f64) -> f64 {
        let roofs = pow(BUILDINGS_M, 1.72);
        let near_db = |distance_m: f64| {
            let ghz = self.carrier_hz / 1e9;
            20.0 * log10(40.0 * std::f64::consts::PI * distance_m * ghz / 3.0)
                + (0.03 * roofs).min(10.0) * log10(distance_m)
                - (0.044 * roofs).min(14.77)
                + 0.002 * log10(BUILDINGS_M) * distance_m
        };
        let break_m = self.rural_break_m();
        let distance_m = self.slant_m(ground_m);
        if ground_m <= break_m {
            near_db(distance_m)
        } else {
            near_db(break_m) + 40.0 * log10(distance_m / break_m)
        }
    }
}

#[cfg(test)]
mod tests;
