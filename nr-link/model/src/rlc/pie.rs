// SPDX-License-Identifier: Apache-2.0
//! PIE (RFC 8033): packets are dropped on arrival with a probability that follows the wait, by how
//! far it is from the target and by how fast it moves.

use crate::Nanos;
use crate::config::Pie;
use crate::random::Stream;

/// After a calm time nothing is dropped for so long (section 4.4).
const BURST: Nanos = 150_000_000;
/// Gains, 1/s (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Gains are less where the probability is: below the first, by the second (section 4.2).
const DAMPED: [(f64, f64); 6] = [
    (1e-6, 2048.0),
    (1e-5, 512.0),
    (1e-4, 128.0),
    (1e-3, 32.0),
    (1e-2, 8.0),
    (1e-1, 2.0),
];
/// Above this probability it rises by no more than `STEEPEST` at once (section 5.5).
const STEEP: f64 = 0.1;
const STEEPEST: f64 = 0.02;
/// Left of it after each update without any wait (section 4.2).
const DECAY: f64 = 0.98;
/// Above this probability ECN-capable packets are dropped as others are (section 5.1).
const MARK_AT_MOST: f64 = 0.1;

/// A buffer that was calm is watched again once this share of it is taken (section 5.3).
const WATCHED_FILL: f64 = 1.0 / 3.0;
/// Since the last strike probabilities have added up to less than the first: none; to the second:
/// one for certain (section 5.4).
const TOO_SOON: f64 = 0.85;
const OVERDUE: f64 = 8.5;

/// The state that the wait drives.
#[derive(Debug)]
pub(super) struct Controller {
    config: Pie,
    probability: f64,
    /// At the last update.
    wait: Nanos,
    allowance: Nanos,
    next_update: Nanos,
    active: bool,
    /// Probabilities since the last strike.
    gathered: f64,
}

impl Controller {
    pub fn new(config: Pie) -> Self {
        Self {
            config,
            probability: 0.0,
            wait: 0,
            allowance: BURST,
            next_update: config.update,
            active: !config.on_off,
            gathered: 0.0,
        }
    }

    /// Makes the updates that are due by `now`, while the packet at the head came at `head`.
    pub fn update(&mut self, now: Nanos, head: Option<Nanos>) {
        while self.next_update <= now {
            let wait = head.map_or(0, |queued| self.next_update.saturating_sub(queued));
            if self.is_calm() && wait == 0 && head.is_none() {
                // Nothing changes until a packet comes.
                let idle = (now - self.next_update) / self.config.update;
                self.next_update += idle * self.config.update;
            }
            self.update_once(wait);
            self.next_update += self.config.update;
        }
    }

    /// This share of the buffer is taken: wakes it where it goes off in calm times (section 5.3).
    pub fn fill(&mut self, share: f64) {
        if !self.active && share >= WATCHED_FILL {
            self.active = true;
            self.probability = 0.0;
            self.wait = 0;
            self.allowance = BURST;
            self.gathered = 0.0;
        }
    }

    /// Whether a packet that comes is struck; as [`Controller::probability`].
    pub fn strikes(&mut self, bytes: u64, mtu_bytes: u32, draws: &mut Stream) -> bool {
        let probability = self.probability(bytes, mtu_bytes);
        if !self.config.derandomise {
            return draws.happens(probability);
        }
        if self.probability == 0.0 {
            self.gathered = 0.0;
        }
        self.gathered += probability;
        let strikes =
            self.gathered >= TOO_SOON && (self.gathered >= OVERDUE || draws.happens(probability));
        if strikes {
            self.gathered = 0.0;
        }
        strikes
    }

    /// The probability with which a packet that comes is struck, of a buffer of `bytes` behind and
    /// packets of at most `mtu_bytes` (section 4.1).
    fn probability(&self, bytes: u64, mtu_bytes: u32) -> f64 {
        let short = self.wait < self.config.target / 2 && self.probability < 0.2;
        if !self.active || self.allowance > 0 || short || bytes <= 2 * u64::from(mtu_bytes) {
            0.0
        } else {
            self.probability
        }
    }

    /// Whether ECN-capable packets may be marked now.
    pub fn may_mark(&self) -> bool {
        self.config.ecn && self.probability <= MARK_AT_MOST
    }

    fn update_once(&mut self, wait: Nanos) {
        if !self.active {
            return;
        }
        let seconds = |ns: Nanos| ns as f64 / 1e9;
        let error = seconds(wait) - seconds(self.config.target);
        let trend = seconds(wait) - seconds(self.wait);
        let damping = DAMPED
            .iter()
            .find(|(below, _)| self.probability < *below)
            .map_or(1.0, |(_, by)| *by);
        let mut change = (ALPHA * error + BETA * trend) / damping;
        if self.probability >= STEEP {
            change = change.min(STEEPEST);
        }
        self.probability += change;
        if wait == 0 && self.wait == 0 {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let was = std::mem::replace(&mut self.wait, wait);
        let short = self.config.target / 2;
        let calm = self.probability == 0.0 && wait < short && was < short;
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

    /// After an idle second.
    fn controller() -> Controller {
        let mut pie = Controller::new(Pie {
            target: 15 * MS,
            update: 15 * MS,
            ecn: true,
            on_off: false,
            derandomise: false,
        });
        pie.update(1000 * MS, None);
        pie
    }

    fn draws() -> Stream {
        Stream::new(1, Purpose::EarlyDrop, UeId(0), Direction::Downlink)
    }

    /// Lets the wait be this long for so many updates.
    fn hold(pie: &mut Controller, wait: Nanos, updates: u64) {
        for _ in 0..updates {
            let at = pie.next_update;
            pie.update(at, Some(at - wait));
        }
    }

    #[test]
    fn a_burst_passes_and_a_standing_wait_does_not() {
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
    fn the_first_step_is_that_of_the_formula() {
        let mut pie = controller();
        hold(&mut pie, 40 * MS, 1);
        let expected = (0.125 * 0.025 + 1.25 * 0.040) / 2048.0;
        assert!((pie.probability - expected).abs() < 1e-15);
    }

    #[test]
    fn off_in_calm_times_it_wakes_when_a_third_of_the_buffer_is_taken() {
        let mut pie = controller();
        pie.config.on_off = true;
        hold(&mut pie, 0, 1);
        assert!(!pie.active);
        hold(&mut pie, 60 * MS, 200);
        assert!(!pie.strikes(1 << 20, 1500, &mut draws()));
        pie.fill(0.32);
        assert!(!pie.active);
        pie.fill(0.34);
        hold(&mut pie, 60 * MS, 200);
        assert!(pie.probability(1 << 20, 1500) > 0.1);
    }

    #[test]
    fn derandomised_strikes_are_neither_close_together_nor_far_apart() {
        let mut pie = controller();
        pie.config.derandomise = true;
        hold(&mut pie, 60 * MS, 200);
        pie.probability = 0.05;
        let mut draws = draws();
        let struck = (0..100_000).filter(|_| pie.strikes(1 << 20, 1500, &mut draws));
        let struck: Vec<usize> = struck.collect();
        let gaps = struck.windows(2).map(|pair| pair[1] - pair[0]);
        // 0.85 / 0.05 and 8.5 / 0.05, and a rounding of either.
        assert!(gaps.clone().all(|gap| (17..=171).contains(&gap)));
        assert!(gaps.min() < Some(20) && struck.len() > 2000);
    }

    #[test]
    fn when_the_wait_is_gone_the_probability_goes_too_and_a_long_idle_time_is_quick() {
        let mut pie = controller();
        hold(&mut pie, 60 * MS, 200);
        pie.update(3600 * 1000 * MS, None);
        assert!(pie.is_calm());
        assert!(pie.next_update > 3600 * 1000 * MS);
    }
}
