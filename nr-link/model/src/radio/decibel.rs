// SPDX-License-Identifier: Apache-2.0
//! Decibels, with arithmetic that gives the same result on every machine.

/// Converts a level in dB to a ratio.
pub fn to_ratio(db: f64) -> f64 {
    libm::exp(db * (std::f64::consts::LN_10 / 10.0))
}

/// Converts a ratio to a level in dB.
pub fn from_ratio(ratio: f64) -> f64 {
    10.0 * libm::log10(ratio)
}
