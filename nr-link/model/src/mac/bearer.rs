// SPDX-License-Identifier: Apache-2.0
//! One direction of one UE above the carriers: its buffer and RLC entity, its books.

use super::account::{Account, Totals};
use super::harq::Block;
use crate::config::RlcMode;
use crate::rlc::{Arrival, Buffer, Rlc};
use crate::{Nanos, Packet};

#[derive(Debug)]
pub(crate) struct Bearer<T> {
    pub rlc: Rlc<T>,
    pub account: Account,
}

impl<T> Bearer<T> {
    pub fn new(buffer: Buffer<T>, rlc: RlcMode) -> Self {
        Self {
            rlc: Rlc::new(buffer, rlc),
            account: Account::default(),
        }
    }

    /// Counters since the start.
    pub fn totals(&self) -> Totals {
        self.account.totals_with(self.rlc.buffer.struck)
    }

    /// A block was sent once more, and is decoded at `decoded` if it arrived.
    pub fn transmitted(&mut self, block: &Block, arrived: bool, decoded: Nanos) {
        self.account.transmission(block, arrived);
        if arrived && block.span.bytes() > 0 {
            self.rlc.receive(block.span, decoded);
        }
    }

    /// HARQ gave a block up that the receiver missed first at `missed`: RLC takes over. `status` tells
    /// when the sender can use a status report of a time.
    pub fn give_up(
        &mut self,
        block: &Block,
        missed: Nanos,
        now: Nanos,
        status: impl Fn(Nanos) -> Nanos,
    ) {
        self.account.totals.errors += 1;
        if block.span.bytes() > 0 {
            self.rlc.give_up(block.span, missed, now, status);
        }
    }

    /// The next packet that leaves RLC, and when; what was given up in part is counted and gone.
    pub fn depart(&mut self) -> Option<(Nanos, Packet<T>)> {
        while let Some(Arrival {
            packet,
            queued,
            sent,
            left,
            whole,
        }) = self.rlc.pop()
        {
            if whole {
                self.account.departure(packet.bytes, queued, sent, left);
                return Some((left, packet));
            }
            self.account.totals.rlc_losses += 1;
            self.account.totals.rlc_lost_bytes += u64::from(packet.bytes);
        }
        None
    }
}
