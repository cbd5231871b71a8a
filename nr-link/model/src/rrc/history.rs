// SPDX-License-Identifier: Apache-2.0
//! The cells that a UE has come from, by which handovers and failures are classified (TS 38.300 clause 15.5.2).

use crate::Nanos;
use crate::ids::CellId;

/// A UE that stays in a cell for less than this was handed over too early, or back and forth (TR 36.839 clause 5.2.2:
/// minimum time of stay).
const SHORT_STAY: Nanos = 1_000_000_000;

/// A handover that was completed, or failed in the target.
#[derive(Debug, Clone, Copy)]
struct Change {
    at: Nanos,
    source: CellId,
    target: CellId,
}

#[derive(Debug, Default)]
pub(super) struct History {
    last: Option<Change>,
}

impl History {
    /// Records a completed handover; returns whether the UE is back in a cell that it had left a short time before.
    pub fn complete(&mut self, at: Nanos, source: CellId, target: CellId) -> bool {
        let back = self.recent(at).is_some_and(|last| last.source == target);
        self.last = Some(Change { at, source, target });
        back
    }

    /// Returns the class of a failure at `failed`, with the handover to `pending` under way if there is one, of a UE that
    /// is now in `cell`.
    pub fn class(
        &self,
        failed: Nanos,
        serving: CellId,
        pending: Option<CellId>,
        cell: CellId,
    ) -> &'static str {
        let change = match pending {
            Some(target) => Some((serving, target)),
            None => self.recent(failed).map(|last| (last.source, last.target)),
        };
        match change {
            Some((source, _)) if cell == source => "too_early",
            Some((_, target)) if cell != target => "wrong_cell",
            Some(_) => "coverage",
            None if cell == serving => "coverage",
            None => "too_late",
        }
    }

    /// Records that the UE is in a cell by other means than a handover.
    pub fn clear(&mut self) {
        self.last = None;
    }

    fn recent(&self, at: Nanos) -> Option<Change> {
        self.last.filter(|last| at < last.at + SHORT_STAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: CellId = CellId(0);
    const B: CellId = CellId(1);
    const C: CellId = CellId(2);

    #[test]
    fn failures_have_the_classes_of_the_standard() {
        let mut history = History::default();
        assert_eq!(history.class(0, A, None, B), "too_late");
        assert_eq!(history.class(0, A, None, A), "coverage");
        assert_eq!(history.class(0, A, Some(B), A), "too_early"); // T304 in B
        assert_eq!(history.class(0, A, Some(B), C), "wrong_cell");
        history.complete(5_000_000_000, A, B);
        assert_eq!(history.class(5_900_000_000, B, None, A), "too_early");
        assert_eq!(history.class(5_900_000_000, B, None, C), "wrong_cell");
        assert_eq!(history.class(6_000_000_000, B, None, A), "too_late");
    }

    #[test]
    fn a_return_within_a_second_is_a_ping_pong() {
        let mut history = History::default();
        assert!(!history.complete(1_000_000_000, A, B));
        assert!(history.complete(1_900_000_000, B, A));
        assert!(!history.complete(2_900_000_000, A, B));
    }
}
