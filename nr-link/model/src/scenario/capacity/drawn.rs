// SPDX-License-Identifier: Apache-2.0
//! Capacity drawn from the seed by the statistics of a set of measured links.

use libm::erfc;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Curve, Generator};
use crate::Direction;
use crate::correlated_process::CorrelatedProcess;
use crate::problem::{Problem, Violation, violation};
use crate::scenario::{MOST_MBPS, Positive, Ratio};

/// The largest number of steps: six hours of one second, like the longest scenario.
const MOST_STEPS: f64 = 21_600.0;

/// The first stream number: streams of `random` and of the channel have lower ones.
const FIRST_STREAM: u64 = 1 << 40;

/// Rates with a given distribution and autocorrelation: a Gaussian copula.
///
/// A normal process z of unit variance is mapped to rates by `quantiles_mbps` at Φ(z). Its variance
/// has two parts: `between_links_ratio` is drawn once per seed and constant; the rest is a sum of
/// exponentially correlated processes (`memory`) and of independent noise in each step.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// Duration of each rate, s.
    pub step_s: Positive,
    /// Points `[share, Mbit/s]` of the distribution, sorted, from share 0 to share 1: the rate is
    /// lower for that share of the time. Interpolated linearly.
    pub quantiles_mbps: Vec<[f64; 2]>,
    /// Share of the variance between links, which is constant within a link.
    pub between_links_ratio: Option<Ratio>,
    /// Correlated parts of the variance within a link; their shares sum to at most 1. The rest is
    /// uncorrelated noise.
    #[serde(default)]
    pub memory: Vec<Memory>,
}

/// A part of the variance with the autocorrelation e^(−Δ/time_s).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// Share of the variance within a link.
    pub share: Ratio,
    /// Time after which the correlation is 1/e, s.
    pub time_s: Positive,
}

impl Generator for Drawn {
    fn check(&self, duration_s: f64) -> Result<(), Violation> {
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

    fn depends_on_seed(&self) -> bool {
        true
    }

    fn curve(&self, duration_s: f64, seed: u64, direction: Direction) -> Result<Curve, Problem> {
        let rates = self.rates(duration_s, seed, direction);
        rates
            .map(Curve::Rates)
            .map_err(|violation| violation.at_key("capacity"))
    }
}

impl Drawn {
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

    /// Draws the rates of one link from `seed`: start in s, Mbit/s. The process is periodic with
    /// the scenario.
    fn rates(
        &self,
        duration_s: f64,
        seed: u64,
        direction: Direction,
    ) -> Result<Vec<(f64, f64)>, Violation> {
        let step_s = self.step_s.get();
        let count = (duration_s / step_s).ceil().max(1.0) as usize;
        let stream = |number: u64| {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            stream.set_stream(FIRST_STREAM | (number << 1) | direction as u64);
            stream
        };
        let between_links = self.between_links_ratio.map_or(0.0, |ratio| ratio.get());
        let mut noise_stream = stream(0);
        let link: f64 = StandardNormal.sample(&mut noise_stream);
        let correlated: f64 = self.memory.iter().map(|memory| memory.share.get()).sum();
        let processes = (1..)
            .zip(&self.memory)
            .map(|(number, memory)| {
                let process = CorrelatedProcess::new(
                    memory.time_s.get(),
                    duration_s,
                    stream(number),
                )
                .map_err(|_| {
                    Violation::new(
                        format!(
                            "a memory of {} s is too short for a scenario of {duration_s} s",
                            memory.time_s.get()
                        ),
                        "Leave it out: its share of the variance is then noise without memory",
                    )
                })?;
                Ok(((memory.share.get() * (1.0 - between_links)).sqrt(), process))
            })
            .collect::<Result<Vec<_>, Violation>>()?;
        let noise_scale = ((1.0 - correlated).max(0.0) * (1.0 - between_links)).sqrt();
        let rate = |step: usize| {
            let t_s = step as f64 * step_s;
            let noise: f64 = StandardNormal.sample(&mut noise_stream);
            let correlated: f64 = processes
                .iter()
                .map(|(scale, process)| scale * process.at(t_s))
                .sum();
            let z = between_links.sqrt() * link + correlated + noise_scale * noise;
            (t_s, quantile(&self.quantiles_mbps, normal_cdf(z)))
        };
        Ok((0..count).map(rate).collect())
    }
}

/// Returns Φ(z), the distribution function of the standard normal distribution.
fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// Returns the quantile of the rate at the probability `share`.
fn quantile(quantiles: &[[f64; 2]], share: f64) -> f64 {
    let past = quantiles.partition_point(|[known, _]| *known <= share);
    match (past.checked_sub(1), quantiles.get(past)) {
        (Some(before), Some([next_share, next])) => {
            let [known_share, known] = quantiles[before];
            known + (share - known_share) / (next_share - known_share) * (next - known)
        }
        (Some(before), None) => quantiles[before][1],
        (None, _) => quantiles.first().map_or(0.0, |[_, mbps]| *mbps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use std::path::Path;

    fn drawn(extra: &str) -> Drawn {
        let text = format!(
            "{{schema: rf-scenario/1, name: x, summary: x, sources: [x], license: CC0-1.0, duration_s: 20000, \
             capacity: {{dl: {{drawn: {{step_s: 1, quantiles_mbps: [[0, 0], [0.1, 0], [0.5, 100], [1, 1000]]{extra}}}}}, \
             ul: {{constant_mbps: 1}}}}}}"
        );
        let scenario = Scenario::parse(&text, Path::new("x.yaml")).unwrap();
        match scenario.capacity.unwrap().dl {
            crate::scenario::Rate::Drawn(drawn) => drawn,
            other => panic!("{other:?}"),
        }
    }

    fn draw(drawn: &Drawn, seed: u64) -> Vec<f64> {
        let rates = drawn.rates(20_000.0, seed, Direction::Downlink).unwrap();
        rates.into_iter().map(|(_, mbps)| mbps).collect()
    }

    #[test]
    fn shares_of_time_match_the_quantiles() {
        let drawn = drawn(", memory: [{share: 0.6, time_s: 3}]");
        let rates = draw(&drawn, 1);
        let share = |mbps: f64| {
            rates.iter().filter(|rate| **rate <= mbps).count() as f64 / rates.len() as f64
        };
        for (mbps, expected) in [(0.0, 0.1), (50.0, 0.3), (100.0, 0.5), (550.0, 0.75)] {
            let found = share(mbps);
            assert!(
                (found - expected).abs() < 0.02,
                "{mbps}: {found}, not {expected}"
            );
        }
    }

    /// A linear quantile function preserves the copula's correlation, which is (6/π)·asin(r/2) for
    /// uniform variables.
    #[test]
    fn a_link_has_the_configured_autocorrelation() {
        let mut drawn = drawn(", memory: [{share: 0.5, time_s: 10}]");
        drawn.quantiles_mbps = vec![[0.0, 0.0], [1.0, 1.0]];
        let rates = draw(&drawn, 3);
        for lag in [1usize, 5, 10] {
            let r = 0.5 * (-(lag as f64) / 10.0).exp();
            let expected = 6.0 / std::f64::consts::PI * (r / 2.0).asin();
            let pairs = rates.iter().zip(&rates[lag..]);
            let covariance: f64 =
                pairs.map(|(a, b)| (a - 0.5) * (b - 0.5)).sum::<f64>() / (rates.len() - lag) as f64;
            let found = covariance * 12.0;
            assert!(
                (found - expected).abs() < 0.03,
                "lag {lag}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn links_differ_by_seed_and_by_direction_and_a_seed_is_one_link() {
        let drawn = drawn(", between_links_ratio: 0.9");
        assert_eq!(draw(&drawn, 7), draw(&drawn, 7));
        let mean = |seed| draw(&drawn, seed).iter().sum::<f64>() / 20_000.0;
        let means: Vec<f64> = (0..40).map(mean).collect();
        let (low, high) = means
            .iter()
            .fold((f64::MAX, 0f64), |(l, h), m| (l.min(*m), h.max(*m)));
        assert!(low < 60.0 && high > 500.0, "{low} to {high}");
        assert_ne!(
            drawn.rates(20.0, 7, Direction::Downlink),
            drawn.rates(20.0, 7, Direction::Uplink)
        );
    }
}
