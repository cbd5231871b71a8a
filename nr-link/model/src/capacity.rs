// SPDX-License-Identifier: Apache-2.0
//! Capacity that a scenario specifies directly, without a radio channel.
//!
//! A [`Supply`] is a curve: the cumulative work that could have been done since the start of the
//! link. A packet takes as much work as it has bits. Its service starts where that of the packet
//! before ended or, in an empty buffer, at the curve's value on its arrival; unused work is lost. A
//! busy link therefore loses nothing by rounding, and an idle link needs no computation.
//!
//! - **Rates** serve continuously: a packet leaves when its last bit is served, rounded up to a
//!   nanosecond; the rest of that nanosecond serves the next packet.
//! - **Opportunities** are those of Mahimahi (Netravali et al., USENIX ATC 2015, section 3.2): each
//!   time stamp passes 1504 bytes at once. Packets share an opportunity or use several. The file
//!   repeats from its last time stamp.

pub(crate) mod bearer;

use std::sync::Arc;

use crate::problem::Problem;
use crate::scenario::{AtEnd, Capacity, Curve, Scenario};
use crate::{Direction, Nanos};

/// Work in units of 10⁻⁹ bit: the product of a rate in bit/s and a time in ns.
pub(crate) type Work = u128;
pub(crate) const WORK_PER_BYTE: Work = 8_000_000_000;

/// The bytes that one opportunity passes: the largest packet of an interface with an MTU of 1500.
const OPPORTUNITY_BYTES: u64 = 1504;
/// Mahimahi counts packets with the packet information header that the kernel's TUN driver puts
/// before each of them.
const PACKET_INFORMATION_BYTES: u32 = 4;

/// The capacity of one direction of one UE, over time.
#[derive(Debug, Clone)]
pub struct Supply {
    cycle: Arc<Cycle>,
    period: Nanos,
    /// The work of one cycle.
    total: Work,
    end: Option<Nanos>,
}

/// One cycle of a supply, which repeats.
#[derive(Debug)]
enum Cycle {
    Rates(Vec<Step>),
    /// Time stamps in ms, ascending, each with the number of opportunities until then.
    Opportunities(Vec<(u32, u64)>),
}

/// A rate, which holds until the next step.
#[derive(Debug)]
struct Step {
    at: Nanos,
    bits_per_s: u64,
    /// The work of the cycle before this step.
    before: Work,
}

impl Supply {
    /// Makes the supply of one direction for the link with `seed`, and reads its trace file if it
    /// has one.
    ///
    /// # Errors
    /// A line of the trace breaks a rule.
    pub fn new(
        scenario: &Scenario,
        capacity: &Capacity,
        direction: Direction,
        seed: u64,
    ) -> Result<Self, Problem> {
        let duration_s = scenario.duration_s.get();
        let duration = nanos(duration_s);
        let supply = match capacity.curve(duration_s, seed, direction)? {
            Curve::Rates(rates) => Self::rates(&rates, duration),
            Curve::Opportunities(stamps) => Self::opportunities(stamps),
        };
        let end = (scenario.at_end == AtEnd::Stop).then_some(duration);
        Ok(Self { end, ..supply })
    }

    fn rates(rates: &[(f64, f64)], period: Nanos) -> Self {
        let mut before = 0;
        let mut steps: Vec<Step> = Vec::with_capacity(rates.len());
        for &(at_s, mbps) in rates {
            let at = nanos(at_s);
            if let Some(last) = steps.last() {
                before += last.work(at);
            }
            let bits_per_s = (mbps * 1e6).round() as u64;
            steps.push(Step {
                at,
                bits_per_s,
                before,
            });
        }
        let total = steps.last().map_or(0, |last| before + last.work(period));
        Self {
            cycle: Arc::new(Cycle::Rates(steps)),
            period,
            total,
            end: None,
        }
    }

    /// Makes a supply from time stamps in ms, each with the number of opportunities until then.
    fn opportunities(stamps: Vec<(u32, u64)>) -> Self {
        let last = stamps.last().copied();
        let (period, total) = last.map_or((1, 0), |(ms, count)| (at(ms), opportunity_work(count)));
        Self {
            cycle: Arc::new(Cycle::Opportunities(stamps)),
            period,
            total,
            end: None,
        }
    }

    /// Returns the bytes that each packet takes in addition to its own.
    pub(crate) fn overhead_bytes(&self) -> u32 {
        match *self.cycle {
            Cycle::Rates(_) => 0,
            Cycle::Opportunities(_) => PACKET_INFORMATION_BYTES,
        }
    }

    /// Returns the work that could have been done by `t`, opportunities at `t` included.
    pub(crate) fn offered(&self, t: Nanos) -> Work {
        let t = self.end.map_or(t, |end| t.min(end));
        let (cycles, phase) = (t / self.period, t % self.period);
        Work::from(cycles) * self.total + self.cycle.offered(phase)
    }

    /// Returns the work that could have been done by `t`, opportunities at `t` excluded.
    pub(crate) fn offered_before(&self, t: Nanos) -> Work {
        match *self.cycle {
            Cycle::Rates(_) => self.offered(t),
            Cycle::Opportunities(_) => t.checked_sub(1).map_or(0, |before| self.offered(before)),
        }
    }

    /// Returns the time by which so much work can be done; `None` if never.
    pub(crate) fn ready(&self, work: Work) -> Option<Nanos> {
        if self.total == 0 {
            return None;
        }
        let cycles = work.saturating_sub(1) / self.total;
        let phase = self.cycle.ready(work - cycles * self.total);
        let t = u64::try_from(cycles)
            .ok()?
            .checked_mul(self.period)?
            .checked_add(phase)?;
        self.end.is_none_or(|end| t <= end).then_some(t)
    }
}

impl Cycle {
    fn offered(&self, phase: Nanos) -> Work {
        match self {
            Self::Rates(steps) => {
                let step = &steps[steps.partition_point(|step| step.at <= phase) - 1];
                step.before + step.work(phase)
            }
            Self::Opportunities(stamps) => {
                match stamps.partition_point(|&(ms, _)| at(ms) <= phase) {
                    0 => 0,
                    past => opportunity_work(stamps[past - 1].1),
                }
            }
        }
    }

    /// Returns the time by which `work`, at most that of the cycle, is done.
    fn ready(&self, work: Work) -> Nanos {
        match self {
            Self::Rates(steps) => {
                let past = steps.partition_point(|step| step.before < work);
                let step = &steps[past.saturating_sub(1)];
                let rest = work - step.before;
                let bits_per_s = Work::from(step.bits_per_s.max(1));
                // As div_ceil(), which divides twice: so large a division is a hundredth of a run at 1 Gbit/s.
                let whole = rest / bits_per_s;
                step.at + (whole + Work::from(whole * bits_per_s < rest)) as Nanos
            }
            Self::Opportunities(stamps) => {
                at(stamps[stamps.partition_point(|&(_, count)| opportunity_work(count) < work)].0)
            }
        }
    }
}

impl Step {
    /// Returns the work from the start of the step to `t`.
    fn work(&self, t: Nanos) -> Work {
        Work::from(self.bits_per_s) * Work::from(t - self.at)
    }
}

/// Returns the time of a stamp.
fn at(ms: u32) -> Nanos {
    u64::from(ms) * 1_000_000
}

/// Returns the work of so many opportunities.
fn opportunity_work(count: u64) -> Work {
    Work::from(count * OPPORTUNITY_BYTES) * WORK_PER_BYTE
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9).round() as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: Work = 1_000_000 * 1_000_000_000;

    #[test]
    fn a_curve_of_rates_and_its_inverse_agree_over_cycles_and_outages() {
        let supply = Supply::rates(&[(0.0, 10.0), (1.0, 0.0), (2.0, 30.0)], nanos(3.0));
        assert_eq!(supply.offered(nanos(1.5)), 10 * MBIT);
        assert_eq!(
            supply.offered(nanos(7.5)),
            80 * MBIT + 10 * MBIT + 15 * MBIT - 15 * MBIT
        );
        for (work, seconds) in [(10, 1.0), (25, 2.5), (40, 3.0), (45, 3.5), (65, 5.5)] {
            assert_eq!(
                supply.ready(work * MBIT),
                Some(nanos(seconds)),
                "{work} Mbit"
            );
        }
        assert_eq!(supply.ready(10 * MBIT + 1), Some(nanos(2.0) + 1));
    }

    #[test]
    fn opportunities_repeat_from_the_last_stamp_on() {
        let one = Work::from(OPPORTUNITY_BYTES) * WORK_PER_BYTE;
        let ms = 1_000_000;
        let supply = Supply::opportunities(vec![(0, 1), (2, 3), (5, 4)]);
        assert_eq!(supply.offered(0), one);
        assert_eq!(supply.offered(5 * ms), 5 * one); // the last, and the first of the next cycle
        assert_eq!(supply.offered_before(5 * ms), 3 * one);
        assert_eq!(supply.ready(one + 1), Some(2 * ms));
        assert_eq!(supply.ready(3 * one), Some(2 * ms));
        assert_eq!(supply.ready(4 * one), Some(5 * ms));
        assert_eq!(supply.ready(6 * one), Some(7 * ms));
    }

    #[test]
    fn nothing_is_ready_without_capacity_or_beyond_the_end() {
        assert_eq!(Supply::rates(&[(0.0, 0.0)], nanos(1.0)).ready(1), None);
        let stops = Supply {
            end: Some(nanos(1.0)),
            ..Supply::rates(&[(0.0, 1.0)], nanos(1.0))
        };
        assert_eq!(stops.ready(MBIT), Some(nanos(1.0)));
        assert_eq!(stops.ready(MBIT + 1), None);
        assert_eq!(stops.offered(nanos(9.0)), MBIT);
    }
}
