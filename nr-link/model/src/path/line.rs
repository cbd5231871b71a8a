// SPDX-License-Identifier: Apache-2.0
//! A line of constant rate with a drop-tail queue, and the cross traffic that shares it.
//!
//! Packets are served in order of arrival, bit by bit and without rounding: times are kept in units
//! of 10⁻⁹ bit. Cross traffic is packets of one size at a constant interval from the start on.
//! Since they matter only for the times of other packets, they are added when one of those arrives
//! or when counters are read.

use std::collections::VecDeque;

use serde::Serialize;

use crate::Nanos;
use crate::config::{Cross, LineConfig, QueueLimit};

/// Bits times 10⁹, so that the product of a rate in bit/s and a time in ns is an integer.
type Work = u128;
const WORK_PER_BYTE: Work = 8_000_000_000;

/// Counters of cross-traffic packets since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CrossTotals {
    /// Packets that arrived, dropped ones included.
    pub packets: u64,
    /// Packets dropped because the queue was full.
    #[serde(rename = "queue_drop_packets")]
    pub drops: u64,
}

#[derive(Debug)]
pub(super) struct Line {
    config: LineConfig,
    /// The end of the last packet's service, as work.
    busy_to: Work,
    /// Packets that have not left completely: the time at which they will have, and their bytes.
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

    /// Returns when a packet that arrives at `now` has left completely; `None` if the queue is
    /// full. Cross traffic of the same time comes first.
    pub fn send(&mut self, bytes: u32, now: Nanos) -> Option<Nanos> {
        self.let_cross_in(now);
        self.queue(bytes, now)
    }

    pub fn cross_totals(&mut self, now: Nanos) -> Option<CrossTotals> {
        self.let_cross_in(now);
        self.config.cross.map(|_| self.cross)
    }

    /// Queues the cross-traffic packets that have arrived until `now`.
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

    /// Queues a packet, and returns when it has left completely; `None` if the queue is full.
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
    /// Returns the arrival time of a cross-traffic packet by its number; the first comes one
    /// interval after the start.
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
        // The first packet has left.
        assert_eq!(line.send(1250, 1_005_000), Some(3_005_000));
    }

    #[test]
    fn cross_traffic_takes_its_rate_and_leaves_the_rest_to_other_packets() {
        let cross = Cross {
            bits_per_s: 6_000_000,
            packet_bytes: 1250,
        };
        let mut line = line(QueueLimit::Packets(50), Some(cross));
        let mut others = 0;
        // 8 Mbit/s of other packets.
        for number in 0..8_000u64 {
            others += u64::from(line.send(1250, number * 1_250_000).is_some());
        }
        let cross = line.cross_totals(10 * SECOND).unwrap();
        assert_eq!(cross.packets, 6_000);
        let carried = others + cross.packets - cross.drops;
        assert!((9_990..=10_050).contains(&carried), "{carried}");
        // Which packets are lost depends on the phase between the two constant intervals; how many
        // does not.
        assert_eq!(cross.drops + (8_000 - others), 14_000 - carried);
    }
}
