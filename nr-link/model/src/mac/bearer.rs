// SPDX-License-Identifier: Apache-2.0
//! One direction of one UE: its buffer, its HARQ processes, its link adaptation, its books.

use super::account::{Account, Totals};
use super::harq::{Block, Feedback, Harq};
use super::outer_loop::{OuterLoop, Schemes};
use crate::config::{LinkAdaptation, RlcMode};
use crate::radio::bler::{CodeBlocks, block_error_ratio};
use crate::radio::{Constellation, decibel};
use crate::random::Stream;
use crate::rlc::{Arrival, Buffer, Rlc};
use crate::{Nanos, Packet};

#[derive(Debug)]
pub(crate) struct Bearer<T> {
    pub rlc: Rlc<T>,
    pub harq: Harq,
    pub outer_loop: OuterLoop,
    pub account: Account,
    errors: Stream,
}

impl<T> Bearer<T> {
    pub fn new(
        buffer: Buffer<T>,
        rlc: RlcMode,
        adaptation: LinkAdaptation,
        errors: Stream,
    ) -> Self {
        Self {
            rlc: Rlc::new(buffer, rlc),
            harq: Harq::default(),
            outer_loop: OuterLoop::new(adaptation),
            account: Account::default(),
            errors,
        }
    }

    /// Whether slots change nothing but capacity.
    pub fn is_idle(&self) -> bool {
        self.rlc.is_idle() && self.harq.is_idle()
    }

    /// Counters since the start.
    pub fn totals(&self) -> Totals {
        self.account.totals_with(self.rlc.buffer.struck)
    }

    /// Sends a block once more; `sinr_db` for each part of the carrier. The sender knows the
    /// outcome by slot `known`. Returns whether the block arrived.
    pub fn transmit(
        &mut self,
        process: usize,
        mut block: Block,
        schemes: &Schemes,
        sinr_db: &[f32],
        known: u64,
    ) -> bool {
        let mcs = schemes.get(block.mcs);
        block.round += 1;
        block.sinr +=
            decibel::to_ratio(Constellation::of(mcs.bits_per_symbol).effective_db(sinr_db));
        let blocks = CodeBlocks::of(8 * block.bytes, mcs);
        let ratio = block_error_ratio(mcs, blocks, decibel::from_ratio(block.sinr));
        let arrived = !self.errors.happens(ratio);
        self.account.transmission(&block, arrived);
        if arrived && block.span.bytes() > 0 {
            self.rlc.receive(block.span);
        }
        self.harq.sent(process, block, arrived, known);
        arrived
    }

    /// Lets the sender learn what it can know by `slot`, which starts at `now`; returns the next
    /// block that it gave up or saw arrive, until there is none.
    pub fn learn(&mut self, schemes: &Schemes, slot: u64) -> Option<Feedback> {
        let feedback = self.harq.feedback(slot)?;
        let (block, arrived) = match &feedback {
            Feedback::Arrived(block) => (block, true),
            Feedback::Failed(block) | Feedback::GivenUp(block) => (block, false),
        };
        let of_first = block.round == 1;
        if of_first {
            self.outer_loop.learn(schemes, block.mcs, arrived);
        }
        Some(feedback)
    }

    /// HARQ gave a block up: RLC takes over.
    pub fn give_up(&mut self, block: &Block, now: Nanos, report_delay: Nanos) {
        self.account.totals.errors += 1;
        if block.span.bytes() > 0 {
            self.rlc.give_up(block.span, now, report_delay);
        }
    }

    /// The next packet that leaves RLC at `now`; what was given up in part is counted and gone.
    pub fn depart(&mut self, now: Nanos) -> Option<Packet<T>> {
        while let Some(Arrival {
            packet,
            queued,
            sent,
            whole,
        }) = self.rlc.pop()
        {
            if whole {
                self.account.departure(packet.bytes, queued, sent, now);
                return Some(packet);
            }
            self.account.totals.rlc_losses += 1;
            self.account.totals.rlc_lost_bytes += u64::from(packet.bytes);
        }
        None
    }
}
