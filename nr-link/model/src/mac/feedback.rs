// SPDX-License-Identifier: Apache-2.0
//! The slots in which a UE acknowledges downlink blocks, for a gNB that lets it acknowledge only so many in each. A
//! downlink slot for whose block no acknowledgement has room stays empty.

use std::collections::VecDeque;

use crate::config::FeedbackRule;
use crate::radio::Duplex;
use crate::time::Slot;

/// The way in which the gNB reads the acknowledgement of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The one that the UE sent for it.
    Right,
    /// A failure.
    Failed,
    /// The one of another block: those of the slot are read from last to first.
    Backward,
}

/// The acknowledgements to come of one UE on one carrier.
#[derive(Debug, Default)]
pub(crate) struct PucchOccasions {
    /// Slots, in order, and how many blocks each acknowledges.
    taken: VecDeque<(Slot, u8)>,
}

impl PucchOccasions {
    /// Returns the slot that acknowledges a block of `sent`: the first choice of k1 that has uplink and room.
    pub fn occasion(&self, rule: &FeedbackRule, duplex: &Duplex, sent: Slot) -> Option<Slot> {
        let choices = rule.first_slots..rule.first_slots + rule.choices;
        choices.map(|k1| sent + k1).find(|&slot| {
            let room = if rule.reports_in(slot) {
                rule.bits_with_report
            } else {
                rule.bits
            };
            duplex.slot(slot).carries_pucch() && self.in_slot(slot) < room
        })
    }

    /// Records that a block of `sent` is acknowledged in `slot`; returns how the gNB reads it.
    pub fn take(&mut self, rule: &FeedbackRule, sent: Slot, slot: Slot) -> Reading {
        while self.taken.front().is_some_and(|&(past, _)| past < sent) {
            self.taken.pop_front();
        }
        match self.taken.iter_mut().find(|(other, _)| *other == slot) {
            Some((_, blocks)) => *blocks += 1,
            None => self.taken.push_back((slot, 1)),
        }
        if !rule.reports_in(slot) {
            Reading::Right
        } else if self.in_slot(slot) > rule.understood_with_report {
            Reading::Failed
        } else if rule.backward_with_report {
            Reading::Backward
        } else {
            Reading::Right
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
    use crate::config::{OAI_2025_W36, OAI_2026_W11};
    use crate::radio::TddPattern;

    /// A full queue in the pattern DDDDDDDSUU that may be sent in `slots`: the slot of each block, that of its
    /// acknowledgement, and how the gNB reads this one.
    fn full_queue(
        rule: &FeedbackRule,
        slots: impl Iterator<Item = u64>,
    ) -> Vec<(u64, Slot, Reading)> {
        let duplex = Duplex::Tdd(TddPattern::new("DDDDDDDSUU", 6, 4).expect("valid"));
        let mut feedback = PucchOccasions::default();
        let downlink = slots.filter(|slot| slot % 10 < 8);
        downlink
            .filter_map(|slot| {
                let at = feedback.occasion(rule, &duplex, Slot(slot))?;
                Some((slot, at, feedback.take(rule, Slot(slot), at)))
            })
            .collect()
    }

    /// The slots and acknowledgements were printed by a gNB of 2026.w11 (frames 341 to 344; there, slot 0 of even frames has
    /// no PRB left beside the SSB).
    #[test]
    fn slots_two_and_three_have_no_room() {
        let rule = &OAI_2026_W11.feedback;
        let sent = full_queue(
            rule,
            (1000..1100).filter(|slot: &u64| !slot.is_multiple_of(40)),
        );
        for &(_, at, reading) in &sent {
            assert!(reading == Reading::Right || rule.reports_in(at));
        }
        let of = |from: u64, to: u64| {
            let inside = sent
                .iter()
                .filter(move |(slot, ..)| (from..to).contains(slot));
            inside
                .map(|&(slot, at, _)| (slot % 10, at.0 - from))
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

    /// Three blocks are acknowledged beside a report, as in `oai-2026.w11`, of which none is lost.
    #[test]
    fn the_version_before_reads_all_beside_a_report_backward() {
        let rule = &OAI_2025_W36.feedback;
        let mut backward = Vec::new();
        for (sent, at, reading) in full_queue(rule, 1590..1770) {
            match reading {
                Reading::Right => assert!(!rule.reports_in(at)),
                Reading::Backward => backward.push((sent, at.0)),
                Reading::Failed => panic!("{sent:?}"),
            }
        }
        let of_report = |report: u64| [12, 11, 8].map(|k1| (report - k1, report));
        assert_eq!(backward, [of_report(1608), of_report(1768)].concat());
    }

    /// A gNB of 2026.w11 with a full queue retransmitted 12.3 blocks per second over 106 PRB at every MCS below 28: one in
    /// each 160 slots.
    #[test]
    fn one_acknowledgement_beside_each_report_is_not_understood() {
        let sent = full_queue(&OAI_2026_W11.feedback, 1590..3200);
        let failed =
            |(_, at, reading): (u64, Slot, Reading)| (reading == Reading::Failed).then_some(at.0);
        let lost: Vec<_> = sent.into_iter().filter_map(failed).collect();
        let reports: Vec<_> = (1600..3200).filter(|slot| slot % 160 == 8).collect();
        assert_eq!(lost, reports);
    }
}
