// SPDX-License-Identifier: Apache-2.0
//! One direction of one UE above the carriers: its RLC entity with the buffer, and its counters.

use super::harq::Block;
use super::pdu::{MacPdu, Received};
use crate::counters::{Counters, Totals};
use crate::rlc::{Buffer, Reassembled, Rlc, RlcMode};
use crate::{Nanos, Packet};

#[derive(Debug)]
pub(crate) struct Bearer<T> {
    pub rlc: Rlc<T>,
    pub counters: Counters,
    /// Blocks that have arrived, of a link that records them.
    pub pdus: Option<Vec<MacPdu>>,
}

impl<T> Bearer<T> {
    pub fn new(buffer: Buffer<T>, rlc: RlcMode) -> Self {
        Self {
            rlc: Rlc::new(buffer, rlc),
            counters: Counters::default(),
            pdus: None,
        }
    }

    /// Returns the totals since the start.
    pub fn totals(&self) -> Totals {
        self.counters.totals_with(self.rlc.buffer.dropped)
    }

    /// Records a transmission of a block, which is decoded at `decoded` if it arrived.
    pub fn transmitted(
        &mut self,
        block: &Block,
        arrived: bool,
        acknowledged: bool,
        decoded: Nanos,
    ) {
        self.count_transmission(block, arrived, acknowledged);
        if arrived && block.span.bytes() > 0 {
            self.rlc
                .receive(block.span, block.polls, block.due, decoded);
        }
    }

    fn count_transmission(&mut self, block: &Block, arrived: bool, acknowledged: bool) {
        let Counters { totals, interval } = &mut self.counters;
        totals.rounds[usize::from(block.round) - 1] += 1;
        totals.prb += u64::from(block.prb);
        if block.round == 1 {
            totals.scheduled_bytes += u64::from(block.bytes);
            interval.first += 1;
            interval.first_failed += u64::from(!acknowledged);
            interval.mcs += u64::from(block.mcs);
        } else {
            totals.retx_prb += u64::from(block.prb);
        }
        if arrived {
            totals.bytes += u64::from(block.bytes);
            totals.header_bytes += u64::from(block.header_bytes);
            totals.padding_bytes +=
                u64::from(block.bytes - block.header_bytes - block.span.bytes());
            totals.capacity_bytes += block.capacity.bytes;
            totals.capacity_sdu_bytes += block.capacity.sdu_bytes;
        }
    }

    /// Records a block that has arrived, before its packets leave.
    pub fn record(&mut self, block: &Block, received: Received) {
        if let Some(pdus) = &mut self.pdus {
            let segments = self.rlc.segments(block.span);
            pdus.push(MacPdu::new(received, segments, block));
        }
    }

    /// Hands a block that HARQ leaves undelivered to RLC. The receiver misses the block since `missed`; `status` returns when
    /// the sender can use a status report of a given time.
    pub fn give_up(
        &mut self,
        block: &Block,
        missed: Nanos,
        now: Nanos,
        status: impl Fn(Nanos) -> Nanos,
    ) {
        self.counters.totals.errors += 1;
        if block.span.bytes() > 0 {
            self.rlc.give_up(block.span, missed, now, status);
        }
    }

    /// Counts a packet as lost that no sender has any more.
    pub fn lose(&mut self, packet: &Packet<T>) {
        self.counters.totals.rlc_losses += 1;
        self.counters.totals.rlc_lost_bytes += u64::from(packet.bytes);
    }

    /// Returns the next packet that leaves RLC, and when. Packets that were given up in part are counted as lost.
    pub fn depart(&mut self) -> Option<(Nanos, Packet<T>)> {
        while let Some(Reassembled {
            packet,
            queued,
            sent,
            left,
            complete,
        }) = self.rlc.pop()
        {
            if complete {
                self.counters
                    .count_departure(packet.bytes, queued, sent, left);
                return Some((left, packet));
            }
            self.lose(&packet);
        }
        None
    }
}
