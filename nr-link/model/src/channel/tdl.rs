// SPDX-License-Identifier: Apache-2.0
//! The tapped delay lines of TR 38.901 clause 7.7.2, tables 7.7.2-1 to 7.7.2-5.

use super::ray::Ray;
use crate::radio::decibel::to_ratio;
use crate::scenario::{Tdl, TdlProfile};

/// A profile: delays relative to the RMS delay spread, powers in dB.
pub(super) struct Table {
    /// Power of the specular path at delay 0, if the profile has line of sight.
    pub specular_db: Option<f64>,
    /// Delay and power of each diffuse path, in the order of the report.
    pub diffuse: &'static [(f64, f64)],
}

/// Returns the paths of a profile, scaled to a delay spread (clause 7.7.3).
pub(super) fn rays(tdl: &Tdl) -> impl Iterator<Item = Ray> {
    let table = table(tdl.profile);
    let delay_spread_s = tdl.delay_spread_ns.get() * 1e-9;
    table
        .diffuse
        .iter()
        .enumerate()
        .map(move |(index, (delay, power_db))| Ray {
            delay_s: delay * delay_spread_s,
            specular_power: table
                .specular_db
                .filter(|_| index == 0)
                .map_or(0.0, to_ratio),
            diffuse_power: to_ratio(*power_db),
        })
}

pub(super) const fn table(profile: TdlProfile) -> Table {
    match profile {
        TdlProfile::A => Table {
            specular_db: None,
            diffuse: &A,
        },
        TdlProfile::B => Table {
            specular_db: None,
            diffuse: &B,
        },
        TdlProfile::C => Table {
            specular_db: None,
            diffuse: &C,
        },
        TdlProfile::D => Table {
            specular_db: Some(-0.2),
            diffuse: &D,
        },
        TdlProfile::E => Table {
            specular_db: Some(-0.03),
            diffuse: &E,
        },
    }
}

#[rustfmt::skip] // four paths per line
const A: [(f64, f64); 23] = [
    (0.0, -13.4), (0.3819, 0.0), (0.4025, -2.2), (0.5868, -4.0),
    (0.4610, -6.0), (0.5375, -8.2), (0.6708, -9.9), (0.5750, -10.5),
    (0.7618, -7.5), (1.5375, -15.9), (1.8978, -6.6), (2.2242, -16.7),
    (2.1718, -12.4), (2.4942, -15.2), (2.5119, -10.8), (3.0582, -11.3),
    (4.0810, -12.7), (4.4579, -16.2), (4.5695, -18.3), (4.7966, -18.9),
    (5.0066, -16.6), (5.3043, -19.9), (9.6586, -29.7),
];
#[rustfmt::skip]
const B: [(f64, f64); 23] = [
    (0.0, 0.0), (0.1072, -2.2), (0.2155, -4.0), (0.2095, -3.2),
    (0.2870, -9.8), (0.2986, -1.2), (0.3752, -3.4), (0.5055, -5.2),
    (0.3681, -7.6), (0.3697, -3.0), (0.5700, -8.9), (0.5283, -9.0),
    (1.1021, -4.8), (1.2756, -5.7), (1.5474, -7.5), (1.7842, -1.9),
    (2.0169, -7.6), (2.8294, -12.2), (3.0219, -9.8), (3.6187, -11.4),
    (4.1067, -14.9), (4.2790, -9.2), (4.7834, -11.3),
];
#[rustfmt::skip]
#[allow(clippy::approx_constant)] // 0.6366 is from the table, not 2/π
const C: [(f64, f64); 24] = [
    (0.0, -4.4), (0.2099, -1.2), (0.2219, -3.5), (0.2329, -5.2),
    (0.2176, -2.5), (0.6366, 0.0), (0.6448, -2.2), (0.6560, -3.9),
    (0.6584, -7.4), (0.7935, -7.1), (0.8213, -10.7), (0.9336, -11.1),
    (1.2285, -5.1), (1.3083, -6.8), (2.1704, -8.7), (2.7105, -13.2),
    (4.2589, -13.9), (4.6003, -13.9), (5.4902, -15.8), (5.6077, -17.1),
    (6.3065, -16.0), (6.6374, -15.7), (7.0427, -21.6), (8.6523, -22.8),
];
#[rustfmt::skip]
const D: [(f64, f64); 13] = [
    (0.0, -13.5), (0.035, -18.8), (0.612, -21.0), (1.363, -22.8),
    (1.405, -17.9), (1.804, -20.1), (2.596, -21.9), (1.775, -22.9),
    (4.042, -27.8), (7.937, -23.6), (9.424, -24.8), (9.708, -30.0),
    (12.525, -27.7),
];
#[rustfmt::skip]
const E: [(f64, f64); 14] = [
    (0.0, -22.03), (0.5133, -15.8), (0.5440, -18.1), (0.5630, -19.8),
    (0.5440, -22.9), (0.7112, -22.4), (1.9092, -18.6), (1.9293, -20.8),
    (1.9589, -22.6), (2.6426, -22.3), (3.7136, -25.6), (5.4524, -20.2),
    (12.0034, -29.8), (20.6519, -29.2),
];

#[cfg(test)]
mod tests;
