// SPDX-License-Identifier: Apache-2.0
//! The knowledge of the gNB about what a UE has to send: scheduling requests and buffer status reports
//! (TS 38.321 clauses 5.4.4, 5.4.5), and the grants that answer them.

use std::collections::VecDeque;
use std::mem;

use super::harq::Block;
use crate::config::{Gnb, Grants, RadioConfig};
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
    /// A gNB that does not grant exactly what is needed, as OpenAirInterface's.
    inexact: Option<InexactGrants>,
    /// The gNB grants whatever is free, and needs no messages.
    is_unlimited: bool,
}

/// The state of a gNB that answers requests with grants of its own size, and gives some unasked.
#[derive(Debug, Clone, Copy)]
struct InexactGrants {
    unasked_grant_slots: u64,
    /// The start of the last slot for which the UE built a report.
    reported: Option<Nanos>,
    /// A request of the UE is pending.
    pending: bool,
    /// A request that no grant has answered.
    requested: bool,
    /// The last slot that was granted.
    last: Slot,
}

impl InexactGrants {
    fn new(gnb: &Gnb) -> Self {
        Self {
            unasked_grant_slots: gnb.unasked_grant_slots,
            reported: None,
            pending: false,
            requested: false,
            last: Slot(0),
        }
    }
}

/// Levels of the short buffer status report, bytes (TS 38.321 table 6.1.3.1-1); the last one is what OpenAirInterface
/// takes for all larger sizes.
#[rustfmt::skip]
const SHORT_REPORT_LEVELS: [u64; 32] = [
    0, 10, 14, 20, 28, 38, 53, 74, 102, 142, 198, 276, 384, 535, 745, 1038, 1446, 2014, 2806, 3909,
    5446, 7587, 10_570, 14_726, 20_516, 28_581, 39_818, 55_474, 77_284, 107_669, 150_000, 300_000,
];

/// Returns the index of the level that a short report of `bytes` states.
pub(crate) fn short_report(bytes: u64) -> u8 {
    let level = SHORT_REPORT_LEVELS.partition_point(|&size| size < bytes);
    level.min(SHORT_REPORT_LEVELS.len() - 1) as u8
}

/// Returns what OpenAirInterface's gNB takes a short report of `bytes` for: the level above the reported one, as the
/// report does not count headers.
fn overestimated(bytes: u64) -> u64 {
    if bytes == 0 {
        return 0;
    }
    let level = SHORT_REPORT_LEVELS.partition_point(|&size| size < bytes);
    SHORT_REPORT_LEVELS[(level + 1).min(SHORT_REPORT_LEVELS.len() - 1)]
}

impl BufferStatus {
    pub fn new(radio: &RadioConfig) -> Self {
        Self {
            inexact: radio.gnb().map(InexactGrants::new),
            is_unlimited: radio.uplink.grants == Grants::Unlimited,
            ..Self::default()
        }
    }

    /// Returns whether a UE without known data gets a small grant in `slot` all the same: it sent a request, or had no
    /// grant for some time. `first_uplink` is the first slot of a period that is all uplink.
    pub fn small_grant(&self, slot: Slot, first_uplink: u64) -> bool {
        self.inexact.is_some_and(|inexact| {
            let period = inexact.unasked_grant_slots;
            let last = inexact.last.0 - inexact.last.0 % period + first_uplink;
            inexact.requested || slot.0 >= last + period
        })
    }

    /// Returns whether the UE must send a scheduling request before it gets a grant.
    pub fn unannounced(&self) -> bool {
        !self.announced && !self.is_unlimited
    }

    /// Ends the uplink slot that starts at `start`, after which the UE `has_data` left or not; returns whether a request
    /// is due in this slot. OpenAirInterface's UE has one pending while data was left at the end of the uplink slot
    /// before, also of data that it has reported, unless it sends a report in this slot.
    pub fn is_request_due(&mut self, start: Nanos, has_data: bool) -> bool {
        let Some(inexact) = &mut self.inexact else {
            return has_data && self.unannounced();
        };
        let is_reported = inexact.reported == Some(start);
        let was_pending = mem::replace(&mut inexact.pending, has_data && !is_reported);
        was_pending && !is_reported && !self.is_unlimited
    }

    /// Records a scheduling request in the slot that starts at `sent`; the gNB has it at `known`.
    pub fn request(&mut self, sent: Nanos, known: Nanos) {
        self.announced = true;
        self.messages.push(known, Message::Request { sent });
    }

    /// Records that the UE built a block for the slot that starts at `start`, whose report states `bytes` left.
    pub fn announce(&mut self, start: Nanos, bytes: u64) {
        self.announced = bytes > 0;
        if let Some(inexact) = &mut self.inexact {
            inexact.reported = Some(start);
        }
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

    /// Returns the bytes that the gNB knows of at `now` and has not granted; more than any block holds if it grants
    /// whatever is free.
    pub fn known_bytes(&mut self, now: Nanos) -> u64 {
        while let Some((_, message)) = self.messages.pop(now) {
            self.read(message);
        }
        match self.is_unlimited {
            true => u64::from(u32::MAX),
            false => self.known_bytes,
        }
    }

    fn read(&mut self, message: Message) {
        match message {
            Message::Request { sent } => match &mut self.inexact {
                Some(inexact) => inexact.requested = true,
                None => {
                    // A block of this slot or an earlier one that arrives later, by HARQ, was built without the new
                    // data: its report of an empty buffer must not cancel the request.
                    self.newest = self.newest.max(sent + 1);
                    self.known_bytes = self.known_bytes.max(GRANT_ON_REQUEST_BYTES);
                }
            },
            Message::Status { built, .. } if built < self.newest => {}
            Message::Status { built, bytes } => {
                self.newest = built;
                self.granted.retain(|&(slot, _)| slot > built);
                let bytes = match self.inexact {
                    Some(_) => overestimated(bytes),
                    None => bytes,
                };
                let coming: u64 = self.granted.iter().map(|&(_, bytes)| bytes).sum();
                self.known_bytes = bytes.saturating_sub(coming);
            }
        }
    }

    /// Records a grant of a new block in a slot that starts at `start`.
    pub fn grant(&mut self, slot: Slot, start: Nanos, bytes: u64) {
        self.answer(slot);
        self.granted.push_back((start, bytes));
        self.known_bytes = self.known_bytes.saturating_sub(bytes);
    }

    /// Records a grant, also for a retransmission: OpenAirInterface's gNB takes either for the answer to a request.
    pub fn answer(&mut self, slot: Slot) {
        if let Some(inexact) = &mut self.inexact {
            inexact.requested = false;
            inexact.last = slot;
        }
    }

    /// Returns whether the gNB knows of data that it has not granted.
    pub fn knows_of_more(&self) -> bool {
        self.known_bytes > 0 || self.is_unlimited
    }

    /// Returns whether the gNB knows of data that is still at the UE after the slots that start at `start`.
    pub fn knows(&self, start: Nanos) -> bool {
        self.knows_of_more() || self.granted.iter().any(|&(slot, _)| slot > start)
    }

    /// Returns whether no message is in transit and the gNB knows of no data.
    pub fn is_idle(&self) -> bool {
        let requested = self.inexact.is_some_and(|inexact| inexact.requested);
        self.messages.is_empty() && self.known_bytes == 0 && !requested
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::OAI_2026_W11;

    fn of_openairinterface() -> BufferStatus {
        BufferStatus {
            inexact: Some(InexactGrants::new(&OAI_2026_W11)),
            ..BufferStatus::default()
        }
    }

    #[test]
    fn a_report_is_taken_for_the_level_above() {
        assert_eq!(
            [0, 1, 10, 11, 2000].map(overestimated),
            [0, 14, 14, 20, 2806]
        );
        assert_eq!([150_000, 150_001].map(overestimated), [300_000, 300_000]);
    }

    #[test]
    fn an_idle_ue_gets_a_grant_in_each_frame() {
        let mut status = of_openairinterface();
        let granted = (20..100).filter(|&slot| {
            let granted = slot % 10 > 6 && status.small_grant(Slot(slot), 8);
            if granted {
                status.grant(Slot(slot), 0, 400);
            }
            granted
        });
        assert_eq!(granted.collect::<Vec<_>>(), [28, 48, 68, 88]);
    }

    #[test]
    fn openairinterface_asks_for_data_that_was_left_in_the_slot_before() {
        let mut status = of_openairinterface();
        assert!(!status.is_request_due(7, true), "the data is new");
        assert!(status.is_request_due(17, true));
        assert!(status.is_request_due(27, true), "no block has taken it");
        status.announce(37, 100);
        assert!(!status.is_request_due(37, true), "a report is beside it");
        assert!(!status.is_request_due(38, true));
        assert!(status.is_request_due(47, true), "also after a report");
        assert!(
            status.is_request_due(57, false),
            "as it was left in the slot before"
        );
        assert!(!status.is_request_due(67, false));
    }

    #[test]
    fn any_grant_answers_a_request() {
        let mut status = of_openairinterface();
        status.answer(Slot(8));
        status.request(7, 14);
        assert_eq!(status.known_bytes(14), 0);
        assert!(status.small_grant(Slot(17), 8));
        status.answer(Slot(17));
        assert!(!status.small_grant(Slot(18), 8));
    }

    #[test]
    fn a_request_is_not_cancelled_by_the_report_of_an_older_block() {
        let mut status = BufferStatus::default();
        status.announce(8, 0); // the block of slot 8 reports an empty buffer, and fails
        status.request(8, 10);
        status.report(8, 0, 12); // its retransmission arrives after the request
        assert_eq!(status.known_bytes(12), GRANT_ON_REQUEST_BYTES);
    }
}
