// SPDX-License-Identifier: Apache-2.0
//! Polling and status reports of acknowledged mode (TS 38.322 clauses 5.3.3 and 5.3.4), where they are configured: the
//! sender knows of a loss only by a status PDU of the receiver, which takes resources of the other direction.
//!
//! Sequence numbers are offsets in the stream of bytes here: an SDU is a range of it.

use super::Span;
use super::received::Received;
use crate::Nanos;
use crate::config::Polling;
use crate::time::Timeline;

/// A status PDU: the spans that the receiver lacks, and the offset up to which it reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Status {
    lacking: Vec<Span>,
    reported_to: u64,
}

/// The number of a status PDU on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StatusId(u64);

/// D/C, CPT, ACK_SN of 18 bits and E1 (clause 6.2.2.5).
const STATUS_BYTES: u32 = 3;
/// NACK_SN with its flags, SOstart and SOend, and the NACK range.
const NACK_BYTES: u32 = 3 + 4 + 1;
/// MAC subheader of a PDU below 256 bytes, or of a larger one.
const MAC_BYTES: [u32; 2] = [2, 3];

impl Status {
    /// Returns the bytes of the PDU in a transport block.
    fn bytes(lacking: usize) -> u32 {
        let pdu = STATUS_BYTES + lacking as u32 * NACK_BYTES;
        pdu + MAC_BYTES[usize::from(pdu >= 256)]
    }
}

/// The content that a block submits to lower layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Submitted {
    pub span: Span,
    /// The PDUs with bytes that were never sent; none if `span` is a retransmission.
    pub new_pdus: u64,
    /// The part in the last PDU.
    pub last: Span,
    /// The offset after all data sent so far.
    pub next: u64,
    /// Nothing is left to send.
    pub is_empty: bool,
}

/// Both sides of one direction's entity.
#[derive(Debug)]
pub(super) struct StatusReporting {
    sender: Sender,
    receiver: Receiver,
    /// The content of the receiver once it has decoded all that is on its way.
    decoded: Received,
    /// Status PDUs in transmission.
    underway: Vec<(StatusId, Status)>,
    /// Those that the sender has, from these times on.
    arriving: Timeline<Status>,
    sent: u64,
}

/// The variables of the transmitting side.
#[derive(Debug)]
struct Sender {
    polling: Polling,
    /// PDU_WITHOUT_POLL and BYTE_WITHOUT_POLL.
    pdus: u64,
    bytes: u64,
    /// The end of t-PollRetransmit, and the offset that stands for POLL_SN.
    poll: Option<(Nanos, u64)>,
    /// The next PDU polls, as t-PollRetransmit has expired.
    polls: bool,
    /// The last SDU sent, or its part.
    last: Span,
}

/// The variables of the receiving side.
#[derive(Debug)]
struct Receiver {
    t_reassembly: Nanos,
    t_status_prohibit: Nanos,
    /// Transport blocks until they are decoded, and whether they poll.
    coming: Timeline<(Span, bool)>,
    received: Received,
    /// The end of t-Reassembly, and RX_Next_Status_Trigger.
    reassembly: Option<(Nanos, u64)>,
    /// RX_Highest_Status.
    highest_status: u64,
    /// The offset of a poll that waits for t-Reassembly.
    polled: Option<u64>,
    /// A status report is triggered.
    triggered: bool,
    /// The end of t-StatusProhibit.
    prohibited: Nanos,
}

impl StatusReporting {
    pub fn new(polling: Polling, t_reassembly: Nanos) -> Self {
        Self {
            receiver: Receiver {
                t_reassembly,
                t_status_prohibit: polling.t_status_prohibit,
                coming: Timeline::default(),
                received: Received::default(),
                reassembly: None,
                highest_status: 0,
                polled: None,
                triggered: false,
                prohibited: 0,
            },
            sender: Sender {
                polling,
                pdus: 0,
                bytes: 0,
                poll: None,
                polls: false,
                last: Span { start: 0, end: 0 },
            },
            decoded: Received::default(),
            underway: Vec::new(),
            arriving: Timeline::default(),
            sent: 0,
        }
    }

    /// Starts over after re-establishment (TS 38.322 clause 5.1.2): the receiver has, or waits no longer for, `there`.
    pub fn reestablish(&mut self, there: impl Iterator<Item = Span>) {
        let sent = self.sent;
        *self = Self::new(self.sender.polling, self.receiver.t_reassembly);
        self.sent = sent;
        there.for_each(|span| self.decoded.add(span));
        self.receiver.received = self.decoded.clone();
        self.receiver.highest_status = self.decoded.complete();
    }

    /// Returns whether nothing is outstanding on either side.
    pub fn is_idle(&self) -> bool {
        self.sender.poll.is_none()
            && self.underway.is_empty()
            && self.arriving.is_empty()
            && self.receiver.is_idle()
    }

    /// Runs timers and arrivals of both sides until `now`; returns the spans to retransmit. `is_empty` is whether the sender
    /// has neither new data nor retransmissions.
    pub fn advance(&mut self, now: Nanos, is_empty: bool) -> Vec<Span> {
        self.receiver.advance(now);
        let mut lacking = Vec::new();
        while let Some((_, status)) = self.arriving.pop(now) {
            self.sender.learn(&status);
            lacking.extend(status.lacking);
        }
        lacking.extend(self.sender.expire(now, is_empty && lacking.is_empty()));
        lacking
    }

    /// Decides whether what was submitted at `now` polls.
    pub fn poll(&mut self, submitted: &Submitted, now: Nanos) -> bool {
        let &Submitted {
            span,
            new_pdus,
            last,
            next,
            is_empty,
        } = submitted;
        let sender = &mut self.sender;
        // PDU_WITHOUT_POLL and BYTE_WITHOUT_POLL count what was not transmitted before (clause 5.3.3.2).
        if new_pdus > 0 {
            sender.pdus += new_pdus;
            sender.bytes += u64::from(span.bytes());
        }
        if last.end >= sender.last.end {
            sender.last = last;
        }
        // "if PDU_WITHOUT_POLL >= pollPDU; or if BYTE_WITHOUT_POLL >= pollByte: include a poll"; "if both the transmission
        // buffer and the retransmission buffer becomes empty […] after the transmission of the AMD PDU […]: include a poll"
        // (clause 5.3.3.2).
        let Polling { pdus, bytes, .. } = sender.polling;
        let polls = sender.polls
            || is_empty
            || pdus.is_some_and(|most| sender.pdus >= most)
            || bytes.is_some_and(|most| sender.bytes >= most);
        if polls {
            (sender.pdus, sender.bytes, sender.polls) = (0, 0, false);
            // "set POLL_SN to the highest SN of the AMD PDU among the AMD PDUs submitted to lower layer; […] start or restart
            // t-PollRetransmit".
            sender.poll = Some((now + sender.polling.t_poll_retransmit, next));
        }
        polls
    }

    /// Records that a block is decoded at `decoded`; returns the parts of it that are new.
    pub fn receive(&mut self, span: Span, polls: bool, decoded: Nanos) -> Vec<Span> {
        self.receiver.coming.push(decoded, (span, polls));
        let new = self.decoded.lacking_in(span).collect();
        self.decoded.add(span);
        new
    }

    /// Returns the bytes of the status PDU that waits at `now` to be sent in the other direction; 0 if none does.
    pub fn status_bytes(&self, now: Nanos) -> u32 {
        match self.receiver.reports(now) {
            true => Status::bytes(self.receiver.lacking().count()),
            false => 0,
        }
    }

    /// Takes the status PDU that waits, if it fits in `capacity` bytes; returns its number and bytes.
    pub fn take_status(&mut self, capacity: u32, now: Nanos) -> Option<(StatusId, u32)> {
        let bytes = self.status_bytes(now);
        if bytes == 0 || bytes > capacity {
            return None;
        }
        let status = self.receiver.report(now);
        self.sent += 1;
        self.underway.push((StatusId(self.sent), status));
        Some((StatusId(self.sent), bytes))
    }

    /// Records that the block with a status PDU arrived, and the sender has it at `known`; or that it was given up.
    pub fn status_arrived(&mut self, id: StatusId, known: Option<Nanos>) {
        let Some(at) = self.underway.iter().position(|(other, _)| *other == id) else {
            return;
        };
        let (_, status) = self.underway.swap_remove(at);
        if let Some(known) = known {
            self.arriving.push(known, status);
        }
    }
}

impl Sender {
    /// "if the STATUS report comprises a positive or negative acknowledgement for the RLC SDU with sequence number equal to
    /// POLL_SN: if t-PollRetransmit is running: stop and reset" (clause 5.3.3.3).
    fn learn(&mut self, status: &Status) {
        if self.poll.is_some_and(|(_, end)| end <= status.reported_to) {
            self.poll = None;
        }
    }

    /// "Upon expiry of t-PollRetransmit […]: if both the transmission buffer and the retransmission buffer are empty […]:
    /// consider the RLC SDU with the highest SN among the RLC SDUs submitted to lower layers for retransmission […]; include a
    /// poll in an AMD PDU" (clause 5.3.3.4).
    fn expire(&mut self, now: Nanos, is_empty: bool) -> Option<Span> {
        self.poll.filter(|&(end, _)| end <= now)?;
        self.poll = None;
        self.polls = true;
        is_empty.then_some(self.last)
    }
}

impl Receiver {
    fn is_idle(&self) -> bool {
        self.coming.is_empty() && self.reassembly.is_none() && !self.triggered
    }

    fn advance(&mut self, now: Nanos) {
        while let Some((decoded, (span, polls))) = self.coming.pop(now) {
            self.expire(decoded);
            self.receive(span, polls, decoded);
        }
        self.expire(now);
    }

    fn receive(&mut self, span: Span, polls: bool, now: Nanos) {
        self.received.add(span);
        if polls {
            self.polled = Some(self.polled.map_or(span.end, |end| end.max(span.end)));
        }
        self.highest_status = self.highest_status.max(self.received.complete());
        // "if t-Reassembly is running: if RX_Next_Status_Trigger = RX_Next; […]: stop and reset" and "if t-Reassembly is not
        // running […]: if RX_Next_Highest > RX_Next […]: start t-Reassembly; set RX_Next_Status_Trigger to RX_Next_Highest"
        // (clause 5.2.3.2.3).
        self.reassembly = self
            .reassembly
            .filter(|&(_, trigger)| self.received.complete() < trigger);
        self.start_reassembly(self.received.complete(), now);
        self.answer_poll();
    }

    /// Starts t-Reassembly if it does not run, and something after `from` was received.
    fn start_reassembly(&mut self, from: u64, now: Nanos) {
        if self.reassembly.is_none() && self.received.highest() > from {
            self.reassembly = Some((now + self.t_reassembly, self.received.highest()));
        }
    }

    /// "update RX_Highest_Status to the SN of the first RLC SDU with SN >= RX_Next_Status_Trigger for which not all bytes have
    /// been received; if RX_Next_Highest > RX_Highest_Status […]: start t-Reassembly" (clause 5.2.3.2.4). "Detection of
    /// reception failure" triggers a report (clause 5.3.4).
    fn expire(&mut self, now: Nanos) {
        while let Some((end, trigger)) = self.reassembly.filter(|&(end, _)| end <= now) {
            self.reassembly = None;
            self.highest_status = self.received.first_lacking_from(trigger);
            let lacks = self.lacking().next().is_some();
            self.triggered |= lacks;
            self.start_reassembly(self.highest_status, end);
            self.answer_poll();
        }
    }

    /// A poll triggers a report: at once "if x < RX_Highest_Status", else "delay triggering the STATUS report until x <
    /// RX_Highest_Status" (clause 5.3.4).
    fn answer_poll(&mut self) {
        if self.polled.is_some_and(|end| end <= self.highest_status) {
            self.polled = None;
            self.triggered = true;
        }
    }

    /// Returns whether a report may be sent: it is triggered, and t-StatusProhibit does not run.
    fn reports(&self, now: Nanos) -> bool {
        self.triggered && self.prohibited <= now
    }

    /// Makes the report. "When STATUS PDU has been submitted to lower layer […]: start t-StatusProhibit" (clause 5.3.4).
    fn report(&mut self, now: Nanos) -> Status {
        self.triggered = false;
        self.prohibited = now + self.t_status_prohibit;
        Status {
            lacking: self.lacking().collect(),
            reported_to: self.received.first_lacking_from(self.highest_status),
        }
    }

    fn lacking(&self) -> impl Iterator<Item = Span> {
        self.received.lacking_before(self.highest_status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retransmissions_do_not_count_for_poll_pdu_and_poll_byte() {
        let polling = Polling {
            pdus: Some(4),
            bytes: Some(4000),
            t_poll_retransmit: 45_000_000,
            t_status_prohibit: 0,
        };
        let mut reporting = StatusReporting::new(polling, 0);
        let mut polls = |start: u64, new_pdus: u64| {
            let span = Span {
                start,
                end: start + 1000,
            };
            let submitted = Submitted {
                span,
                new_pdus,
                last: span,
                next: 9000,
                is_empty: false,
            };
            reporting.poll(&submitted, 0)
        };
        assert!((0..9).all(|number| !polls(1000 * number, 0)));
        assert!((0..3).all(|number| !polls(1000 * number, 1)));
        assert!(polls(3000, 1));
    }
}
