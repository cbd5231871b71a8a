// SPDX-License-Identifier: Apache-2.0
//! Delays between samples: short filters, optimal in the occupied bandwidth.
//!
//! A filter of some samples approximates the frequency response of a delay, e^(-j2πfτ). The least squares of the error
//! over the carrier's bandwidth have a closed form (Laakso et al., "Splitting the unit delay", 1996, section "General
//! least squares"): its equations have sinc(2w(k-l)) on the left and sinc(2w(k-d)) on the right, for a band of ±w cycles
//! a sample.

use std::f64::consts::PI;

/// Coefficients of a filter. An impulse without a fraction is one coefficient, [`LEAD`].
pub const LENGTH: usize = 20;
/// Samples by which everything is late, so that filters are causal.
pub const LEAD: usize = LENGTH / 2 - 1;
/// Fractions of a sample in which delays are rounded: phases are exact to 0.005 at the band's edges.
const FRACTIONS: usize = 256;
/// Keeps the equations solvable where the band is narrow; far below the rounding of coefficients.
const REGULARISATION: f64 = 1e-9;

/// The filters of all fractions.
#[derive(Debug, Clone)]
pub struct Fractional(Vec<[f64; LENGTH]>);

impl Fractional {
    /// Designs the filters for a signal that occupies `occupied` of the sampling rate, at most 1.
    pub fn new(occupied: f64) -> Self {
        let filters = (0..FRACTIONS).map(|fraction| match fraction {
            0 => std::array::from_fn(|n| f64::from(u8::from(n == LEAD))),
            fraction => designed(occupied, fraction as f64 / FRACTIONS as f64),
        });
        Self(filters.collect())
    }

    /// Returns the whole samples of a delay, with [`LEAD`], and the filter of the rest: coefficient `n` belongs to the
    /// delay of so many samples and `n` less [`LEAD`].
    pub fn of(&self, delay_samples: f64) -> (usize, &[f64; LENGTH]) {
        let rounded = (delay_samples * FRACTIONS as f64).round() as usize;
        (rounded / FRACTIONS, &self.0[rounded % FRACTIONS])
    }
}

fn designed(occupied: f64, fraction: f64) -> [f64; LENGTH] {
    let delay = LEAD as f64 + fraction;
    let mut rows: [[f64; LENGTH + 1]; LENGTH] = std::array::from_fn(|k| {
        std::array::from_fn(|l| match l {
            LENGTH => sinc(occupied * (k as f64 - delay)),
            l => {
                sinc(occupied * (k as f64 - l as f64))
                    + f64::from(u8::from(k == l)) * REGULARISATION
            }
        })
    });
    // The matrix is positive definite: elimination needs no pivots.
    for k in 0..LENGTH {
        for below in k + 1..LENGTH {
            let factor = rows[below][k] / rows[k][k];
            for column in k..=LENGTH {
                rows[below][column] -= factor * rows[k][column];
            }
        }
    }
    let mut filter = [0.0; LENGTH];
    for k in (0..LENGTH).rev() {
        let known: f64 = (k + 1..LENGTH).map(|l| rows[k][l] * filter[l]).sum();
        filter[k] = (rows[k][LENGTH] - known) / rows[k][k];
    }
    filter
}

fn sinc(x: f64) -> f64 {
    match x {
        0.0 => 1.0,
        x => libm::sin(PI * x) / (PI * x),
    }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;

    use super::*;

    /// Returns the largest error of the frequency response over the band, dB.
    fn error_db(occupied: f64, delay: f64) -> f64 {
        let filters = Fractional::new(occupied);
        let (whole, filter) = filters.of(delay);
        let errors = (-100..=100).map(|n| {
            let cycles = occupied / 2.0 * f64::from(n) / 100.0;
            let turned = |samples: f64| Complex64::cis(-2.0 * PI * cycles * samples);
            let response: Complex64 = (0..LENGTH)
                .map(|n| filter[n] * turned((whole + n) as f64))
                .sum();
            (response - turned(LEAD as f64 + delay)).norm()
        });
        20.0 * errors.fold(0.0, f64::max).log10()
    }

    #[test]
    fn delays_between_samples_are_exact_in_the_occupied_band() {
        // 24 PRB at 15.36 MS/s, 106 at 46.08 and at 61.44: the widest shares that the modems have.
        for occupied in [
            24.0 * 0.36 / 15.36,
            106.0 * 0.36 / 46.08,
            106.0 * 0.36 / 61.44,
        ] {
            for delay in [0.25, 1.5, 3.75, 20.3] {
                let error_db = error_db(occupied, delay);
                // 20 dB below what the highest MCS leaves to noise, at the worst frequency, which is the band's edge.
                assert!(error_db < -40.0, "{occupied} {delay}: {error_db}");
            }
        }
    }

    #[test]
    fn a_whole_delay_is_one_coefficient() {
        let filters = Fractional::new(0.5);
        let (whole, filter) = filters.of(12.0);
        assert_eq!(whole, 12);
        assert_eq!(filter.iter().filter(|one| **one != 0.0).count(), 1);
        assert_eq!(filter[LEAD], 1.0);
    }
}
