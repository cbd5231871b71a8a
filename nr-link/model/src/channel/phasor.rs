// SPDX-License-Identifier: Apache-2.0
//! Sine and cosine of an angle in turns. The arithmetic is our own because library functions differ
//! in the last bit between machines, and prevent vectorisation.

use num_complex::Complex64;

/// A number whose addition and subtraction rounds to the nearest integer.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// Returns e^(j2πx) within 1e-9, for |x| below 2^40.
#[inline(always)]
pub(super) fn cis(x: f64) -> Complex64 {
    Complex64::new(cosine(x), cosine(x - 0.25))
}

/// Returns cos 2πx = sin(π/2 − 2π|x|) by a Taylor series, after reducing x to the distance from the
/// nearest integer.
#[inline(always)]
fn cosine(x: f64) -> f64 {
    let nearest = (x + ROUNDER) - ROUNDER;
    let z = std::f64::consts::TAU * (0.25 - (x - nearest).abs());
    let y = z * z;
    let series = y * (1.0 / 6_227_020_800.0);
    let series = y * (series - 1.0 / 39_916_800.0);
    let series = y * (series + 1.0 / 362_880.0);
    let series = y * (series - 1.0 / 5_040.0);
    let series = y * (series + 1.0 / 120.0);
    z + z * (y * (series - 1.0 / 6.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_system(x in -1e5f64..1e5) {
            let (sin, cos) = (std::f64::consts::TAU * (x - x.round())).sin_cos();
            let ours = super::cis(x);
            prop_assert!((ours.re - cos).abs() < 1e-9 && (ours.im - sin).abs() < 1e-9);
        }
    }
}
