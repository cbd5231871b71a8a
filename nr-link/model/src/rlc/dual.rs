// SPDX-License-Identifier: Apache-2.0
//! DualPI2 (RFC 9332 appendix A): two lanes under one controller.
//!
//! A proportional-integral controller steers the longer of both waits to a target by one base
//! probability p'. Classic packets are struck with p'², because their senders' rate goes as one over
//! the square root of that; L4S packets are marked with k·p', because their senders' rate goes as one
//! over that: so both kinds get like rates. A ramp over the L4S lane's own wait keeps that lane
//! short. Departures: gains as in the appendix for a round trip of at most 100 ms, whatever
//! `update_ms` is; the scheduler is the weighted round robin of section 4.1.2.

use crate::Nanos;
use crate::config::DualPi2;

/// Gains of the integral and the proportional part, 1/s (appendix A.1).
const ALPHA: f64 = 0.15;
const BETA: f64 = 3.0;
/// Above it, classic packets are dropped also where they could be marked (appendix A.2).
const MOST_CLASSIC: f64 = 0.25;
/// Packets of the L4S lane below which its ramp marks none (appendix A.1: Th_len).
const FEW: usize = 1;
/// Share of the classic lane while both have packets: 1 of 16 (section 4.1.2).
const CLASSIC_WEIGHT: i64 = 1;
const L4S_WEIGHT: i64 = 15;

/// What is to be done with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    /// Mark it, or drop it if it cannot be marked.
    Mark,
    Drop,
}

/// The controller, and what both lanes share.
#[derive(Debug)]
pub(super) struct Coupled {
    config: DualPi2,
    base: f64,
    /// The longer wait at the last update.
    wait: Nanos,
    next_update: Nanos,
    /// What each lane's probability has added up to; at 1 it strikes.
    due: [f64; 2],
    /// Bytes, weighed, that the classic lane is behind.
    credit: i64,
}

impl Coupled {
    pub fn new(config: DualPi2) -> Self {
        Self {
            config,
            base: 0.0,
            wait: 0,
            next_update: config.update,
            due: [0.0; 2],
            credit: 0,
        }
    }

    /// Makes the updates that are due by `now`, while the first packets came at `heads`.
    pub fn update(&mut self, now: Nanos, heads: [Option<Nanos>; 2]) {
        while self.next_update <= now {
            let calm = self.base == 0.0 && self.wait == 0;
            if calm && heads == [None; 2] {
                // Nothing changes until a packet comes.
                let idle = (now - self.next_update) / self.config.update;
                self.next_update += idle * self.config.update;
            }
            let waited = |head: Option<Nanos>| {
                head.map_or(0, |queued| self.next_update.saturating_sub(queued))
            };
            self.update_once(heads.map(waited).into_iter().fold(0, Nanos::max));
            self.next_update += self.config.update;
        }
    }

    fn update_once(&mut self, wait: Nanos) {
        let seconds = |ns: Nanos| ns as f64 / 1e9;
        let error = seconds(wait) - seconds(self.config.target);
        let trend = seconds(wait) - seconds(self.wait);
        self.base = (self.base + ALPHA * error + BETA * trend).clamp(0.0, 1.0);
        self.wait = wait;
    }

    /// Whether the classic lane is served, when both have packets, the first of these bytes.
    pub fn serves_classic(&mut self, classic_bytes: u32, l4s_bytes: u32) -> bool {
        let classic = self.credit > 0;
        self.credit += if classic {
            -L4S_WEIGHT * i64::from(classic_bytes)
        } else {
            CLASSIC_WEIGHT * i64::from(l4s_bytes)
        };
        classic
    }

    /// For the first packet of the classic lane.
    pub fn classic(&mut self) -> Verdict {
        let probability = self.base * self.base;
        match strikes(&mut self.due[0], probability) {
            false => Verdict::Pass,
            true if probability >= MOST_CLASSIC => Verdict::Drop,
            true => Verdict::Mark,
        }
    }

    /// For the first packet of the L4S lane, which has waited for `wait` and is one of `packets`.
    pub fn l4s(&mut self, wait: Nanos, packets: usize) -> Verdict {
        let coupled = self.config.coupling * self.base;
        if coupled >= 1.0 && strikes(&mut self.due[0], self.base * self.base) {
            return Verdict::Drop; // overload: marks say nothing more
        }
        let native = if packets > FEW { self.ramp(wait) } else { 0.0 };
        match strikes(&mut self.due[1], native.max(coupled).min(1.0)) {
            true => Verdict::Mark,
            false => Verdict::Pass,
        }
    }

    fn ramp(&self, wait: Nanos) -> f64 {
        let above = wait.saturating_sub(self.config.l4s_min) as f64;
        (above / self.config.l4s_range.max(1) as f64).min(1.0)
    }
}

/// Strikes as often as the probability says, evenly (appendix A.1: recur).
fn strikes(due: &mut f64, probability: f64) -> bool {
    *due += probability;
    let strikes = *due > 1.0;
    if strikes {
        *due -= 1.0;
    }
    strikes
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn coupled() -> Coupled {
        Coupled::new(DualPi2 {
            target: 15 * MS,
            update: 15 * MS,
            coupling: 2.0,
            l4s_min: MS * 8 / 10,
            l4s_range: MS * 4 / 10,
        })
    }

    /// Verdicts on so many packets, those that are not `Pass`.
    fn struck(of: impl Iterator<Item = Verdict>) -> Vec<Verdict> {
        of.filter(|&verdict| verdict != Verdict::Pass).collect()
    }

    #[test]
    fn a_growing_wait_gives_the_probability_of_the_formula() {
        // A packet that came at 20 ms and stays: waits of 10, 25, 40 ms at 30, 45, 60 ms.
        let mut pair = coupled();
        let mut expected = 0.0;
        let mut before = 0.0;
        for (at, wait) in [(15, 0.0), (30, 0.010), (45, 0.025), (60, 0.040)] {
            pair.update(at * MS, [Some(20 * MS), None]);
            expected = f64::max(
                expected + 0.15 * (wait - 0.015) + 3.0 * (wait - before),
                0.0,
            );
            before = wait;
            assert!((pair.base - expected).abs() < 1e-12, "{at} ms");
        }
    }

    #[test]
    fn classic_is_struck_by_the_square_and_l4s_by_twice_the_base() {
        let mut pair = coupled();
        pair.base = 0.2;
        let classic = struck((0..1000).map(|_| pair.classic())).len();
        let l4s = struck((0..1000).map(|_| pair.l4s(0, 9))).len();
        assert!(
            (39..=40).contains(&classic) && (399..=400).contains(&l4s),
            "{classic} {l4s}"
        );
    }

    #[test]
    fn the_ramp_marks_by_the_lanes_own_wait_unless_it_has_one_packet() {
        let mut pair = coupled();
        let half = struck((0..100).map(|_| pair.l4s(MS, 9))).len();
        assert!((49..=50).contains(&half), "{half}");
        assert_eq!(struck((0..100).map(|_| pair.l4s(2 * MS, 9))).len(), 100);
        assert_eq!(struck((0..100).map(|_| pair.l4s(2 * MS, 1))).len(), 0);
    }

    #[test]
    fn overload_drops_in_both_lanes() {
        let mut pair = coupled();
        pair.base = 0.6;
        let all = |verdict: &Verdict| *verdict == Verdict::Drop;
        let classic = struck((0..100).map(|_| pair.classic()));
        assert!(classic.iter().all(all) && classic.len() >= 35);
        let l4s = struck((0..100).map(|_| pair.l4s(0, 9)));
        assert!(l4s.iter().filter(|verdict| all(verdict)).count() >= 35);
    }

    #[test]
    fn of_sixteen_packets_one_is_classic_while_both_have_some() {
        let mut pair = coupled();
        let served = (0..1600).filter(|_| pair.serves_classic(1500, 1500));
        assert_eq!(served.count(), 100);
    }
}
