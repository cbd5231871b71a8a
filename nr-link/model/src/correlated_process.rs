// SPDX-License-Identifier: Apache-2.0
//! A normal process over distance with exponential autocorrelation, which is periodic.

use libm::exp;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::problem::{Violation, violation};

/// Points per decorrelation distance; linear interpolation between them then loses 1 % of the
/// variance.
const POINTS_PER_DECORRELATION: f64 = 32.0;

/// Limits the table to 8 MB.
const MOST_DECORRELATIONS: f64 = 32_768.0;

/// A process with mean 0, variance 1, correlation e^(−Δ/d) (Gudmundson 1991) and period `period_m`.
#[derive(Debug, Clone)]
pub(crate) struct CorrelatedProcess {
    values: Vec<f64>,
    period_m: f64,
}

impl CorrelatedProcess {
    /// Draws the process with Gudmundson's first-order recursion x′ = a·x + e. It starts at the
    /// value to which it returns after one period, which makes it stationary and periodic.
    ///
    /// # Errors
    /// The distance has too many decorrelation distances for the table.
    pub fn new(
        decorrelation_m: f64,
        period_m: f64,
        mut stream: ChaCha8Rng,
    ) -> Result<Self, Violation> {
        if period_m / decorrelation_m > MOST_DECORRELATIONS {
            return Err(violation!(
                "shadowing decorrelates every {decorrelation_m} m over {period_m:.0} m, which is more than {MOST_DECORRELATIONS} times",
                "Increase decorrelation_m, or shorten the UE's route"
            ));
        }
        let count = (period_m / decorrelation_m * POINTS_PER_DECORRELATION)
            .ceil()
            .max(1.0) as usize;
        let a = exp(-period_m / (count as f64 * decorrelation_m));
        let period_correlation = exp(-period_m / decorrelation_m);
        let draws: Vec<f64> = (0..count)
            .map(|_| StandardNormal.sample(&mut stream))
            .collect();
        if count == 1 {
            return Ok(Self {
                values: draws,
                period_m,
            });
        }
        let returned = draws.iter().fold(0.0, |x, draw| a * x + draw) / (1.0 - period_correlation);
        let variance = (1.0 + period_correlation) / ((1.0 - a * a) * (1.0 - period_correlation));
        let scale = variance.sqrt().recip();
        let recur = |x: &mut f64, draw: &f64| {
            *x = a * *x + draw;
            Some(*x * scale)
        };
        Ok(Self {
            values: draws.iter().scan(returned, recur).collect(),
            period_m,
        })
    }

    /// Returns the value at `distance_m`, 0 to one period.
    pub fn at(&self, distance_m: f64) -> f64 {
        let count = self.values.len();
        if count == 1 {
            return self.values[0];
        }
        let position = distance_m / self.period_m * count as f64;
        let before = position.floor();
        let value = |index: usize| self.values[index % count];
        let (low, high) = (value(before as usize), value(before as usize + 1));
        low + (position - before) * (high - low)
    }
}
