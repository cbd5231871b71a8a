// SPDX-License-Identifier: Apache-2.0
//! How well the program kept time: what lets a reader believe a run, or not.

use hdrhistogram::Histogram;
use nr_link_model::{Direction, Nanos};

/// Lateness is kept in tenths of a microsecond, to two digits, up to a minute: small enough to clear every interval.
const TICK_NS: u64 = 100;
const LONGEST_NS: u64 = 60_000_000_000;

fn histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, LONGEST_NS / TICK_NS, 2).expect("constant bounds")
}

/// What is counted since the start of the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Slots that were run more than one slot late.
    pub overruns: u64,
    /// Packets that the device's queue refused before we could read them, or that the kernel refused to take.
    pub host_drops: u64,
    /// Packets that crossed the link, both ways.
    pub delivered: u64,
}

/// What happened in one interval.
#[derive(Debug)]
struct Interval {
    lateness: Histogram<u32>,
    delivered_bytes: [u64; 2],
    backlog_packets: u64,
}

/// Quantiles of lateness, ns; none when no deadline came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lateness {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

/// What one row of link.csv says beyond time, slots and CPU.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Of the interval's deadlines.
    pub lateness: Option<Lateness>,
    /// Since the start.
    pub counters: Counters,
    /// Most packets that waited in one device when it was read.
    pub backlog_packets: u64,
    /// Delivered in the interval: downlink, uplink.
    pub delivered_bytes: [u64; 2],
}

/// How late a slot may run before it counts: one slot, but 0.5 ms where slots are shorter. Links wake at most every
/// 80 µs, and what a transport protocol sees over milliseconds does not hang on a slot of 125 µs.
pub fn tolerated_ns(slot_ns: Nanos) -> Nanos {
    slot_ns.max(500_000)
}

/// Watches the loop.
#[derive(Debug)]
pub struct Trust {
    slot_ns: Nanos,
    counters: Counters,
    interval: Interval,
    whole_run: Histogram<u32>,
    delivery: Histogram<u32>,
}

impl Trust {
    /// For slots of this length.
    pub fn new(slot_ns: Nanos) -> Self {
        let interval = Interval {
            lateness: histogram(),
            delivered_bytes: [0; 2],
            backlog_packets: 0,
        };
        Self {
            slot_ns,
            counters: Counters::default(),
            interval,
            whole_run: histogram(),
            delivery: histogram(),
        }
    }

    /// The model's event that was due at `deadline` was run at `now`. Slots that the model skips because nothing
    /// waits have no event, and so are never late; when one is missed, the slots after it are.
    pub fn ran(&mut self, deadline: Nanos, now: Nanos) {
        let Some(late_ns) = now.checked_sub(deadline) else {
            return;
        };
        let ticks = ticks(late_ns);
        self.interval.lateness.saturating_record(ticks);
        self.whole_run.saturating_record(ticks);
        if late_ns >= tolerated_ns(self.slot_ns) {
            self.counters.overruns += late_ns / self.slot_ns;
        }
    }

    /// A device had this many packets when we came to read it.
    pub fn found_waiting(&mut self, packets: u64) {
        self.interval.backlog_packets = self.interval.backlog_packets.max(packets);
    }

    /// Packets, of so many bytes together, were given to the kernel at `now`, and were due when `due` says.
    pub fn delivered(&mut self, direction: Direction, bytes: u64, now: Nanos, due: &[Nanos]) {
        self.counters.delivered += due.len() as u64;
        self.interval.delivered_bytes[direction as usize] += bytes;
        for due in due {
            self.delivery
                .saturating_record(ticks(now.saturating_sub(*due)));
        }
    }

    /// Packets delivered since the start.
    pub fn delivered_count(&self) -> u64 {
        self.counters.delivered
    }

    /// The kernel has refused this many packets since the start.
    pub fn host_dropped(&mut self, packets: u64) {
        self.counters.host_drops = packets;
    }

    /// Ends the interval.
    pub fn end_interval(&mut self) -> Observed {
        let lateness = quantiles(&self.interval.lateness);
        self.interval.lateness.reset();
        Observed {
            lateness,
            counters: self.counters,
            backlog_packets: std::mem::take(&mut self.interval.backlog_packets),
            delivered_bytes: std::mem::take(&mut self.interval.delivered_bytes),
        }
    }

    /// How late packets were delivered, since the start.
    pub fn delivery(&self) -> Option<Lateness> {
        quantiles(&self.delivery)
    }

    /// Since the start.
    pub fn whole_run(&self) -> (Option<Lateness>, Counters) {
        (quantiles(&self.whole_run), self.counters)
    }
}

fn ticks(late_ns: Nanos) -> u64 {
    late_ns.div_ceil(TICK_NS).max(1)
}

fn quantiles(lateness: &Histogram<u32>) -> Option<Lateness> {
    (!lateness.is_empty()).then(|| Lateness {
        p50_ns: TICK_NS * lateness.value_at_quantile(0.5),
        p99_ns: TICK_NS * lateness.value_at_quantile(0.99),
        max_ns: TICK_NS * lateness.max(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT_NS: Nanos = 500_000;

    #[test]
    fn slots_of_125_us_may_run_half_a_millisecond_late() {
        let mut trust = Trust::new(125_000);
        trust.ran(1_000_000, 1_400_000);
        assert_eq!(trust.counters.overruns, 0);
        trust.ran(1_000_000, 1_500_000);
        assert_eq!(trust.counters.overruns, 4);
    }

    #[test]
    fn an_early_wake_is_not_late_and_a_long_sleep_overruns_every_slot_it_missed() {
        let mut trust = Trust::new(SLOT_NS);
        trust.ran(1_000_000, 999_999);
        assert_eq!(trust.end_interval().lateness, None);
        trust.ran(1_000_000, 1_020_000);
        trust.ran(1_500_000, 1_500_000 + 3 * SLOT_NS + 1);
        let observed = trust.end_interval();
        assert_eq!(observed.counters.overruns, 3);
        let lateness = observed.lateness.unwrap();
        assert_eq!(lateness.p50_ns, 20_000);
        assert!(lateness.max_ns.abs_diff(1_500_001) < 15_000, "{lateness:?}"); // two digits
    }

    #[test]
    fn an_interval_forgets_the_one_before_and_the_run_does_not() {
        let mut trust = Trust::new(SLOT_NS);
        trust.found_waiting(7);
        trust.ran(0, 100_000);
        trust.end_interval();
        let observed = trust.end_interval();
        assert_eq!((observed.lateness, observed.backlog_packets), (None, 0));
        assert!(trust.whole_run().0.is_some());
    }
}
