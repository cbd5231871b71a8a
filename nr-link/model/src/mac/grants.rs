// SPDX-License-Identifier: Apache-2.0
//! How the gNB learns what a UE has to send: scheduling requests and buffer status reports
//! (TS 38.321 clauses 5.4.4, 5.4.5), and the grants that answer them.

use std::collections::VecDeque;

use super::cell::{Capacity, Room};
use super::harq::Block;
use crate::Nanos;
use crate::timeline::Timeline;

/// What the gNB grants to a UE that only requested: enough for a report and a few small packets.
const GRANT_ON_REQUEST_BYTES: u64 = 512;

/// A PUSCH to come, in a slot as its carrier counts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub slot: u64,
    pub ue: usize,
    pub carrier: usize,
    pub process: usize,
    pub content: Content,
}

impl Grant {
    /// Bytes of its block, if that is new.
    pub fn new_bytes(&self) -> u32 {
        match self.content {
            Content::New { bytes, .. } => bytes,
            Content::Again(_) => 0,
        }
    }

    /// PRBs that it takes.
    pub fn prb(&self) -> u16 {
        match self.content {
            Content::New { room, .. } => room.prb,
            Content::Again(block) => block.prb,
        }
    }
}

/// What a grant is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// A new block with this MCS; what a full allocation would have carried.
    New {
        mcs: u8,
        room: Room,
        bytes: u32,
        full: Capacity,
    },
    /// This block once more.
    Again(Block),
}

#[derive(Debug, Clone, Copy)]
enum Message {
    Request { sent: Nanos },
    Status { built: Nanos, bytes: u64 },
}

/// The gNB's view of one UE's buffer, and the UE's side of how it comes about. Carriers may count
/// slots differently: a slot is named by its start.
#[derive(Debug, Default)]
pub(crate) struct BufferStatus {
    /// On their way: from when on the gNB knows them.
    messages: Timeline<Message>,
    /// Bytes that the gNB believes the UE has left, beyond what is granted.
    believed: u64,
    /// Reports of slots that start before are out of date.
    newest: Nanos,
    /// Granted for new blocks: the slot's start, and bytes.
    granted: VecDeque<(Nanos, u64)>,
    /// The UE has said that it has data, and not yet that it has none.
    announced: bool,
}

impl BufferStatus {
    /// Whether the UE must send a request to be heard.
    pub fn unannounced(&self) -> bool {
        !self.announced
    }

    /// The UE sends a scheduling request in the slot that starts at `sent`; the gNB knows it from
    /// `known` on.
    pub fn request(&mut self, sent: Nanos, known: Nanos) {
        self.announced = true;
        self.messages.push(known, Message::Request { sent });
    }

    /// The UE built a block that says it has `bytes` left.
    pub fn announce(&mut self, bytes: u64) {
        self.announced = bytes > 0;
    }

    /// A block arrived that was built for the slot that starts at `built`; the gNB knows its report
    /// from `known` on.
    pub fn report(&mut self, built: Nanos, bytes: u64, known: Nanos) {
        self.messages.push(known, Message::Status { built, bytes });
    }

    /// A block was given up, and its report with it: the UE asks again (retxBSR-Timer).
    pub fn lose(&mut self) {
        self.announced = false;
    }

    /// What the gNB believes at `now`.
    pub fn believed(&mut self, now: Nanos) -> u64 {
        while let Some((_, message)) = self.messages.pop(now) {
            self.read(message);
        }
        self.believed
    }

    fn read(&mut self, message: Message) {
        match message {
            Message::Request { sent } => {
                // A block of this slot or before that HARQ brings later was built without what is
                // asked for now: its "nothing left" must not silence the request.
                self.newest = self.newest.max(sent + 1);
                self.believed = self.believed.max(GRANT_ON_REQUEST_BYTES);
            }
            Message::Status { built, .. } if built < self.newest => {}
            Message::Status { built, bytes } => {
                self.newest = built;
                self.granted.retain(|&(slot, _)| slot > built);
                let coming: u64 = self.granted.iter().map(|&(_, bytes)| bytes).sum();
                self.believed = bytes.saturating_sub(coming);
            }
        }
    }

    /// A new block was granted for the slot that starts at `slot`.
    pub fn grant(&mut self, slot: Nanos, bytes: u64) {
        self.granted.push_back((slot, bytes));
        self.believed = self.believed.saturating_sub(bytes);
    }

    /// Whether nothing is on its way and nothing is believed to wait.
    pub fn is_idle(&self) -> bool {
        self.messages.is_empty() && self.believed == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_outlives_the_report_of_a_block_that_was_built_before_it() {
        let mut status = BufferStatus::default();
        status.announce(0); // the block of slot 8 says "nothing left", and fails
        status.request(8, 10);
        status.report(8, 0, 12); // its retransmission arrives behind the request
        assert_eq!(status.believed(12), GRANT_ON_REQUEST_BYTES);
    }
}
