// SPDX-License-Identifier: Apache-2.0
//! PIE (RFC 8033): packets are dropped or marked on arrival with a probability that depends on the
//! distance of the wait from the target and on how fast the wait changes.

use serde::{Deserialize, Serialize};

use super::manager::{Action, CLASSIC, Head, Occupancy, QueueManager};
use super::settings::target_and_update;
use crate::Nanos;
use crate::problem::Problem;
use crate::random::Stream;
use crate::range::nanos;

/// Burst allowance: nothing is dropped for this long after a period without congestion (section
/// 4.4).
const BURST: Nanos = 150_000_000;
/// Gains, 1/s (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Divisors of the gains: the second value applies to probabilities below the first (section 4.2).
const GAIN_DIVISORS: [(f64, f64); 6] = [
    (1e-6, 2048.0),
    (1e-5, 512.0),
    (1e-4, 128.0),
    (1e-3, 32.0),
    (1e-2, 8.0),
    (1e-1, 2.0),
];
/// Above this probability, one update adds at most `LARGEST_STEP` (section 5.5).
const LARGE_PROBABILITY: f64 = 0.1;
const LARGEST_STEP: f64 = 0.02;
/// Factor of the probability in each update without any wait (section 4.2).
const IDLE_DECAY: f64 = 0.98;
/// Above this probability ECN-capable packets are dropped like all others (section 5.1).
const MARK_LIMIT: f64 = 0.1;

/// An inactive controller becomes active when this share of the buffer is used (section 5.3).
const ACTIVATION_SHARE: f64 = 1.0 / 3.0;
/// Sums of probabilities since the last drop or mark: below the first value nothing is dropped,
/// from the second on the next packet is (section 5.4).
const DERANDOMISE_LEAST: f64 = 0.85;
const DERANDOMISE_MOST: f64 = 8.5;

/// Parameters of PIE (RFC 8033 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pie {
    /// The target wait.
    pub target: Nanos,
    /// The interval between two updates of the probability.
    pub update: Nanos,
    /// Whether ECN-capable packets are marked instead of dropped while the probability is low.
    pub ecn: bool,
    /// Whether PIE is inactive without congestion, and becomes active when a third of the buffer is
    /// used (section 5.3).
    pub on_off: bool,
    /// Whether drops have a least and a most distance (section 5.4).
    pub derandomise: bool,
}

/// The settings as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Raw {
    target_ms: f64,
    update_ms: f64,
    ecn: bool,
    on_off: bool,
    derandomise: bool,
}

impl Default for Raw {
    /// The values of RFC 8033 section 4.2.
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 15.0,
            ecn: false,
            on_off: false,
            derandomise: false,
        }
    }
}

impl Raw {
    pub fn resolve(self, key: &str) -> Result<Pie, Problem> {
        let (target_ms, update_ms) = target_and_update(key, self.target_ms, self.update_ms)?;
        Ok(Pie {
            target: nanos(key, target_ms)?,
            update: nanos(key, update_ms)?,
            ecn: self.ecn,
            on_off: self.on_off,
            derandomise: self.derandomise,
        })
    }
}

impl Pie {
    pub(super) fn manager(self, draws: Stream) -> Box<dyn QueueManager> {
        Box::new(PieController::new(self, draws))
    }
}

/// The state of the algorithm for one queue.
#[derive(Debug)]
struct PieController {
    config: Pie,
    draws: Stream,
    probability: f64,
    /// The wait at the last update.
    wait: Nanos,
    allowance: Nanos,
    next_update: Nanos,
    active: bool,
    /// Sum of the probabilities since the last drop or mark.
    accumulated: f64,
}

impl QueueManager for PieController {
    fn on_arrival(&mut self, buffer: &Occupancy) -> Action {
        self.update(buffer.now, buffer.arrivals()[CLASSIC]);
        self.observe_occupancy(buffer.share);
        match self.signals_congestion(buffer.bytes, buffer.mtu_bytes) {
            false => Action::Pass,
            true if self.may_mark() => Action::MarkOrDrop,
            true => Action::Drop,
        }
    }

    fn at_head(&mut self, head: Head, _queue: usize, buffer: &Occupancy) -> Action {
        self.update(buffer.now, Some(head.queued));
        Action::Pass
    }
}

impl PieController {
    fn new(config: Pie, draws: Stream) -> Self {
        Self {
            config,
            draws,
            probability: 0.0,
            wait: 0,
            allowance: BURST,
            next_update: config.update,
            active: !config.on_off,
            accumulated: 0.0,
        }
    }

    /// Runs the updates that are due by `now`; the packet at the head arrived at `head`.
    fn update(&mut self, now: Nanos, head: Option<Nanos>) {
        while self.next_update <= now {
            let wait = head.map_or(0, |queued| self.next_update.saturating_sub(queued));
            if self.is_calm() && wait == 0 && head.is_none() {
                // Skip the updates in which nothing changes.
                let idle = (now - self.next_update) / self.config.update;
                self.next_update += idle * self.config.update;
            }
            self.update_once(wait);
            self.next_update += self.config.update;
        }
    }

    /// Activates an inactive controller if the used `share` of the buffer is large enough (section
    /// 5.3).
    fn observe_occupancy(&mut self, share: f64) {
        if !self.active && share >= ACTIVATION_SHARE {
            self.active = true;
            self.probability = 0.0;
            self.wait = 0;
            self.allowance = BURST;
            self.accumulated = 0.0;
        }
    }

    /// Returns whether an arriving packet is to be dropped or marked, with
    /// [`PieController::probability`].
    fn signals_congestion(&mut self, bytes: u64, mtu_bytes: u32) -> bool {
        let probability = self.probability(bytes, mtu_bytes);
        if !self.config.derandomise {
            return self.draws.happens(probability);
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += probability;
        let signals = self.accumulated >= DERANDOMISE_LEAST
            && (self.accumulated >= DERANDOMISE_MOST || self.draws.happens(probability));
        if signals {
            self.accumulated = 0.0;
        }
        signals
    }

    /// Returns the probability with which an arriving packet is dropped or marked, if `bytes` wait
    /// and the largest packet has `mtu_bytes` (section 4.1).
    fn probability(&self, bytes: u64, mtu_bytes: u32) -> f64 {
        let short = self.wait < self.config.target / 2 && self.probability < 0.2;
        if !self.active || self.allowance > 0 || short || bytes <= 2 * u64::from(mtu_bytes) {
            0.0
        } else {
            self.probability
        }
    }

    /// Returns whether ECN-capable packets are marked instead of dropped at present.
    fn may_mark(&self) -> bool {
        self.config.ecn && self.probability <= MARK_LIMIT
    }

    fn update_once(&mut self, wait: Nanos) {
        if !self.active {
            return;
        }
        let seconds = |ns: Nanos| ns as f64 / 1e9;
        let error = seconds(wait) - seconds(self.config.target);
        let trend = seconds(wait) - seconds(self.wait);
        let divisor = GAIN_DIVISORS
            .iter()
            .find(|(below, _)| self.probability < *below)
            .map_or(1.0, |(_, by)| *by);
        let mut change = (ALPHA * error + BETA * trend) / divisor;
        if self.probability >= LARGE_PROBABILITY {
            change = change.min(LARGEST_STEP);
        }
        self.probability += change;
        if wait == 0 && self.wait == 0 {
            self.probability *= IDLE_DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let previous = std::mem::replace(&mut self.wait, wait);
        let short = self.config.target / 2;
        let calm = self.probability == 0.0 && wait < short && previous < short;
        self.allowance = match calm {
            true => BURST,
            false => self.allowance.saturating_sub(self.config.update),
        };
        self.active = !(calm && self.config.on_off);
    }

    fn is_calm(&self) -> bool {
        self.probability == 0.0 && self.wait == 0 && self.allowance == BURST
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction;
    use crate::ids::UeId;
    use crate::random::Purpose;

    const MS: Nanos = 1_000_000;

    /// Makes a controller that was idle for a second.
    fn controller() -> PieController {
        let settings = Pie {
            target: 15 * MS,
            update: 15 * MS,
            ecn: true,
            on_off: false,
            derandomise: false,
        };
        let draws = Stream::new(1, Purpose::EarlyDrop, UeId(0), Direction::Downlink);
        let mut pie = PieController::new(settings, draws);
        pie.update(1000 * MS, None);
        pie
    }

    /// Runs so many updates with a constant wait.
    fn hold(pie: &mut PieController, wait: Nanos, updates: u64) {
        for _ in 0..updates {
            let at = pie.next_update;
            pie.update(at, Some(at - wait));
        }
    }

    #[test]
    fn a_burst_is_allowed_and_a_standing_queue_is_not() {
        let mut pie = controller();
        hold(&mut pie, 0, 2);
        hold(&mut pie, 15 * MS, 9);
        assert_eq!(pie.probability(1 << 20, 1500), 0.0);
        hold(&mut pie, 60 * MS, 200);
        assert!(pie.probability(1 << 20, 1500) > 0.1);
        assert!(!pie.may_mark());
        assert_eq!(pie.probability(3000, 1500), 0.0); // two packets
    }

    #[test]
    fn the_first_update_follows_the_formula() {
        let mut pie = controller();
        hold(&mut pie, 40 * MS, 1);
        let expected = (0.125 * 0.025 + 1.25 * 0.040) / 2048.0;
        assert!((pie.probability - expected).abs() < 1e-15);
    }

    #[test]
    fn inactive_it_activates_when_a_third_of_the_buffer_is_used() {
        let mut pie = controller();
        pie.config.on_off = true;
        hold(&mut pie, 0, 1);
        assert!(!pie.active);
        hold(&mut pie, 60 * MS, 200);
        assert!(!pie.signals_congestion(1 << 20, 1500));
        pie.observe_occupancy(0.32);
        assert!(!pie.active);
        pie.observe_occupancy(0.34);
        hold(&mut pie, 60 * MS, 200);
        assert!(pie.probability(1 << 20, 1500) > 0.1);
    }

    #[test]
    fn derandomised_signals_have_a_least_and_a_most_distance() {
        let mut pie = controller();
        pie.config.derandomise = true;
        hold(&mut pie, 60 * MS, 200);
        pie.probability = 0.05;
        let signalled = (0..100_000).filter(|_| pie.signals_congestion(1 << 20, 1500));
        let signalled: Vec<usize> = signalled.collect();
        let gaps = signalled.windows(2).map(|pair| pair[1] - pair[0]);
        // 0.85 / 0.05 and 8.5 / 0.05, and a rounding of either.
        assert!(gaps.clone().all(|gap| (17..=171).contains(&gap)));
        assert!(gaps.min() < Some(20) && signalled.len() > 2000);
    }

    #[test]
    fn the_probability_decays_without_a_wait_and_a_long_idle_time_is_skipped() {
        let mut pie = controller();
        hold(&mut pie, 60 * MS, 200);
        pie.update(3600 * 1000 * MS, None);
        assert!(pie.is_calm());
        assert!(pie.next_update > 3600 * 1000 * MS);
    }
}
