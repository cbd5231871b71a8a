// SPDX-License-Identifier: Apache-2.0
//! Capacity that is drawn anew from each seed, from the statistics of a set of measured links.

use serde::Deserialize;

use super::{MOST_MBPS, Positive, Ratio};

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
    pub(super) fn check(&self, duration_s: f64) -> Result<(), String> {
        let steps = duration_s / self.step_s.get();
        if steps > MOST_STEPS {
            return Err(format!(
                "{steps:.0} steps in duration_s are not at most {MOST_STEPS}; lengthen step_s"
            ));
        }
        let shares: f64 = self.memory.iter().map(|memory| memory.share.get()).sum();
        if shares > 1.0 + 1e-9 {
            return Err(format!(
                "the shares of memory sum to {shares}, not to at most 1; lower one"
            ));
        }
        self.check_quantiles()
    }

    fn check_quantiles(&self) -> Result<(), String> {
        let quantiles = &self.quantiles_mbps;
        let ends = quantiles.first().zip(quantiles.last());
        if !ends.is_some_and(|(first, last)| first[0] == 0.0 && last[0] == 1.0) {
            return Err(
                "quantiles do not go from share 0 to share 1; write the lowest and the highest rate too"
                    .into(),
            );
        }
        if let Some([share, mbps]) = quantiles
            .iter()
            .find(|[_, mbps]| !(0.0..=MOST_MBPS).contains(mbps))
        {
            return Err(format!(
                "{mbps} Mbit/s at share {share} is not between 0 and {MOST_MBPS}; write 0 for an outage"
            ));
        }
        match quantiles
            .windows(2)
            .find(|pair| !(pair[1][0] > pair[0][0] && pair[1][1] >= pair[0][1]))
        {
            Some(pair) => Err(format!(
                "quantile {:?} does not follow {:?}; let shares rise and rates not fall",
                pair[1], pair[0]
            )),
            None => Ok(()),
        }
    }
}
