// SPDX-License-Identifier: Apache-2.0
//! The slots in which a UE acknowledges downlink blocks, for a gNB that lets it acknowledge only so many in each. A
//! downlink slot for whose block no acknowledgement has room stays empty.

use std::collections::VecDeque;

use crate::config::FeedbackRule;
use crate::radio::Duplex;
use crate::time::Slot;

/// The acknowledgements to come of one UE on one carrier.
#[derive(Debug, Default)]
pub(crate) struct Feedback {
    /// Slots, in order, and how many blocks each acknowledges.
    taken: VecDeque<(Slot, u8)>,
}

impl Feedback {
    /// Returns the slot that acknowledges a block of `sent`: the first choice of k1 that has uplink and room.
    pub fn occasion(&self, rule: &FeedbackRule, duplex: &Duplex, sent: Slot) -> Option<Slot> {
        let choices = rule.first_slots..rule.first_slots + rule.choices;
        choices.map(|k1| sent + k1).find(|&slot| {
            let reports = slot.0 % rule.report_period_slots == rule.report_slot;
            let room = if reports {
                rule.bits_with_report
            } else {
                rule.bits
            };
            duplex.slot(slot).carries_pucch() && self.in_slot(slot) < room
        })
    }

    /// Records that a block of `sent` is acknowledged in `slot`.
    pub fn take(&mut self, sent: Slot, slot: Slot) {
        while self.taken.front().is_some_and(|&(past, _)| past < sent) {
            self.taken.pop_front();
        }
        match self.taken.iter_mut().find(|(other, _)| *other == slot) {
            Some((_, blocks)) => *blocks += 1,
            None => self.taken.push_back((slot, 1)),
        }
    }

    fn in_slot(&self, slot: Slot) -> u8 {
        let found = self.taken.iter().find(|(other, _)| *other == slot);
        found.map_or(0, |&(_, blocks)| blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OAI_2026_W11;
    use crate::radio::TddPattern;

    /// A full queue at OpenAirInterface's gNB, in the pattern DDDDDDDSUU: the slots and acknowledgements were printed
    /// by a gNB of 2026.w11 (frames 341 to 344; there, slot 0 of even frames has no PRB left beside the SSB).
    #[test]
    fn slots_two_and_three_have_no_room() {
        let duplex = Duplex::Tdd(TddPattern::new("DDDDDDDSUU", 6, 4).expect("valid"));
        let mut feedback = Feedback::default();
        let mut send = |slot: u64| {
            let sent = Slot(slot);
            let at = feedback.occasion(&OAI_2026_W11.feedback, &duplex, sent)?;
            feedback.take(sent, at);
            Some((slot, at.0))
        };
        let is_downlink = |slot: &u64| slot % 10 < 8 && !slot.is_multiple_of(40);
        let sent: Vec<_> = (1000..1100)
            .filter(is_downlink)
            .filter_map(&mut send)
            .collect();
        let of = |from: u64, to: u64| {
            let inside = sent
                .iter()
                .filter(move |(slot, _)| (from..to).contains(slot));
            inside
                .map(|&(slot, at)| (slot % 10, at - from))
                .collect::<Vec<_>>()
        };
        let full = vec![(0, 9), (1, 9), (4, 17), (5, 17), (6, 18), (7, 18)];
        assert_eq!(of(1020, 1030), full);
        // The period of an SSB: slot 2 takes the place of slot 0.
        assert_eq!(
            of(1040, 1050),
            [(1, 9), (2, 9), (4, 17), (5, 17), (6, 18), (7, 18)]
        );
    }
}
