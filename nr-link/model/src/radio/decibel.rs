// SPDX-License-Identifier: Apache-2.0
//! Decibels, by arithmetic that is the same on every machine.

/// The ratio of a level in dB.
pub fn to_ratio(db: f64) -> f64 {
    libm::exp(db * (std::f64::consts::LN_10 / 10.0))
}

/// The level in dB of a ratio.
pub fn from_ratio(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}
