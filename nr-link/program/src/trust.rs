// SPDX-License-Identifier: Apache-2.0
//! The punctuality of the program, from which the verdict on a run is derived.

use hdrhistogram::Histogram;
use nr_link_model::{Direction, Nanos};

/// Lateness is counted in tenths of a microsecond, with two digits, up to a minute: the histogram
/// is small enough to be cleared in every interval.
const TICK_NS: u64 = 100;
const LONGEST_NS: u64 = 60_000_000_000;

fn histogram() -> Histogram<u32> {
    Histogram::new_with_bounds(1, LONGEST_NS / TICK_NS, 2).expect("constant bounds")
}

/// Counters since the start of the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Slots that ran more than one slot late.
    pub overruns: u64,
    /// Packets that the device's queue dropped before they were read, or that the kernel refused.
    pub host_drops: u64,
    /// Packets that passed the link in either direction.
    pub delivered: u64,
}

/// Observations of one interval.
#[derive(Debug)]
struct Interval {
    lateness: Histogram<u32>,
    delivered_bytes: [u64; 2],
    backlog_packets: u64,
}

/// Quantiles of lateness, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lateness {
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

/// Observations in a row of link.csv, besides time, slots and CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observed {
    /// Lateness of the interval's events; `None` without events.
    pub lateness: Option<Lateness>,
    /// Since the start.
    pub counters: Counters,
    /// Most packets that waited in one device when it was read.
    pub backlog_packets: u64,
    /// Bytes delivered in the interval: downlink, uplink.
    pub delivered_bytes: [u64; 2],
}

/// Returns how late a slot may run before it counts as an overrun: one slot, but at least 0.5 ms.
/// The program wakes up at most every 80 µs, and a transport protocol, which acts over
/// milliseconds, is not sensitive to a slot of 125 µs.
pub fn tolerated_ns(slot_ns: Nanos) -> Nanos {
    slot_ns.max(500_000)
}

/// Observes how punctual the program is.
#[derive(Debug)]
pub struct Trust {
    slot_ns: Nanos,
    counters: Counters,
    interval: Interval,
    whole_run: Histogram<u32>,
    delivery: Histogram<u32>,
}

impl Trust {
    /// Starts observing a link with slots of this length.
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

    /// Records that the model's event due at `deadline` ran at `now`. Idle slots that the model
    /// skips have no event and are never late; if one is missed, the slots after it are late.
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

    /// Records the number of packets that waited in a device when it was read.
    pub fn found_waiting(&mut self, packets: u64) {
        self.interval.backlog_packets = self.interval.backlog_packets.max(packets);
    }

    /// Records packets of `bytes` in total that were written to the kernel at `now`; `due` holds
    /// the due time of each.
    pub fn delivered(&mut self, direction: Direction, bytes: u64, now: Nanos, due: &[Nanos]) {
        self.counters.delivered += due.len() as u64;
        self.interval.delivered_bytes[direction as usize] += bytes;
        for due in due {
            self.delivery
                .saturating_record(ticks(now.saturating_sub(*due)));
        }
    }

    /// Returns the number of packets delivered since the start.
    pub fn delivered_count(&self) -> u64 {
        self.counters.delivered
    }

    /// Records the number of packets that the kernel refused since the start.
    pub fn host_dropped(&mut self, packets: u64) {
        self.counters.host_drops = packets;
    }

    /// Ends the interval and returns its observations.
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

    /// Returns how late packets were delivered since the start.
    pub fn delivery(&self) -> Option<Lateness> {
        quantiles(&self.delivery)
    }

    /// Returns lateness and counters since the start.
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
    fn an_early_wake_up_is_not_late_and_a_long_sleep_overruns_every_missed_slot() {
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
    fn lateness_of_an_interval_is_reset_and_that_of_the_run_is_not() {
        let mut trust = Trust::new(SLOT_NS);
        trust.found_waiting(7);
        trust.ran(0, 100_000);
        trust.end_interval();
        let observed = trust.end_interval();
        assert_eq!((observed.lateness, observed.backlog_packets), (None, 0));
        assert!(trust.whole_run().0.is_some());
    }
}
