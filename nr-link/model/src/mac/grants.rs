// SPDX-License-Identifier: Apache-2.0
//! How the gNB learns what a UE has to send: scheduling requests and buffer status reports
//! (TS 38.321 clauses 5.4.4, 5.4.5), and the grants that answer them.

use std::collections::VecDeque;

use super::harq::Block;
use crate::counters::Capacity;
use crate::ids::{CarrierId, HarqId, UeId};
use crate::radio::tbs::Allocation;
use crate::time::{Nanos, Slot, Timeline};

/// The grant that answers a scheduling request: enough for a report and a few small packets.
const GRANT_ON_REQUEST_BYTES: u64 = 512;

/// An uplink grant: a PUSCH in a later slot of the carrier.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub slot: Slot,
    pub ue: UeId,
    pub carrier: CarrierId,
    pub process: HarqId,
    pub content: Content,
}

impl Grant {
    /// Returns the bytes of its block if it is new, else 0.
    pub fn new_bytes(&self) -> u32 {
        match self.content {
            Content::New { bytes, .. } => bytes,
            Content::Retransmission(_) => 0,
        }
    }

    /// Returns the allocated PRBs.
    pub fn prb(&self) -> u16 {
        match self.content {
            Content::New { allocation, .. } => allocation.prb,
            Content::Retransmission(block) => block.prb,
        }
    }
}

/// The content of a grant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// A new block; `full` is the capacity of a full allocation.
    New {
        mcs: u8,
        allocation: Allocation,
        bytes: u32,
        full: Capacity,
    },
    /// The retransmission of a block.
    Retransmission(Block),
}

#[derive(Debug, Clone, Copy)]
enum Message {
    Request { sent: Nanos },
    Status { built: Nanos, bytes: u64 },
}

/// The gNB's knowledge of one UE's buffer, and the UE's side of the procedures behind it. Carriers may count
/// slots differently, so a slot is identified by its start.
#[derive(Debug, Default)]
pub(crate) struct BufferStatus {
    /// Messages in transit, by the time at which the gNB has them.
    messages: Timeline<Message>,
    /// Bytes in the UE's buffer that the gNB knows of and has not granted.
    known_bytes: u64,
    /// Reports of slots that start before this time are out of date.
    newest: Nanos,
    /// Grants for new blocks: the slot's start, and bytes.
    granted: VecDeque<(Nanos, u64)>,
    /// The UE has announced data, and not yet that it has none.
    announced: bool,
}

impl BufferStatus {
    /// Returns whether the UE must send a scheduling request before it gets a grant.
    pub fn unannounced(&self) -> bool {
        !self.announced
    }

    /// Records a scheduling request in the slot that starts at `sent`; the gNB has it at `known`.
    pub fn request(&mut self, sent: Nanos, known: Nanos) {
        self.announced = true;
        self.messages.push(known, Message::Request { sent });
    }

    /// Records that the UE built a block whose report states `bytes` left.
    pub fn announce(&mut self, bytes: u64) {
        self.announced = bytes > 0;
    }

    /// Records the report of a block that arrived and was built for the slot that starts at `built`; the gNB has it
    /// at `known`.
    pub fn report(&mut self, built: Nanos, bytes: u64, known: Nanos) {
        self.messages.push(known, Message::Status { built, bytes });
    }

    /// Records that a block was given up, and its report with it: the UE sends a new request (retxBSR-Timer).
    pub fn lose(&mut self) {
        self.announced = false;
    }

    /// Returns the bytes that the gNB knows of at `now` and has not granted.
    pub fn known_bytes(&mut self, now: Nanos) -> u64 {
        while let Some((_, message)) = self.messages.pop(now) {
            self.read(message);
        }
        self.known_bytes
    }

    fn read(&mut self, message: Message) {
        match message {
            Message::Request { sent } => {
                // A block of this slot or an earlier one that arrives later, by HARQ, was built without the new
                // data: its report of an empty buffer must not cancel the request.
                self.newest = self.newest.max(sent + 1);
                self.known_bytes = self.known_bytes.max(GRANT_ON_REQUEST_BYTES);
            }
            Message::Status { built, .. } if built < self.newest => {}
            Message::Status { built, bytes } => {
                self.newest = built;
                self.granted.retain(|&(slot, _)| slot > built);
                let coming: u64 = self.granted.iter().map(|&(_, bytes)| bytes).sum();
                self.known_bytes = bytes.saturating_sub(coming);
            }
        }
    }

    /// Records a grant of a new block in the slot that starts at `slot`.
    pub fn grant(&mut self, slot: Nanos, bytes: u64) {
        self.granted.push_back((slot, bytes));
        self.known_bytes = self.known_bytes.saturating_sub(bytes);
    }

    /// Returns whether no message is in transit and the gNB knows of no data.
    pub fn is_idle(&self) -> bool {
        self.messages.is_empty() && self.known_bytes == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_not_cancelled_by_the_report_of_an_older_block() {
        let mut status = BufferStatus::default();
        status.announce(0); // the block of slot 8 reports an empty buffer, and fails
        status.request(8, 10);
        status.report(8, 0, 12); // its retransmission arrives after the request
        assert_eq!(status.known_bytes(12), GRANT_ON_REQUEST_BYTES);
    }
}
