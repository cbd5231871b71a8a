// SPDX-License-Identifier: Apache-2.0
//! A line of a constant rate with a drop-tail queue, and the cross traffic that shares it.
//!
//! Packets are served in the order in which they come, bit by bit and exactly: times are kept in
//! thousand-millionths of a bit. Cross traffic is packets of one size, evenly spaced, from the
//! beginning on. They change nothing but when others leave, so they are let in only when somebody
//! looks.

use std::collections::VecDeque;

use crate::Nanos;
use crate::config::{Cross, LineConfig, QueueLimit};

/// Bits times a thousand million, so that a rate in bit/s times ns is a whole number.
type Work = u128;
const WORK_PER_BYTE: Work = 8_000_000_000;

/// Packets of the cross traffic, since the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CrossTotals {
    /// Those that came, dropped ones included.
    pub packets: u64,
    /// Those that found the queue full.
    pub drops: u64,
}

#[derive(Debug)]
pub(super) struct Line {
    config: LineConfig,
    /// Where the work of the last packet ends.
    busy_to: Work,
    /// Packets that have not wholly left: when they will have, and their bytes.
    queued: VecDeque<(Nanos, u32)>,
    queued_bytes: u64,
    cross: CrossTotals,
}

impl Line {
    pub fn new(config: LineConfig) -> Self {
        Self {
            config,
            busy_to: 0,
            queued: VecDeque::new(),
            queued_bytes: 0,
            cross: CrossTotals::default(),
        }
    }

    /// When a packet that comes at `now` has wholly left; none if the queue is full. Cross traffic
    /// that comes at the same instant was before it.
    pub fn send(&mut self, bytes: u32, now: Nanos) -> Option<Nanos> {
        self.let_cross_in(now);
        self.queue(bytes, now)
    }

    pub fn cross_totals(&mut self, now: Nanos) -> CrossTotals {
        self.let_cross_in(now);
        self.cross
    }

    fn let_cross_in(&mut self, now: Nanos) {
        let Some(cross) = self.config.cross else {
            return;
        };
        loop {
            let at = cross.time_of(self.cross.packets);
            if at > now {
                return;
            }
            self.cross.packets += 1;
            self.cross.drops += u64::from(self.queue(cross.packet_bytes, at).is_none());
        }
    }

    fn queue(&mut self, bytes: u32, now: Nanos) -> Option<Nanos> {
        while let Some(&(_, gone)) = self.queued.front().filter(|(left, _)| *left <= now) {
            self.queued_bytes -= u64::from(gone);
            self.queued.pop_front();
        }
        let full = match self.config.limit {
            QueueLimit::Packets(most) => self.queued.len() as u64 >= most,
            QueueLimit::Bytes(most) => self.queued_bytes + u64::from(bytes) > most,
        };
        if full {
            return None;
        }
        let rate = Work::from(self.config.bits_per_s);
        self.busy_to = self.busy_to.max(Work::from(now) * rate) + Work::from(bytes) * WORK_PER_BYTE;
        let left = self.busy_to.div_ceil(rate) as Nanos;
        self.queued.push_back((left, bytes));
        self.queued_bytes += u64::from(bytes);
        Some(left)
    }
}

impl Cross {
    /// When its packet of this number comes, the first of them one spacing after the beginning.
    fn time_of(&self, number: u64) -> Nanos {
        let work = Work::from(number + 1) * Work::from(self.packet_bytes) * WORK_PER_BYTE;
        (work / Work::from(self.bits_per_s)) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Nanos = 1_000_000_000;

    fn line(limit: QueueLimit, cross: Option<Cross>) -> Line {
        Line::new(LineConfig {
            bits_per_s: 10_000_000,
            limit,
            cross,
        })
    }

    #[test]
    fn a_saturated_line_carries_its_rate_to_the_bit() {
        let mut line = line(QueueLimit::Packets(20_000), None);
        let last = (0..10_000).filter_map(|_| line.send(1250, 0)).last();
        assert_eq!(last, Some(10 * SECOND)); // 10,000 · 10,000 bits at 10 Mbit/s
    }

    #[test]
    fn an_idle_line_serves_at_once_and_a_full_queue_drops() {
        let mut line = line(QueueLimit::Bytes(3000), None);
        assert_eq!(line.send(1250, 5_000), Some(1_005_000));
        assert_eq!(line.send(1250, 5_000), Some(2_005_000));
        assert_eq!(line.send(1250, 5_000), None);
        // The first has left.
        assert_eq!(line.send(1250, 1_005_000), Some(3_005_000));
    }

    #[test]
    fn cross_traffic_takes_its_rate_and_the_rest_is_ours() {
        let cross = Cross {
            bits_per_s: 6_000_000,
            packet_bytes: 1250,
        };
        let mut line = line(QueueLimit::Packets(50), Some(cross));
        let mut ours = 0;
        // 8 Mbit/s of our own.
        for number in 0..8_000u64 {
            ours += u64::from(line.send(1250, number * 1_250_000).is_some());
        }
        let theirs = line.cross_totals(10 * SECOND);
        assert_eq!(theirs.packets, 6_000);
        let carried = ours + theirs.packets - theirs.drops;
        assert!((9_990..=10_050).contains(&carried), "{carried}");
        // Who loses is a matter of phase between two even spacings; how much is not.
        assert_eq!(theirs.drops + (8_000 - ours), 14_000 - carried);
    }
}
