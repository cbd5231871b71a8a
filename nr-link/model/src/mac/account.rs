// SPDX-License-Identifier: Apache-2.0
//! What happened in one direction of one UE: counters since the start, means of the interval.

use super::cell::Capacity;
use super::harq::{Block, ROUNDS};
use crate::Nanos;
use crate::path::Lost;
use crate::rlc::Struck;

/// Counters since the link's start.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Transmissions by HARQ round.
    pub rounds: [u64; ROUNDS],
    /// Transport blocks given up after the last round.
    pub errors: u64,
    /// Bytes of transport blocks that were sent for the first time.
    pub scheduled_bytes: u64,
    /// Bytes of transport blocks that arrived.
    pub bytes: u64,
    /// Of these, headers and MAC control elements.
    pub header_bytes: u64,
    /// Of these, padding.
    pub padding_bytes: u64,
    /// IP bytes of packets that left RLC.
    pub sdu_bytes: u64,
    /// Packets that left RLC.
    pub sdu_count: u64,
    /// What a full queue would have had delivered.
    pub capacity_bytes: f64,
    /// The same in IP bytes.
    pub capacity_sdu_bytes: f64,
    /// PRBs allocated, summed over slots.
    pub prb: u64,
    /// Packets that found the buffer full, or that its management dropped.
    pub queue_drops: u64,
    /// Their IP bytes.
    pub queue_drop_bytes: u64,
    /// Packets that its management marked with CE.
    pub ce_marks: u64,
    /// Packets lost on the path.
    pub path_losses: u64,
    /// Of these, packets that found the queue of the path's line full.
    pub path_queue_drops: u64,
    /// IP bytes of all that were lost on the path.
    pub path_lost_bytes: u64,
    /// Packets lost because HARQ gave up (unacknowledged mode).
    pub rlc_losses: u64,
    /// Their IP bytes.
    pub rlc_lost_bytes: u64,
    /// IP bytes that entered.
    pub enqueued_bytes: u64,
}

/// Sums over the interval, of which a sample shows means.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Interval {
    pub first: u64,
    pub first_failed: u64,
    mcs: u64,
    packets: u64,
    wait: Nanos,
    recovery: Nanos,
    path: Nanos,
    path_packets: u64,
}

impl Interval {
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

/// The books of one direction of one UE.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub totals: Totals,
    pub interval: Interval,
}

impl Account {
    /// A block was sent, for the `block.round`th time.
    pub fn transmission(&mut self, block: &Block, arrived: bool) {
        let totals = &mut self.totals;
        totals.rounds[usize::from(block.round) - 1] += 1;
        totals.prb += u64::from(block.prb);
        if block.round == 1 {
            totals.scheduled_bytes += u64::from(block.bytes);
            self.interval.first += 1;
            self.interval.first_failed += u64::from(!arrived);
            self.interval.mcs += u64::from(block.mcs);
        }
        if arrived {
            totals.bytes += u64::from(block.bytes);
            totals.header_bytes += u64::from(block.header_bytes);
            totals.padding_bytes +=
                u64::from(block.bytes - block.header_bytes - block.span.bytes());
            totals.capacity_bytes += block.capacity_bytes;
            totals.capacity_sdu_bytes += block.capacity_sdu_bytes;
        }
    }

    /// A slot that sent nothing would have carried this.
    pub fn could_carry(&mut self, capacity: Capacity) {
        self.totals.capacity_bytes += capacity.bytes;
        self.totals.capacity_sdu_bytes += capacity.sdu_bytes;
    }

    /// Counters, with those of the buffer.
    pub fn totals_with(&self, struck: Struck) -> Totals {
        Totals {
            queue_drops: struck.drops,
            queue_drop_bytes: struck.drop_bytes,
            ce_marks: struck.marks,
            ..self.totals
        }
    }

    /// A packet entered the path at `now` and leaves it at a time, or was lost.
    pub fn entered_path<T>(&mut self, now: Nanos, outcome: Result<Nanos, Lost<T>>) {
        match outcome {
            Ok(leaves) => {
                self.interval.path += leaves - now;
                self.interval.path_packets += 1;
            }
            Err(lost) => {
                self.totals.path_losses += 1;
                self.totals.path_queue_drops += u64::from(lost.queue_full);
                self.totals.path_lost_bytes += u64::from(lost.packet.bytes);
            }
        }
    }

    /// A packet left RLC.
    pub fn departure(&mut self, bytes: u32, queued: Nanos, sent: Nanos, left: Nanos) {
        self.totals.sdu_bytes += u64::from(bytes);
        self.totals.sdu_count += 1;
        self.interval.packets += 1;
        self.interval.wait += sent - queued;
        self.interval.recovery += left - sent;
    }
}
