// SPDX-License-Identifier: Apache-2.0
//! A normal process over distance with exponential autocorrelation, closed into a circle.

use libm::exp;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::problem::{Violation, violation};

/// Points for each decorrelation distance; straight lines between them then lose 1 % of variance.
const POINTS_PER_DECORRELATION: f64 = 32.0;

/// Keeps the table below 8 MB.
const MOST_DECORRELATIONS: f64 = 32_768.0;

/// Zero mean, unit variance, correlation e^(−Δ/d) (Gudmundson 1991), period `lap_m`.
#[derive(Debug, Clone)]
pub(crate) struct Correlated {
    values: Vec<f64>,
    lap_m: f64,
}

impl Correlated {
    /// Gudmundson's first-order recursion x′ = a·x + e, started where it returns to after one lap:
    /// stationary, and without a seam.
    ///
    /// # Errors
    /// The way is so long that the table would be.
    pub fn new(
        decorrelation_m: f64,
        lap_m: f64,
        mut stream: ChaCha8Rng,
    ) -> Result<Self, Violation> {
        if lap_m / decorrelation_m > MOST_DECORRELATIONS {
            return Err(violation!(
                "shadowing decorrelates every {decorrelation_m} m over {lap_m:.0} m, which is more than {MOST_DECORRELATIONS} times",
                "Increase decorrelation_m, or shorten the UE's route"
            ));
        }
        let count = (lap_m / decorrelation_m * POINTS_PER_DECORRELATION)
            .ceil()
            .max(1.0) as usize;
        let a = exp(-lap_m / (count as f64 * decorrelation_m));
        let lap_correlation = exp(-lap_m / decorrelation_m);
        let draws: Vec<f64> = (0..count)
            .map(|_| StandardNormal.sample(&mut stream))
            .collect();
        if count == 1 {
            return Ok(Self {
                values: draws,
                lap_m,
            });
        }
        let returned = draws.iter().fold(0.0, |x, draw| a * x + draw) / (1.0 - lap_correlation);
        let variance = (1.0 + lap_correlation) / ((1.0 - a * a) * (1.0 - lap_correlation));
        let scale = variance.sqrt().recip();
        let recur = |x: &mut f64, draw: &f64| {
            *x = a * *x + draw;
            Some(*x * scale)
        };
        Ok(Self {
            values: draws.iter().scan(returned, recur).collect(),
            lap_m,
        })
    }

    /// The value at `distance_m`, 0 to one lap.
    pub fn at(&self, distance_m: f64) -> f64 {
        let count = self.values.len();
        if count == 1 {
            return self.values[0];
        }
        let position = distance_m / self.lap_m * count as f64;
        let before = position.floor();
        let value = |index: usize| self.values[index % count];
        let (low, high) = (value(before as usize), value(before as usize + 1));
        low + (position - before) * (high - low)
    }
}
