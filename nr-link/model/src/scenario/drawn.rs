// SPDX-License-Identifier: Apache-2.0
//! Capacity drawn from the seed by the statistics of a set of measured links.

use serde::Deserialize;

use super::{MOST_MBPS, Positive, Ratio};
use crate::problem::{Violation, violation};

/// The largest number of steps: six hours of one second, like the longest scenario.
const MOST_STEPS: f64 = 21_600.0;

/// Rates with a given distribution and autocorrelation: a Gaussian copula.
///
/// A normal process z of unit variance is mapped to rates by `quantiles_mbps` at Φ(z). Its variance
/// has two parts: `between_links_ratio` is drawn once per seed and constant; the rest is a sum of
/// exponentially correlated processes (`memory`) and of independent noise in each step.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// Duration of each rate, s.
    pub step_s: Positive,
    /// Points `[share, Mbit/s]` of the distribution, sorted, from share 0 to share 1: the rate is
    /// lower for that share of the time. Interpolated linearly.
    pub quantiles_mbps: Vec<[f64; 2]>,
    /// Share of the variance between links, which is constant within a link.
    #[serde(default)]
    pub between_links_ratio: Option<Ratio>,
    /// Correlated parts of the variance within a link; their shares sum to at most 1. The rest is
    /// uncorrelated noise.
    #[serde(default)]
    pub memory: Vec<Memory>,
}

/// A part of the variance with the autocorrelation e^(−Δ/time_s).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Share of the variance within a link.
    pub share: Ratio,
    /// Time after which the correlation is 1/e, s.
    pub time_s: Positive,
}

impl Drawn {
    /// Checks the rules that concern several keys.
    pub(super) fn check(&self, duration_s: f64) -> Result<(), Violation> {
        let steps = duration_s / self.step_s.get();
        if steps > MOST_STEPS {
            return Err(violation!(
                "{steps:.0} steps in duration_s are more than {MOST_STEPS}",
                "Increase step_s"
            ));
        }
        let shares: f64 = self.memory.iter().map(|memory| memory.share.get()).sum();
        if shares > 1.0 + 1e-9 {
            return Err(violation!(
                "the shares of memory sum to {shares}, which is more than 1",
                "Reduce one of them"
            ));
        }
        self.check_quantiles()
    }

    fn check_quantiles(&self) -> Result<(), Violation> {
        let quantiles = &self.quantiles_mbps;
        let ends = quantiles.first().zip(quantiles.last());
        if !ends.is_some_and(|(first, last)| first[0] == 0.0 && last[0] == 1.0) {
            return Err(violation!(
                "the quantiles do not go from share 0 to share 1",
                "Add the lowest rate at share 0 and the highest at share 1"
            ));
        }
        if let Some([share, mbps]) = quantiles
            .iter()
            .find(|[_, mbps]| !(0.0..=MOST_MBPS).contains(mbps))
        {
            return Err(violation!(
                "{mbps} Mbit/s at share {share} is not between 0 and {MOST_MBPS}",
                "Write 0 for an outage"
            ));
        }
        match quantiles
            .windows(2)
            .find(|pair| !(pair[1][0] > pair[0][0] && pair[1][1] >= pair[0][1]))
        {
            Some(pair) => Err(Violation::new(
                format!("quantile {:?} does not follow {:?}", pair[1], pair[0]),
                "Sort by share, with rates that do not fall",
            )),
            None => Ok(()),
        }
    }
}
