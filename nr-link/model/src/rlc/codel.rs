// SPDX-License-Identifier: Apache-2.0
//! CoDel (RFC 8289): once packets have waited longer than the target for a whole interval, one is
//! dropped, and the next ones sooner and sooner until the wait is short again.

use crate::Nanos;
use crate::config::CoDel;

/// Within so many intervals of the last dropping state, the next one goes on where it ended
/// (RFC 8289 section 5.5 and its appendix's pseudocode).
const REMEMBERED_INTERVALS: u64 = 16;

/// The state that a queue's packets drive.
#[derive(Debug)]
pub(super) struct Control {
    config: CoDel,
    /// When the wait will have been too long for an interval; none while it is not.
    first_above: Option<Nanos>,
    dropping: bool,
    next: Nanos,
    count: u64,
    last_count: u64,
}

impl Control {
    pub fn new(config: CoDel) -> Self {
        Self {
            config,
            first_above: None,
            dropping: false,
            next: 0,
            count: 0,
            last_count: 0,
        }
    }

    /// Whether the packet at the head is to be dropped or marked, which has waited for `wait` and
    /// behind which `behind` bytes wait, of packets of at most `mtu_bytes`. Asked once a packet.
    pub fn strikes(&mut self, now: Nanos, wait: Nanos, behind: u64, mtu_bytes: u32) -> bool {
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
        let lately = now.saturating_sub(self.next) < REMEMBERED_INTERVALS * self.config.interval;
        let gained = self.count - self.last_count;
        self.count = if lately && gained > 1 { gained } else { 1 };
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

    /// The control law: the rate of drops rises as the square root of their number.
    fn spacing(&self) -> Nanos {
        (self.config.interval as f64 / (self.count as f64).sqrt()) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn control() -> Control {
        Control::new(CoDel {
            target: 5 * MS,
            interval: 100 * MS,
            ecn: false,
        })
    }

    /// Instants, ms, at which a packet each ms is struck that always has waited for 20 ms.
    fn strikes(control: &mut Control, from_ms: Nanos, to_ms: Nanos) -> Vec<Nanos> {
        let struck = |&ms: &Nanos| control.strikes(ms * MS, 20 * MS, 1 << 20, 1500);
        (from_ms..to_ms).filter(struck).collect()
    }

    #[test]
    fn drops_come_after_an_interval_and_then_by_the_square_root() {
        // 100, and 100 ms, 100/√2, 100/√3, 100/√4 … later.
        assert_eq!(
            strikes(&mut control(), 0, 450),
            [100, 200, 271, 329, 379, 424]
        );
    }

    #[test]
    fn a_short_wait_and_a_last_packet_end_it() {
        let mut control = control();
        assert_eq!(strikes(&mut control, 0, 150), [100]);
        assert!(!control.strikes(150 * MS, 4 * MS, 1 << 20, 1500));
        assert_eq!(strikes(&mut control, 151, 251), [] as [Nanos; 0]);
        assert!(!control.strikes(251 * MS, 20 * MS, 1500, 1500));
        assert_eq!(strikes(&mut control, 252, 351), [] as [Nanos; 0]);
    }

    #[test]
    fn it_goes_on_where_it_ended_lately() {
        let mut control = control();
        strikes(&mut control, 0, 450); // six
        control.strikes(450 * MS, 0, 0, 1500);
        // Five more than it began with: the second comes 100/√5 ms after the first.
        assert_eq!(strikes(&mut control, 451, 600), [551, 596]);
    }
}
