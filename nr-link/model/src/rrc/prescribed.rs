// SPDX-License-Identifier: Apache-2.0
//! Handovers at the times of a measured drive, in place of those that measurements would start.

use crate::Nanos;
use crate::ids::CellId;
use crate::scenario::{AtEnd, Scenario};

/// The handovers of a scenario, in order of time.
#[derive(Debug, Clone)]
pub(crate) struct Prescribed {
    handovers: Vec<(Nanos, CellId)>,
    /// The time after which they repeat, if they do.
    period: Option<Nanos>,
    /// The number of the next one, since the start.
    next: usize,
}

impl Prescribed {
    /// Returns those of a scenario; `None` if it has none.
    pub fn by(scenario: &Scenario) -> Option<Self> {
        let nanos = |seconds: f64| (seconds * 1e9).round() as Nanos;
        let handovers = scenario.handovers().iter();
        let handovers: Vec<_> = handovers
            .map(|one| (nanos(one.t_s.get()), CellId(one.cell)))
            .collect();
        let period = nanos(scenario.duration_s.get());
        (!handovers.is_empty()).then_some(Self {
            handovers,
            period: (scenario.at_end == AtEnd::Loop).then_some(period),
            next: 0,
        })
    }

    /// Returns the first cell, if a handover at 0 s names it.
    pub fn first(&mut self) -> Option<CellId> {
        self.due(0)
    }

    /// Returns the latest target that is due by `now`, once.
    pub fn due(&mut self, now: Nanos) -> Option<CellId> {
        let mut target = None;
        while let Some((_, cell)) = self.upcoming().filter(|&(at, _)| at <= now) {
            target = Some(cell);
            self.next += 1;
        }
        target
    }

    fn upcoming(&self) -> Option<(Nanos, CellId)> {
        let (round, index) = (
            self.next / self.handovers.len(),
            self.next % self.handovers.len(),
        );
        let (at, cell) = self.handovers[index];
        match (round, self.period) {
            (0, _) => Some((at, cell)),
            (_, Some(period)) => Some((at + round as u64 * period, cell)),
            (_, None) => None,
        }
    }
}
