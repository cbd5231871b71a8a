// SPDX-License-Identifier: Apache-2.0
//! CoDel (RFC 8289). When packets have waited longer than the target for a whole interval, one
//! packet is dropped or marked, and further ones at decreasing intervals, until the wait is below
//! the target.

use serde::{Deserialize, Serialize};

use super::manager::{Action, Head, Occupancy, QueueManager};
use super::settings::{LEAST_MS, MS};
use crate::Nanos;
use crate::problem::Problem;
use crate::random::Stream;
use crate::range::{nanos, within};

/// A new dropping state within this many intervals of the last one continues at its drop rate (RFC
/// 8289 section 5.5 and the pseudocode of its appendix).
const REMEMBERED_INTERVALS: u64 = 16;

/// Parameters of CoDel (RFC 8289 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoDel {
    /// The acceptable standing wait.
    pub target: Nanos,
    /// The time for which the wait may exceed it: a typical round-trip time.
    pub interval: Nanos,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

/// The settings as written.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Raw {
    target_ms: f64,
    interval_ms: f64,
    ecn: bool,
}

impl Default for Raw {
    /// The values of RFC 8289 sections 4.2 and 4.3.
    fn default() -> Self {
        Self {
            target_ms: 5.0,
            interval_ms: 100.0,
            ecn: false,
        }
    }
}

impl Raw {
    pub fn resolve(self, key: &str) -> Result<CoDel, Problem> {
        let interval_fix = "Write an interval_ms in that range; 100 is usual";
        let interval_ms = within(key, self.interval_ms, MS, interval_fix)?;
        let below = LEAST_MS..=interval_ms;
        let fix = "Write a target_ms in that range; a twentieth of interval_ms is usual";
        Ok(CoDel {
            target: nanos(key, within(key, self.target_ms, below, fix)?)?,
            interval: nanos(key, interval_ms)?,
            ecn: self.ecn,
        })
    }
}

impl CoDel {
    pub(super) fn manager(self, _draws: Stream) -> Box<dyn QueueManager> {
        Box::new(CoDelController::new(self))
    }
}

/// The state of the algorithm for one queue.
#[derive(Debug)]
struct CoDelController {
    config: CoDel,
    /// When the wait will have been above the target for one interval; `None` while it is below.
    first_above: Option<Nanos>,
    dropping: bool,
    next: Nanos,
    count: u64,
    last_count: u64,
}

impl QueueManager for CoDelController {
    fn at_head(&mut self, head: Head, _queue: usize, buffer: &Occupancy) -> Action {
        let (wait, behind) = (
            buffer.now - head.queued,
            buffer.bytes - u64::from(head.bytes),
        );
        match self.signals_congestion(buffer.now, wait, behind, buffer.mtu_bytes) {
            false => Action::Pass,
            true if self.config.ecn => Action::MarkOrDrop,
            true => Action::Drop,
        }
    }
}

impl CoDelController {
    fn new(config: CoDel) -> Self {
        Self {
            config,
            first_above: None,
            dropping: false,
            next: 0,
            count: 0,
            last_count: 0,
        }
    }

    /// Returns whether the packet at the head is to be dropped or marked. It has waited for `wait`;
    /// `behind` bytes wait behind it; the largest packet has `mtu_bytes`. To be called once for
    /// each packet.
    fn signals_congestion(&mut self, now: Nanos, wait: Nanos, behind: u64, mtu_bytes: u32) -> bool {
        let too_long = self.too_long(now, wait, behind <= u64::from(mtu_bytes));
        if !too_long {
            self.dropping = false;
            return false;
        }
        if self.dropping {
            if now < self.next {
                return false;
            }
            self.count += 1;
            self.next += self.spacing();
            return true;
        }
        self.dropping = true;
        let recent = now.saturating_sub(self.next) < REMEMBERED_INTERVALS * self.config.interval;
        let gained = self.count - self.last_count;
        self.count = if recent && gained > 1 { gained } else { 1 };
        self.last_count = self.count;
        self.next = now + self.spacing();
        true
    }

    fn too_long(&mut self, now: Nanos, wait: Nanos, is_last: bool) -> bool {
        if wait < self.config.target || is_last {
            self.first_above = None;
            return false;
        }
        now >= *self.first_above.get_or_insert(now + self.config.interval)
    }

    /// Returns the time to the next drop: the drop rate rises with the square root of the number of
    /// drops.
    fn spacing(&self) -> Nanos {
        (self.config.interval as f64 / (self.count as f64).sqrt()) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn control() -> CoDelController {
        CoDelController::new(CoDel {
            target: 5 * MS,
            interval: 100 * MS,
            ecn: false,
        })
    }

    /// Returns the times in ms at which a packet is dropped or marked, if one arrives at the head
    /// each ms after a wait of 20 ms.
    fn signal_times(control: &mut CoDelController, from_ms: Nanos, to_ms: Nanos) -> Vec<Nanos> {
        let signalled = |&ms: &Nanos| control.signals_congestion(ms * MS, 20 * MS, 1 << 20, 1500);
        (from_ms..to_ms).filter(signalled).collect()
    }

    #[test]
    fn drops_begin_after_one_interval_and_follow_the_square_root_law() {
        // The first drop is after 100 ms; the next ones are 100 ms, 100/√2 ms, 100/√3 ms, … later.
        assert_eq!(
            signal_times(&mut control(), 0, 450),
            [100, 200, 271, 329, 379, 424]
        );
    }

    #[test]
    fn a_short_wait_or_a_last_packet_ends_the_dropping_state() {
        let mut control = control();
        assert_eq!(signal_times(&mut control, 0, 150), [100]);
        assert!(!control.signals_congestion(150 * MS, 4 * MS, 1 << 20, 1500));
        assert_eq!(signal_times(&mut control, 151, 251), [] as [Nanos; 0]);
        assert!(!control.signals_congestion(251 * MS, 20 * MS, 1500, 1500));
        assert_eq!(signal_times(&mut control, 252, 351), [] as [Nanos; 0]);
    }

    #[test]
    fn a_recent_dropping_state_continues_at_its_drop_rate() {
        let mut control = control();
        signal_times(&mut control, 0, 450); // six
        control.signals_congestion(450 * MS, 0, 0, 1500);
        // The new state starts at five drops, one less than the six so far: the second drop comes
        // 100/√5 ms after the first.
        assert_eq!(signal_times(&mut control, 451, 600), [551, 596]);
    }
}
