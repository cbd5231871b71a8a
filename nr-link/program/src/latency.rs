// SPDX-License-Identifier: Apache-2.0
//! How long the machine takes to wake us, so that we ask to be woken that much earlier.
//!
//! A timer fires in time, but a halted core takes a while to run again: a few microseconds on hardware, tens of them
//! in a virtual machine. What nine wakes of ten took at least is taken off each deadline; the tenth is early by a few
//! microseconds.

use nr_link_model::Nanos;

/// A deadline that is nearer tells nothing: the kernel may see that it has come without ever letting us sleep.
const SHORTEST_SLEEP: Nanos = 30_000;
/// What the estimate falls by at a quicker wake; at a slower one it rises by a ninth, so that one in ten is quicker.
const FALL: Nanos = 900;
/// What is longer is no property of the machine.
const LONGEST: Nanos = 50_000;

/// The tenth percentile of how late wakes are, followed step by step.
#[derive(Debug, Default)]
pub struct WakeLatency {
    usual: Nanos,
}

impl WakeLatency {
    /// How much earlier than needed to ask for a wake.
    pub fn usual(&self) -> Nanos {
        self.usual
    }

    /// We fell asleep, were to be woken at `asked`, and ran again at `now`.
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
    fn one_wake_in_ten_is_quicker() {
        let mut latency = WakeLatency::default();
        let evenly = (0..10_000).map(|nth| 20_000 + nth * 7919 % 20_000);
        wakes(&mut latency, evenly.clone());
        assert!(latency.usual().abs_diff(22_000) < 1500, "{latency:?}");
        wakes(&mut latency, evenly.map(|late| late - 15_000));
        assert!(latency.usual().abs_diff(7_000) < 1500, "{latency:?}");
    }

    #[test]
    fn what_was_no_sleep_or_a_hiccup_does_not_count() {
        let mut latency = WakeLatency::default();
        latency.woke(MS, MS + 1000, MS + 5000);
        assert_eq!(latency.usual(), 0);
        wakes(&mut latency, std::iter::repeat_n(5 * MS, 10_000));
        assert_eq!(latency.usual(), LONGEST);
    }
}
