// SPDX-License-Identifier: Apache-2.0
//! Counters of one direction of one UE: totals since the start, and sums of the current sample interval.

use crate::Nanos;

/// Transmissions of a transport block, at most: one per HARQ round.
pub(crate) const MAX_ROUNDS: usize = 4;

/// Counters since the link's start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Transmissions by HARQ round.
    pub rounds: [u64; MAX_ROUNDS],
    /// Transport blocks that HARQ gave up after the last round.
    pub errors: u64,
    /// Bytes of transport blocks in their first transmission.
    pub scheduled_bytes: u64,
    /// Bytes of transport blocks that were decoded.
    pub bytes: u64,
    /// Headers and MAC control elements in them.
    pub header_bytes: u64,
    /// Padding in them.
    pub padding_bytes: u64,
    /// IP bytes of packets that left RLC.
    pub sdu_bytes: u64,
    /// Packets that left RLC.
    pub sdu_count: u64,
    /// Bytes that would have been delivered with a full queue.
    pub capacity_bytes: f64,
    /// The same in IP bytes.
    pub capacity_sdu_bytes: f64,
    /// Allocated PRBs, summed over slots.
    pub prb: u64,
    /// The ones of them that were allocated to HARQ retransmissions.
    pub retx_prb: u64,
    /// Packets dropped because the buffer was full, or by queue management.
    pub queue_drops: u64,
    /// Their IP bytes.
    pub queue_drop_bytes: u64,
    /// Packets that queue management marked with CE.
    pub ce_marks: u64,
    /// Packets lost on the path.
    pub path_losses: u64,
    /// Packets among them that were dropped because the queue of the path was full.
    pub path_queue_drops: u64,
    /// IP bytes of all packets lost on the path.
    pub path_lost_bytes: u64,
    /// Packets lost because HARQ gave up (unacknowledged mode).
    pub rlc_losses: u64,
    /// Their IP bytes.
    pub rlc_lost_bytes: u64,
    /// IP bytes that entered.
    pub enqueued_bytes: u64,
}

/// Packets that a buffer dropped or marked, since the start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DropCounters {
    pub drops: u64,
    /// IP bytes.
    pub drop_bytes: u64,
    pub marks: u64,
}

/// A packet lost on the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathLoss {
    /// IP bytes.
    pub bytes: u32,
    /// The queue of the path was full; otherwise the packet was lost at random.
    pub queue_full: bool,
}

/// Bytes that a full queue would have delivered: of transport blocks, and the IP bytes in them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Capacity {
    pub bytes: f64,
    pub sdu_bytes: f64,
}

/// Sums over the sample interval, from which a sample takes its means.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct IntervalSums {
    /// First transmissions.
    pub first: u64,
    pub first_failed: u64,
    /// MCS indices of first transmissions.
    pub mcs: u64,
    packets: u64,
    wait: Nanos,
    recovery: Nanos,
    path: Nanos,
    path_packets: u64,
}

impl IntervalSums {
    pub fn mcs(&self) -> Option<f64> {
        mean(self.mcs as f64, self.first)
    }

    pub fn bler_ratio(&self) -> Option<f64> {
        mean(self.first_failed as f64, self.first)
    }

    pub fn wait_ms(&self) -> Option<f64> {
        mean(self.wait as f64 / 1e6, self.packets)
    }

    pub fn path_ms(&self) -> Option<f64> {
        mean(self.path as f64 / 1e6, self.path_packets)
    }

    pub fn recovery_ms(&self) -> Option<f64> {
        mean(self.recovery as f64 / 1e6, self.packets)
    }
}

fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// All counters of one direction of one UE.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub totals: Totals,
    pub interval: IntervalSums,
}

impl Counters {
    /// Adds the capacity of a slot that was not used.
    pub fn add_unused_capacity(&mut self, capacity: Capacity) {
        self.totals.capacity_bytes += capacity.bytes;
        self.totals.capacity_sdu_bytes += capacity.sdu_bytes;
    }

    /// Returns the totals, with those of the buffer.
    pub fn totals_with(&self, dropped: DropCounters) -> Totals {
        Totals {
            queue_drops: dropped.drops,
            queue_drop_bytes: dropped.drop_bytes,
            ce_marks: dropped.marks,
            ..self.totals
        }
    }

    /// Counts a packet that entered the path at `now`, and leaves it at the time given or was lost.
    pub fn count_path(&mut self, now: Nanos, outcome: Result<Nanos, PathLoss>) {
        match outcome {
            Ok(leaves) => {
                self.interval.path += leaves - now;
                self.interval.path_packets += 1;
            }
            Err(lost) => {
                self.totals.path_losses += 1;
                self.totals.path_queue_drops += u64::from(lost.queue_full);
                self.totals.path_lost_bytes += u64::from(lost.bytes);
            }
        }
    }

    /// Counts a packet of `bytes` that left RLC at `left`; its last byte was first sent at `sent`.
    pub fn count_departure(&mut self, bytes: u32, queued: Nanos, sent: Nanos, left: Nanos) {
        self.totals.sdu_bytes += u64::from(bytes);
        self.totals.sdu_count += 1;
        self.interval.packets += 1;
        self.interval.wait += sent - queued;
        self.interval.recovery += left - sent;
    }
}
