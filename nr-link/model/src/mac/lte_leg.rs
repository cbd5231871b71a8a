// SPDX-License-Identifier: Apache-2.0
//! The LTE leg of a bearer of EN-DC: a link of given capacity and delay that serves the UE while NR does not. PDCP is
//! common to both legs (TS 37.340 clause 4.2.2), so that packets leave in order whichever leg carried them.

use crate::capacity::{Supply, WORK_PER_BYTE, Work};
use crate::config::PerDirection;
use crate::ids::UeId;
use crate::problem::Problem;
use crate::radio_events::{EventKind, RadioEvent};
use crate::range::nanos;
use crate::scenario::{AtEnd, Leg, LteLeg as Description, Scenario};
use crate::{Direction, Nanos};

/// The LTE leg as a scenario describes it, with times in ns.
#[derive(Debug, Clone)]
pub struct LteLeg {
    supply: PerDirection<Supply>,
    delay: PerDirection<Nanos>,
    /// When the interruption of each change begins and ends, from the start of a cycle, and the leg that serves then.
    changes: Vec<(Nanos, Nanos, Leg)>,
    /// The length of a cycle, after which the changes repeat; `None` if they do not.
    period: Option<Nanos>,
}

impl LteLeg {
    /// Makes the leg of a scenario, with the capacity that `seed` draws.
    ///
    /// # Errors
    /// A delay or an interruption is longer than an hour, or a line of a trace of the capacity breaks a rule.
    pub(crate) fn new(scenario: &Scenario, leg: &Description, seed: u64) -> Result<Self, Problem> {
        let supply = |direction| Supply::new(scenario, &leg.capacity, direction, seed);
        let ms = |key: &str, ms: f64| nanos(key, ms);
        let [to_lte, to_nr] = [leg.interruption_ms.to_lte, leg.interruption_ms.to_nr];
        let changes = leg.changes.iter().map(|change| {
            // Within the scenario's duration, which may be longer than the hour that other times have.
            let begins = (change.t_s.get() * 1e9).round() as Nanos;
            let lasts = match change.to {
                Leg::Lte => ms("lte.interruption_ms.5t4", to_lte.get())?,
                Leg::Nr => ms("lte.interruption_ms.4t5", to_nr.get())?,
            };
            Ok((begins, begins + lasts, change.to))
        });
        Ok(Self {
            changes: changes.collect::<Result<_, Problem>>()?,
            supply: PerDirection {
                dl: supply(Direction::Downlink)?,
                ul: supply(Direction::Uplink)?,
            },
            delay: PerDirection {
                dl: ms("lte.delay_ms.dl", leg.delay_ms.dl.get())?,
                ul: ms("lte.delay_ms.ul", leg.delay_ms.ul.get())?,
            },
            period: (scenario.at_end == AtEnd::Loop)
                .then(|| (scenario.duration_s.get() * 1e9).round() as Nanos),
        })
    }
}

/// A part of a change of the leg that is an event of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The leg is left; nothing serves the UE for the time given.
    Leaves { to: Leg, interruption: Nanos },
    /// This leg serves the UE.
    Serves(Leg),
}

impl Change {
    /// Returns the event for the log. As drives name handovers, `5t4` is from NR to LTE and `4t5` back.
    pub fn event(self, time: Nanos, ue: UeId) -> RadioEvent {
        let kind = match self {
            Self::Leaves { to, interruption } => EventKind::LegChange {
                change: match to {
                    Leg::Lte => "5t4",
                    Leg::Nr => "4t5",
                },
                interruption_ns: interruption,
            },
            Self::Serves(leg) => EventKind::LegServes {
                leg: match leg {
                    Leg::Lte => "lte",
                    Leg::Nr => "nr",
                },
            },
        };
        RadioEvent { time, ue, kind }
    }
}

/// The leg of one UE over time.
#[derive(Debug)]
pub(crate) struct Legs {
    lte: LteLeg,
    /// The leg that serves, or served last.
    leg: Leg,
    /// The end of the interruption that is going on.
    interrupted: Option<Nanos>,
    /// The index of the next change, and the start of the cycle that it is in.
    next: (usize, Nanos),
    /// The supply until the last call of `offer`.
    offered: PerDirection<Work>,
    /// The part of it that the next bytes may take.
    left: PerDirection<Work>,
}

impl Legs {
    pub fn new(lte: LteLeg) -> Self {
        Self {
            lte,
            leg: Leg::Nr,
            interrupted: None,
            next: (0, 0),
            offered: PerDirection::default(),
            left: PerDirection::default(),
        }
    }

    /// Returns the leg that serves the UE; `None` during an interruption.
    pub fn serving(&self) -> Option<Leg> {
        self.interrupted.is_none().then_some(self.leg)
    }

    /// Returns the one-way delay of LTE.
    pub fn delay(&self, direction: Direction) -> Nanos {
        *self.lte.delay.of(direction)
    }

    /// Runs the changes until a slot that starts at `now`; returns the one that happened.
    pub fn advance(&mut self, now: Nanos) -> Option<Change> {
        if let Some(end) = self.interrupted {
            if end > now {
                return None;
            }
            self.interrupted = None;
            return Some(Change::Serves(self.leg));
        }
        let (index, cycle) = self.next;
        let Some(&(begins, ends, to)) = self.lte.changes.get(index) else {
            let next = cycle + self.lte.period.filter(|_| index > 0)?;
            if next <= now {
                self.next = (0, next);
            }
            return None;
        };
        if cycle + begins > now {
            return None;
        }
        self.next.0 += 1;
        self.leg = to;
        self.interrupted = Some(cycle + ends);
        Some(Change::Leaves {
            to,
            interruption: ends - begins,
        })
    }

    /// Returns the whole bytes that LTE can carry in a direction now: what it has supplied since the last call, and
    /// what was left. It has to be called in each slot: what LTE supplies while it does not serve is lost.
    pub fn offer(&mut self, direction: Direction, now: Nanos) -> u64 {
        let serves = self.serving() == Some(Leg::Lte);
        let supply = self.lte.supply.of(direction);
        let total = supply.offered(now);
        let (offered, left) = match direction {
            Direction::Downlink => (&mut self.offered.dl, &mut self.left.dl),
            Direction::Uplink => (&mut self.offered.ul, &mut self.left.ul),
        };
        *left = if serves { *left + total - *offered } else { 0 };
        *offered = total;
        (*left / WORK_PER_BYTE) as u64
    }

    /// Takes bytes of the offer. Its rest is lost if the buffer `is_empty`, else it stays for the next slot.
    pub fn take(&mut self, direction: Direction, bytes: u64, is_empty: bool) {
        let left = match direction {
            Direction::Downlink => &mut self.left.dl,
            Direction::Uplink => &mut self.left.ul,
        };
        let taken = Work::from(bytes) * WORK_PER_BYTE;
        *left = if is_empty { 0 } else { *left - taken };
    }
}
