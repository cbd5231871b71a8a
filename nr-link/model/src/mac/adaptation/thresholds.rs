// SPDX-License-Identifier: Apache-2.0
//! OpenAirInterface's rule (openair2/LAYER2/NR_MAC_gNB/gNB_scheduler_primitives.c,
//! `get_mcs_from_bler`, as of 2021 to 2024), which does not use the SINR. Once in 10 frames the ratio of second to
//! first transmissions goes into a filter. Below the lower bound the MCS rises by one; above the upper bound it falls
//! by one, as it does when almost nothing is sent.

use super::Occasion;
use crate::config::ThresholdRule;
use crate::time::{Nanos, Slot};

/// The window: 10 radio frames.
const WINDOW: Nanos = 100_000_000;
/// Frames in a window.
const WINDOW_FRAMES: u64 = 10;
/// Weight of the old value in the filter.
const MEMORY: f64 = 0.9;
/// The initial MCS of the older rule, to which it falls without activity.
const MIDDLE_MCS: u8 = 9;
/// A window with at most this many first transmissions counts as inactive.
const INACTIVE: u64 = 3;

#[derive(Debug)]
pub(crate) struct Thresholds {
    lower: f64,
    upper: f64,
    rule: ThresholdRule,
    mcs: u8,
    filtered: f64,
    window_slots: u64,
    next: Slot,
    /// First and second transmissions of this window.
    rounds: [u64; 2],
    version: u64,
}

impl Thresholds {
    pub fn new(lower: f64, upper: f64, rule: ThresholdRule, slot: Nanos) -> Self {
        let window_slots = WINDOW / slot;
        Self {
            lower,
            upper,
            rule,
            mcs: resting(rule),
            filtered: (lower + upper) / 2.0,
            window_slots,
            next: Slot(window_slots),
            rounds: [0; 2],
            version: 0,
        }
    }

    /// Returns whether the rule looks at its window on this occasion.
    pub fn looks(&self, occasion: Occasion) -> bool {
        (self.rule == ThresholdRule::FromMiddle) == (occasion == Occasion::Slot)
    }

    pub fn mcs(&self, highest: u8) -> u8 {
        self.mcs.min(highest)
    }

    pub fn count(&mut self, round: u8) {
        if let Some(count) = self.rounds.get_mut(usize::from(round) - 1) {
            *count += 1;
        }
    }

    /// Advances to `slot`, and closes the window if it has ended.
    pub fn advance(&mut self, slot: Slot, highest: u8) {
        if slot < self.next {
            return;
        }
        self.next = self.end_of_window(slot);
        let [first, second] = std::mem::take(&mut self.rounds);
        let share = match first {
            0 => self.filtered,
            _ => second as f64 / first as f64,
        };
        self.filtered = MEMORY * self.filtered + (1.0 - MEMORY) * share;
        if self.filtered < self.lower && self.mcs < highest && first > INACTIVE {
            self.mcs += 1;
        } else if (self.filtered > self.upper && self.mcs > 0)
            || (first <= INACTIVE && self.mcs > resting(self.rule))
        {
            self.mcs -= 1;
        }
        self.version += 1;
    }

    /// Returns the first slot after a window that starts with `slot`. The newer rule counts whole frames.
    fn end_of_window(&self, slot: Slot) -> Slot {
        let start = match self.rule {
            ThresholdRule::FromMiddle => slot.0,
            ThresholdRule::FromLowest => slot.0 - slot.0 % (self.window_slots / WINDOW_FRAMES),
        };
        Slot(start + self.window_slots)
    }

    pub fn version(&self) -> u64 {
        self.version
    }
}

fn resting(rule: ThresholdRule) -> u8 {
    match rule {
        ThresholdRule::FromMiddle => MIDDLE_MCS,
        ThresholdRule::FromLowest => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Nanos = 500_000;

    /// The MCS after each of `windows` windows with so many first and second transmissions.
    fn after(rule: &mut Thresholds, windows: u64, first: u64, second: u64) -> Vec<u8> {
        let window = |_| {
            (0..first).for_each(|_| rule.count(1));
            (0..second).for_each(|_| rule.count(2));
            rule.advance(rule.next, 28);
            rule.mcs(28)
        };
        (0..windows).map(window).collect()
    }

    #[test]
    fn without_retransmissions_it_rises_once_the_filter_is_below() {
        let mut rule = Thresholds::new(0.05, 0.15, ThresholdRule::FromMiddle, SLOT);
        // 0.1 · 0.9^n is below 0.05 from n = 7 on.
        assert_eq!(after(&mut rule, 9, 100, 0), [9, 9, 9, 9, 9, 9, 10, 11, 12]);
        assert_eq!(after(&mut rule, 40, 100, 0).last(), Some(&28));
    }

    #[test]
    fn above_the_upper_bound_it_falls_by_one_per_window() {
        let mut rule = Thresholds::new(0.05, 0.15, ThresholdRule::FromMiddle, SLOT);
        // 0.1 + 0.1 · (1 − 0.9^n), of a share of 0.2, is above 0.15 from n = 7 on.
        assert_eq!(after(&mut rule, 8, 10, 2), [9, 9, 9, 9, 9, 9, 8, 7]);
        assert_eq!(after(&mut rule, 9, 10, 2).last(), Some(&0));
    }

    #[test]
    fn without_activity_it_falls_to_the_initial_mcs() {
        let mut rule = Thresholds::new(0.05, 0.15, ThresholdRule::FromMiddle, SLOT);
        after(&mut rule, 30, 100, 0);
        let idle = after(&mut rule, 30, 3, 0);
        assert_eq!(idle.last(), Some(&9));
        assert!(idle.windows(2).all(|pair| pair[0] - pair[1] <= 1));
    }

    #[test]
    fn the_newer_rule_rises_from_the_lowest_mcs_and_looks_when_data_is_sent() {
        let mut rule = Thresholds::new(0.05, 0.15, ThresholdRule::FromLowest, SLOT);
        assert!(rule.looks(Occasion::Data) && !rule.looks(Occasion::Slot));
        // As the older one, 0.1 · 0.9^n is below 0.05 from n = 7 on.
        assert_eq!(after(&mut rule, 9, 100, 0), [0, 0, 0, 0, 0, 0, 1, 2, 3]);
        assert_eq!(after(&mut rule, 5, 1, 0), [2, 1, 0, 0, 0]);
        // After a pause the next look is in the tenth frame after the one of this look.
        rule.advance(Slot(100_007), 28);
        assert_eq!(rule.next, Slot(100_200));
    }

    #[test]
    fn a_window_is_ten_frames() {
        let mut rule = Thresholds::new(0.05, 0.15, ThresholdRule::FromMiddle, SLOT);
        rule.advance(Slot(199), 28);
        assert_eq!(rule.version(), 0);
        rule.advance(Slot(200), 28);
        assert_eq!(rule.version(), 1);
    }
}
