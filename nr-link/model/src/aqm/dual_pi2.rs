// SPDX-License-Identifier: Apache-2.0
//! DualPI2 (RFC 9332 appendix A): two queues under one controller.
//!
//! A proportional-integral controller steers the longer of both waits to a target with one base
//! probability p'. Classic packets are dropped or marked with p'², because the rate of their
//! senders is proportional to one over the square root of that probability. L4S packets are marked
//! with k·p', because the rate of their senders is proportional to one over that probability. Both
//! kinds of flows thus get similar rates. A ramp over the wait in the L4S queue keeps that queue
//! short.
//!
//! Differences from the appendix: the gains are those for a round trip of at most 100 ms for every
//! `update_ms`, and the scheduler is the weighted round robin of section 4.1.2.

use serde::{Deserialize, Serialize};

use super::manager::{Action, CLASSIC, Head, L4S, Occupancy, QueueManager};
use super::settings::target_and_update;
use crate::problem::Problem;
use crate::random::Stream;
use crate::range::{nanos, within};
use crate::{Ecn, Nanos};

/// Gains of the integral and the proportional term, 1/s (appendix A.1).
const ALPHA: f64 = 0.15;
const BETA: f64 = 3.0;
/// The ramp marks only if the L4S queue has more packets than this (appendix A.1: Th_len).
const RAMP_PACKETS: usize = 1;
/// Scheduling weights while both queues have packets: 1/16 for the classic queue (section 4.1.2).
const CLASSIC_WEIGHT: i64 = 1;
const L4S_WEIGHT: i64 = 15;

/// Parameters of DualPI2 (RFC 9332 appendix A.1).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DualPi2 {
    /// The target wait in the classic queue.
    pub target: Nanos,
    /// The interval between two updates of the probability.
    pub update: Nanos,
    /// The factor from the base probability to the marking probability of L4S packets.
    pub coupling: f64,
    /// The wait in the L4S queue from which the ramp marks packets.
    pub l4s_min: Nanos,
    /// The width of the ramp: at this much more wait it marks all packets.
    pub l4s_range: Nanos,
    /// Whether ECN-capable packets of the classic queue are marked instead of dropped while the probability is low.
    pub ecn: bool,
}

/// The settings as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Raw {
    target_ms: f64,
    update_ms: f64,
    coupling: f64,
    l4s_min_ms: f64,
    l4s_range_ms: f64,
    ecn: bool,
}

impl Default for Raw {
    /// The values of RFC 9332 appendix A.1.
    fn default() -> Self {
        Self {
            target_ms: 15.0,
            update_ms: 15.0,
            coupling: 2.0,
            l4s_min_ms: 0.8,
            l4s_range_ms: 0.4,
            ecn: true,
        }
    }
}

impl Raw {
    pub fn resolve(self, key: &str) -> Result<DualPi2, Problem> {
        let (target_ms, update_ms) = target_and_update(key, self.target_ms, self.update_ms)?;
        let fix = "Write a coupling in that range; 2 is usual";
        Ok(DualPi2 {
            target: nanos(key, target_ms)?,
            update: nanos(key, update_ms)?,
            coupling: within(key, self.coupling, 0.1..=100.0, fix)?,
            l4s_min: nanos(key, self.l4s_min_ms)?,
            l4s_range: nanos(key, self.l4s_range_ms)?,
            ecn: self.ecn,
        })
    }
}

impl DualPi2 {
    /// Returns the probability from which on classic packets are dropped even if they could be marked: that at which L4S packets
    /// are all marked (appendix A.1: p_Cmax = min(1/k², 1)).
    fn classic_mark_limit(&self) -> f64 {
        self.coupling.powi(2).recip().min(1.0)
    }

    pub(super) fn manager(self, _draws: Stream) -> Box<dyn QueueManager> {
        Box::new(DualPi2Controller::new(self))
    }
}

/// The state of the controller, which both queues share.
#[derive(Debug)]
struct DualPi2Controller {
    config: DualPi2,
    base: f64,
    /// The longer of both waits at the last update.
    wait: Nanos,
    next_update: Nanos,
    /// Accumulated probability of each queue; above 1 a packet is dropped or marked.
    accumulated: [f64; 2],
    /// Credit of the classic queue in weighted bytes; it is served while the credit is positive.
    credit: i64,
}

impl QueueManager for DualPi2Controller {
    /// ECT(1) identifies L4S; a packet with CE may have had it (RFC 9331 section 5.1).
    fn queue_of(&self, ecn: Ecn) -> usize {
        match ecn {
            Ecn::Ect1 | Ecn::Ce => L4S,
            Ecn::NotEct | Ecn::Ect0 => CLASSIC,
        }
    }

    fn on_arrival(&mut self, buffer: &Occupancy) -> Action {
        self.update(buffer.now, buffer.arrivals());
        Action::Pass
    }

    fn serve(&mut self, buffer: &Occupancy) -> usize {
        self.update(buffer.now, buffer.arrivals());
        match buffer.heads {
            [Some(classic), Some(l4s)] if self.serves_classic(classic.bytes, l4s.bytes) => CLASSIC,
            [_, Some(_)] => L4S,
            _ => CLASSIC,
        }
    }

    fn at_head(&mut self, head: Head, queue: usize, buffer: &Occupancy) -> Action {
        match queue {
            CLASSIC => self.classic(),
            _ => self.l4s(buffer.now - head.queued, head.packets),
        }
    }
}

impl DualPi2Controller {
    fn new(config: DualPi2) -> Self {
        Self {
            config,
            base: 0.0,
            wait: 0,
            next_update: config.update,
            accumulated: [0.0; 2],
            credit: 0,
        }
    }

    /// Runs the updates that are due by `now`, with the arrival times of the first packet of each
    /// queue.
    fn update(&mut self, now: Nanos, heads: [Option<Nanos>; 2]) {
        while self.next_update <= now {
            let calm = self.base == 0.0 && self.wait == 0;
            if calm && heads == [None; 2] {
                // Skip the updates in which nothing changes.
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

    /// Returns whether the classic queue is served when both have packets, and charges the first
    /// packet of the served one.
    fn serves_classic(&mut self, classic_bytes: u32, l4s_bytes: u32) -> bool {
        let classic = self.credit > 0;
        self.credit += if classic {
            -L4S_WEIGHT * i64::from(classic_bytes)
        } else {
            CLASSIC_WEIGHT * i64::from(l4s_bytes)
        };
        classic
    }

    /// Decides about the first packet of the classic queue.
    fn classic(&mut self) -> Action {
        let probability = self.base * self.base;
        match recurs(&mut self.accumulated[0], probability) {
            false => Action::Pass,
            true if !self.config.ecn || probability >= self.config.classic_mark_limit() => {
                Action::Drop
            }
            true => Action::MarkOrDrop,
        }
    }

    /// Decides about the first packet of the L4S queue, which has waited for `wait` in a queue of
    /// `packets`.
    fn l4s(&mut self, wait: Nanos, packets: usize) -> Action {
        let coupled = self.config.coupling * self.base;
        if coupled >= 1.0 && recurs(&mut self.accumulated[0], self.base * self.base) {
            return Action::Drop; // overload: marks alone do not suffice
        }
        let native = if packets > RAMP_PACKETS {
            self.ramp(wait)
        } else {
            0.0
        };
        match recurs(&mut self.accumulated[1], native.max(coupled).min(1.0)) {
            true => Action::MarkOrDrop,
            false => Action::Pass,
        }
    }

    fn ramp(&self, wait: Nanos) -> f64 {
        let above = wait.saturating_sub(self.config.l4s_min) as f64;
        (above / self.config.l4s_range.max(1) as f64).min(1.0)
    }
}

/// Adds `probability` to an accumulator; returns true whenever the sum passes 1, so that signals
/// are evenly spaced (appendix A.1: recur).
fn recurs(accumulated: &mut f64, probability: f64) -> bool {
    *accumulated += probability;
    let recurs = *accumulated > 1.0;
    if recurs {
        *accumulated -= 1.0;
    }
    recurs
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn coupled() -> DualPi2Controller {
        DualPi2Controller::new(DualPi2 {
            target: 15 * MS,
            update: 15 * MS,
            coupling: 2.0,
            l4s_min: MS * 8 / 10,
            l4s_range: MS * 4 / 10,
            ecn: true,
        })
    }

    /// Returns the actions other than `Pass`.
    fn signals(of: impl Iterator<Item = Action>) -> Vec<Action> {
        of.filter(|&action| action != Action::Pass).collect()
    }

    #[test]
    fn a_growing_wait_gives_the_probability_of_the_formula() {
        // A packet that arrived at 20 ms and stays: waits of 10, 25, 40 ms at 30, 45, 60 ms.
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
    fn classic_packets_see_the_square_of_the_base_and_l4s_packets_twice_the_base() {
        let mut pair = coupled();
        pair.base = 0.2;
        let classic = signals((0..1000).map(|_| pair.classic())).len();
        let l4s = signals((0..1000).map(|_| pair.l4s(0, 9))).len();
        assert!(
            (39..=40).contains(&classic) && (399..=400).contains(&l4s),
            "{classic} {l4s}"
        );
    }

    #[test]
    fn the_ramp_marks_by_the_wait_in_the_l4s_queue_if_it_has_several_packets() {
        let mut pair = coupled();
        let marked = signals((0..100).map(|_| pair.l4s(MS, 9))).len();
        assert!((49..=50).contains(&marked), "{marked}");
        assert_eq!(signals((0..100).map(|_| pair.l4s(2 * MS, 9))).len(), 100);
        assert_eq!(signals((0..100).map(|_| pair.l4s(2 * MS, 1))).len(), 0);
    }

    #[test]
    fn overload_drops_in_both_queues() {
        let mut pair = coupled();
        pair.base = 0.6;
        let all = |action: &Action| *action == Action::Drop;
        let classic = signals((0..100).map(|_| pair.classic()));
        assert!(classic.iter().all(all) && classic.len() >= 35);
        let l4s = signals((0..100).map(|_| pair.l4s(0, 9)));
        assert!(l4s.iter().filter(|action| all(action)).count() >= 35);
    }

    #[test]
    fn classic_packets_are_marked_until_all_l4s_packets_are() {
        for (coupling, base, wanted) in [
            (1.0, 0.9, Action::MarkOrDrop),
            (2.0, 0.49, Action::MarkOrDrop),
            (2.0, 0.51, Action::Drop),
            (4.0, 0.24, Action::MarkOrDrop),
            (4.0, 0.26, Action::Drop),
        ] {
            let mut pair = coupled();
            pair.config.coupling = coupling;
            pair.base = base;
            let signals = signals((0..100).map(|_| pair.classic()));
            assert!(!signals.is_empty());
            assert!(
                signals.iter().all(|&one| one == wanted),
                "{coupling} {base}"
            );
        }
    }

    #[test]
    fn one_of_sixteen_packets_is_classic_while_both_queues_have_some() {
        let mut pair = coupled();
        let served = (0..1600).filter(|_| pair.serves_classic(1500, 1500));
        assert_eq!(served.count(), 100);
    }
}
