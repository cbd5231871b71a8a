// SPDX-License-Identifier: Apache-2.0
//! Capacity that is drawn anew from each seed, from the statistics of a set of measured links.

use serde::Deserialize;

use super::{MOST_MBPS, Positive, Ratio};
use crate::problem::{Violation, violation};

/// Most steps of a lap: six hours of one second, as the longest scenario.
const MOST_STEPS: f64 = 21_600.0;

/// Rates that follow given quantiles and remember themselves: a Gaussian copula.
///
/// A normal process z of unit variance is turned into rates by `quantiles_mbps` at Φ(z). Its
/// variance is split: `between_links_ratio` is drawn once a seed and never changes, the rest is a
/// sum of exponentially correlated processes (`memory`) and of fresh noise each step.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// How long each rate holds, s.
    pub step_s: Positive,
    /// `[share, Mbit/s]` from share 0 to share 1, sorted: so much of the time the rate is lower.
    /// Straight lines between.
    pub quantiles_mbps: Vec<[f64; 2]>,
    /// Share of variance between links, which one link keeps for ever.
    #[serde(default)]
    pub between_links_ratio: Option<Ratio>,
    /// What a link remembers from step to step; shares of the variance within a link, which sum to
    /// at most 1. The rest is noise without memory.
    #[serde(default)]
    pub memory: Vec<Memory>,
}

/// A share of variance that is correlated as e^(−Δ/time_s).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Of the variance within a link.
    pub share: Ratio,
    /// After which the correlation is 1/e, s.
    pub time_s: Positive,
}

impl Drawn {
    /// The rules that span its keys.
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
