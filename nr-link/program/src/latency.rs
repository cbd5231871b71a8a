// SPDX-License-Identifier: Apache-2.0
//! The wake-up latency of this machine, by which deadlines are set earlier.
//!
//! A timer fires in time, but a halted core takes a few microseconds to run again, and tens of them
//! in a virtual machine. The 10th percentile of this latency is subtracted from each deadline; one
//! wake-up in ten is thus early by a few microseconds.

use nr_link_model::Nanos;

/// A nearer deadline is not used: the kernel may find it expired without ever sleeping.
const SHORTEST_SLEEP: Nanos = 30_000;
/// Decrease of the estimate for a quicker wake-up. For a slower one it increases by a ninth of
/// this, so that one in ten is quicker.
const FALL: Nanos = 900;
/// A longer latency is not a property of the machine.
const LONGEST: Nanos = 50_000;

/// The 10th percentile of the wake-up latency, estimated recursively.
#[derive(Debug, Default)]
pub struct WakeLatency {
    usual: Nanos,
}

impl WakeLatency {
    /// Returns how much earlier to set a deadline.
    pub fn usual(&self) -> Nanos {
        self.usual
    }

    /// Records a sleep from `asleep` to `now` whose deadline was `asked`.
    pub fn woke(&mut self, asleep: Nanos, asked: Nanos, now: Nanos) {
        if asked < asleep + SHORTEST_SLEEP || now < asked {
            return;
        }
        self.usual = match now - asked < self.usual {
            true => self.usual.saturating_sub(FALL),
            false => (self.usual + FALL / 9).min(LONGEST),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn wakes(latency: &mut WakeLatency, late: impl Iterator<Item = Nanos>) {
        for late in late {
            latency.woke(0, MS, MS + late);
        }
    }

    #[test]
    fn one_wake_up_in_ten_is_quicker() {
        let mut latency = WakeLatency::default();
        let evenly = (0..10_000).map(|nth| 20_000 + nth * 7919 % 20_000);
        wakes(&mut latency, evenly.clone());
        assert!(latency.usual().abs_diff(22_000) < 1500, "{latency:?}");
        wakes(&mut latency, evenly.map(|late| late - 15_000));
        assert!(latency.usual().abs_diff(7_000) < 1500, "{latency:?}");
    }

    #[test]
    fn near_deadlines_and_long_delays_do_not_count() {
        let mut latency = WakeLatency::default();
        latency.woke(MS, MS + 1000, MS + 5000);
        assert_eq!(latency.usual(), 0);
        wakes(&mut latency, std::iter::repeat_n(5 * MS, 10_000));
        assert_eq!(latency.usual(), LONGEST);
    }
}
