// SPDX-License-Identifier: Apache-2.0
//! An RLC entity (TS 38.322): buffer, segmentation, retransmission and in-order delivery.
//! Reordering is PDCP's task (TS 38.323 clause 5.2.2) and is included here.
//!
//! Sender and receiver are one object, because the model knows the outcome of every transmission.
//! The bytes sent form one stream of IP bytes; a transport block carries a [`Span`] of offsets in
//! it. The receiver delivers a packet when the stream is complete up to the packet's end.

mod buffer;
mod reassembly;
mod received;
mod status;
mod transit;
mod waits;

use std::collections::VecDeque;

pub(crate) use crate::config::RlcMode;
use crate::delays::Part;
use crate::headers::{SHORTEST_SEGMENT_BYTES, segment_bytes};
use crate::time::Timeline;
use crate::{Nanos, Packet};
pub(crate) use buffer::{Buffer, Queued, Waiting};
use reassembly::Reassembly;
pub(crate) use status::StatusId;
use status::{StatusReporting, Submitted};
use transit::Transit;

/// A part of the stream: the offset of its first IP byte, and the offset after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: u64,
    pub end: u64,
}

impl Span {
    pub fn bytes(self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// The content of a transport block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload {
    pub span: Span,
    pub header_bytes: u32,
    /// RLC PDUs in it, and the IP bytes in the last one.
    pdus: u32,
    last_bytes: u32,
    /// A PDU in it polls.
    pub polls: bool,
}

impl Payload {
    /// Returns the bytes that the payload takes in the transport block, headers included.
    pub fn bytes(&self) -> u32 {
        self.span.bytes() + self.header_bytes
    }
}

/// A packet that leaves RLC, and when each step happened.
#[derive(Debug)]
pub(crate) struct Reassembled<T> {
    pub packet: Packet<T>,
    /// When the packet entered the buffer.
    pub queued: Nanos,
    /// The start of the slot that first carried the packet's last byte.
    pub sent: Nanos,
    /// When the receiver had the packet and all bytes before it.
    pub left: Nanos,
    /// Whether the whole packet arrived. If false, RLC gave up a part of it.
    pub complete: bool,
}

#[derive(Debug)]
struct Sent<T> {
    packet: Packet<T>,
    /// Its number in the entity that sent it last.
    number: u64,
    queued: Nanos,
    sent: Nanos,
    /// Offset after the packet's last byte.
    end: u64,
    /// Whether the sender has it no longer: the source of a handover did not forward it.
    abandoned: bool,
}

impl<T> Sent<T> {
    fn start(&self) -> u64 {
        self.end - u64::from(self.packet.bytes)
    }

    fn span(&self) -> Span {
        Span {
            start: self.start(),
            end: self.end,
        }
    }
}

/// A part of a packet in a transport block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The packet's number in RLC, and in PDCP, each from 0.
    pub number: u64,
    pub pdcp_number: u64,
    /// Its bytes before the part.
    pub offset: u32,
    pub bytes: u32,
    /// Whether it ends the packet.
    pub is_last: bool,
}

impl Segment {
    /// Returns whether it begins the packet.
    pub fn is_first(&self) -> bool {
        self.offset == 0
    }
}

/// The RLC entity of one UE and direction.
#[derive(Debug)]
pub(crate) struct Rlc<T> {
    pub buffer: Buffer<T>,
    mode: RlcMode,
    /// Packets that are completely sent and not yet delivered.
    sent: VecDeque<Sent<T>>,
    /// The number of the packet that is sent next (TX_Next).
    next_number: u64,
    /// Offset of the next byte that has not been sent yet.
    next: u64,
    /// Spans to retransmit, each with the time from which it may be sent.
    retransmissions: VecDeque<(Nanos, Span)>,
    /// Gaps that the receiver gives up, by time (unacknowledged mode, or t-Reordering).
    expiring: Timeline<Span>,
    /// Gaps whose t-Reordering starts when data after them is received.
    gaps: Vec<Span>,
    t_reordering: Nanos,
    reassembly: Reassembly,
    /// The account of how the stream crossed the radio, of a link that explains delays.
    transit: Option<Box<Transit>>,
    /// The number of packets that have left, and had when the bearer was established.
    left: u64,
    left_before: u64,
    /// Polling and status reports, where they are configured; without, the sender knows of each loss.
    reporting: Option<Box<StatusReporting>>,
}

impl<T> Rlc<T> {
    pub fn new(buffer: Buffer<T>, mode: RlcMode) -> Self {
        let reporting = match mode {
            RlcMode::Acknowledged {
                t_reassembly,
                polling: Some(polling),
            } => Some(Box::new(StatusReporting::new(polling, t_reassembly))),
            _ => None,
        };
        Self {
            reporting,
            buffer,
            mode,
            sent: VecDeque::new(),
            next_number: 0,
            next: 0,
            retransmissions: VecDeque::new(),
            expiring: Timeline::default(),
            gaps: Vec::new(),
            t_reordering: 0,
            reassembly: Reassembly::default(),
            transit: None,
            left: 0,
            left_before: 0,
        }
    }

    /// Begins to account for the delays of packets, which are in the buffer for `ahead` before a slot can carry them.
    pub fn explain(&mut self, ahead: Nanos) {
        self.buffer.explain(Part::Slot, ahead);
        self.transit = Some(Box::default());
    }

    /// Returns all packets in the entity.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<T>> {
        let sent = self.sent.iter().map(|sent| &sent.packet);
        sent.chain(self.buffer.packets())
    }

    /// Returns whether no packet waits or is in transmission; those that a handover lost, and behind which the receiver has
    /// none, are not.
    pub fn is_idle(&self) -> bool {
        let is_reporting = |reporting: &StatusReporting| !reporting.is_idle();
        self.buffer.is_empty()
            && self.sent.iter().all(|sent| sent.abandoned)
            && self.expiring.is_empty()
            && !self.reporting.as_deref().is_some_and(is_reporting)
    }

    /// Returns the transport block bytes needed for all data that can be sent at `now`, headers
    /// included. An upper bound: small packets need a little less.
    pub fn backlog_bytes(&self, now: Nanos) -> u64 {
        let retransmissions: u64 = self
            .retransmissions
            .iter()
            .filter(|&&(ready, _)| ready <= now)
            .map(|(_, span)| u64::from(span.bytes()) + 2 * HEADERS)
            .sum();
        retransmissions + self.new_bytes()
    }

    /// Returns the transport block bytes needed for what the next [`Rlc::fill`] would take at
    /// `now`.
    pub fn next_bytes(&self, now: Nanos) -> u64 {
        match self
            .retransmissions
            .iter()
            .find(|&&(ready, _)| ready <= now)
        {
            Some((_, span)) => u64::from(span.bytes()) + 2 * HEADERS,
            None => self.new_bytes(),
        }
    }

    fn new_bytes(&self) -> u64 {
        self.buffer.bytes() + self.buffer.len() as u64 * HEADERS
    }

    /// Does what [`Rlc::fill`] does, but returns an empty payload if there is nothing to send. The first segment of a block
    /// may have a single byte: a sender with data fills no block with padding alone (TS 38.321 clause 5.4.3.1.3), and where
    /// all blocks are small it would never send anything.
    pub fn fill_or_nothing(&mut self, capacity: u32, now: Nanos) -> Payload {
        let span = Span {
            start: self.next,
            end: self.next,
        };
        self.fill(capacity, 1, now).unwrap_or(Payload {
            span,
            header_bytes: 0,
            pdus: 0,
            last_bytes: 0,
            polls: false,
        })
    }

    /// Fills up to `capacity` bytes of a transport block that is sent at `now`; its first segment has at least
    /// `least_bytes`, or ends a packet. Retransmissions come first.
    pub fn fill(&mut self, capacity: u32, least_bytes: u32, now: Nanos) -> Option<Payload> {
        let ready = |&(ready, _): &(Nanos, Span)| ready <= now;
        let retransmission = self.retransmissions.iter().position(ready);
        let mut payload = match retransmission {
            Some(index) => self.fill_retransmission(index, capacity, least_bytes),
            None => self.fill_new(capacity, least_bytes, now),
        }?;
        let is_empty = self.next_bytes(now) == 0;
        if let Some(reporting) = &mut self.reporting {
            let last = Span {
                start: payload.span.end - u64::from(payload.last_bytes),
                end: payload.span.end,
            };
            let sent = Submitted {
                span: payload.span,
                new_pdus: match retransmission {
                    Some(_) => 0,
                    None => payload.pdus.into(),
                },
                last,
                next: self.next,
                is_empty,
            };
            payload.polls = reporting.poll(&sent, now);
        }
        Some(payload)
    }

    fn fill_new(&mut self, mut capacity: u32, mut least_bytes: u32, now: Nanos) -> Option<Payload> {
        let start = self.next;
        let (mut header_bytes, mut pdus, mut last_bytes) = (0, 0, 0);
        while let Some((bytes, sent)) = self.next_to_send(now) {
            let rest = bytes - sent;
            let Some(part) = fitting(rest, sent == 0, capacity, least_bytes) else {
                break;
            };
            least_bytes = SHORTEST_SEGMENT_BYTES;
            let headers = segment_bytes(part, sent == 0);
            capacity -= part + headers;
            header_bytes += headers;
            (pdus, last_bytes) = (pdus + 1, part);
            self.take_from_head(part, now);
            if part < rest {
                break;
            }
        }
        let span = Span {
            start,
            end: self.next,
        };
        (span.bytes() > 0).then_some(Payload {
            span,
            header_bytes,
            pdus,
            last_bytes,
            polls: false,
        })
    }

    /// Returns the size of the buffer's first packet and how many of its bytes are sent. Queue
    /// management runs first if no byte is sent yet.
    fn next_to_send(&mut self, now: Nanos) -> Option<(u32, u32)> {
        if self.buffer.head_sent() == 0 {
            self.buffer.manage(now);
        }
        self.buffer.head()
    }

    fn take_from_head(&mut self, part: u32, now: Nanos) {
        self.next += u64::from(part);
        if let Some(Waiting { packet, queued, .. }) = self.buffer.send(part, now) {
            self.push_sent(packet, queued, now);
        }
    }

    fn push_sent(&mut self, packet: Packet<T>, queued: Nanos, now: Nanos) {
        self.sent.push_back(Sent {
            packet,
            number: self.next_number,
            queued,
            sent: now,
            end: self.next,
            abandoned: false,
        });
        self.next_number += 1;
    }

    fn fill_retransmission(
        &mut self,
        index: usize,
        mut capacity: u32,
        mut least_bytes: u32,
    ) -> Option<Payload> {
        let (_, span) = self.retransmissions[index];
        let mut at = span.start;
        let (mut header_bytes, mut pdus, mut last_bytes) = (0, 0, 0);
        // A report may be older than a retransmission by HARQ: of packets that have left, one segment is repeated.
        let departed = self
            .sent
            .front()
            .map_or(self.next - u64::from(self.buffer.head_sent()), Sent::start);
        let repeated = departed.min(span.end).saturating_sub(span.start) as u32;
        let repeated = (repeated > 0).then_some((repeated, false));
        let segments = self.segments(span);
        let segments = segments.map(|segment| (segment.bytes, segment.is_first()));
        for (bytes, is_first) in repeated.into_iter().chain(segments) {
            let Some(part) = fitting(bytes, is_first, capacity, least_bytes) else {
                break;
            };
            least_bytes = SHORTEST_SEGMENT_BYTES;
            let headers = segment_bytes(part, is_first);
            capacity -= part + headers;
            header_bytes += headers;
            (pdus, last_bytes) = (pdus + 1, part);
            at += u64::from(part);
            if part < bytes {
                break;
            }
        }
        if at == span.end {
            self.retransmissions.remove(index);
        } else {
            self.retransmissions[index].1.start = at;
        }
        let sent = Span {
            start: span.start,
            end: at,
        };
        (sent.bytes() > 0).then_some(Payload {
            span: sent,
            header_bytes,
            pdus,
            last_bytes,
            polls: false,
        })
    }

    /// Returns the parts of packets in a span that was sent, none of which has left.
    pub fn segments(&self, span: Span) -> impl Iterator<Item = Segment> {
        let first = self.sent.partition_point(|sent| sent.end <= span.start);
        let sent = self
            .sent
            .range(first..)
            .map(|sent| (sent.number, sent.start(), sent.end));
        // After the completely sent packets comes the buffer's first packet, which is partly sent.
        let partly = self.next - u64::from(self.buffer.head_sent());
        let partly = (self.next_number, partly, u64::MAX);
        let since_start = (self.left + first as u64..).zip(sent.chain([partly]));
        let inside =
            since_start.take_while(move |(_, (_, start, _))| span.start.max(*start) < span.end);
        let is_acknowledged = self.is_acknowledged_mode();
        inside.map(move |(since_start, (number, start, end))| {
            let from = start.max(span.start);
            Segment {
                number,
                // "For UM DRBs, set TX_NEXT to the initial value" (TS 38.323 clause 5.1.2), as RLC does.
                pdcp_number: if is_acknowledged {
                    since_start - self.left_before
                } else {
                    number
                },
                offset: (from - start) as u32,
                bytes: (end.min(span.end) - from) as u32,
                is_last: end <= span.end,
            }
        })
    }

    /// Handles a span that HARQ gave up at `now`. Its first transmission should have been decoded
    /// at `missed`, and t-Reassembly runs from then on: it starts when data after the gap arrives
    /// (TS 38.322 clauses 5.2.2.2.3, 5.2.3.2.3). In acknowledged mode the receiver reports the gap
    /// when the timer expires, and `status` maps the time of the report to the time at which the
    /// sender can use it. In unacknowledged mode the receiver gives the gap up.
    pub fn give_up(
        &mut self,
        span: Span,
        missed: Nanos,
        now: Nanos,
        status: impl Fn(Nanos) -> Nanos,
    ) {
        if let Some(transit) = &mut self.transit {
            transit.give_up(span, missed, now);
        }
        match self.mode {
            // The receiver reports what it lacks.
            RlcMode::Acknowledged {
                polling: Some(_), ..
            } => {}
            RlcMode::Acknowledged { t_reassembly, .. } => {
                let over = now.max(missed + t_reassembly);
                self.retransmissions.push_back((status(over), span));
            }
            RlcMode::Unacknowledged { t_reordering, .. } => {
                self.expiring.push(now.max(missed + t_reordering), span);
            }
        }
    }

    /// Retransmits a span whose transmission was ended at `now`, or gives it up (unacknowledged mode).
    pub fn recover(&mut self, span: Span, now: Nanos) {
        if span.bytes() == 0 {
            return;
        }
        if let Some(transit) = &mut self.transit {
            transit.interrupt(span);
        }
        match self.mode {
            RlcMode::Acknowledged { .. } => self.retransmissions.push_back((now, span)),
            RlcMode::Unacknowledged { .. } => self.expiring.push(now, span),
        }
    }

    /// Records that the transport block with this span was decoded at `decoded`; after its first
    /// transmission it would have been at `due`. `polls` is whether it polls.
    pub fn receive(&mut self, span: Span, polls: bool, due: Nanos, decoded: Nanos) {
        for gap in self.gaps.drain(..) {
            self.expiring.push(decoded + self.t_reordering, gap);
        }
        if let RlcMode::Unacknowledged { t_reassembly, .. } = self.mode
            && decoded > due + t_reassembly
        {
            return self.receive_late(span, due, decoded);
        }
        // A part may be here already: a report may be older than a retransmission by HARQ.
        let parts = match &mut self.reporting {
            Some(reporting) => reporting.receive(span, polls, decoded),
            None => return self.take_in(span, due, decoded),
        };
        for part in parts {
            self.take_in(part, due, decoded);
        }
    }

    /// Takes in a span that was decoded after t-Reassembly, when the receiver had discarded the other segments of its
    /// packets (TS 38.322 clause 5.2.2.2.4). Whole packets have no sequence number in RLC and come at any time.
    fn receive_late(&mut self, span: Span, due: Nanos, decoded: Nanos) {
        let mut at = span.start;
        let segments: Vec<Segment> = self.segments(span).collect();
        for segment in segments {
            let part = Span {
                start: at,
                end: at + u64::from(segment.bytes),
            };
            at = part.end;
            if segment.is_first() && segment.is_last {
                self.take_in(part, due, decoded);
            } else {
                self.give_up(part, due, decoded, |over| over);
            }
        }
    }

    fn take_in(&mut self, span: Span, due: Nanos, decoded: Nanos) {
        if let Some(transit) = &mut self.transit {
            transit.receive(span, due, decoded);
        }
        self.reassembly.receive(span, decoded);
    }

    /// Runs the timers of polling and status reports until `now`.
    pub fn advance(&mut self, now: Nanos) {
        if self.reporting.is_none() {
            return;
        }
        let is_empty = self.next_bytes(now) == 0;
        if let Some(reporting) = &mut self.reporting {
            for span in reporting.advance(now, is_empty) {
                let overlaps =
                    |&(_, other): &(Nanos, Span)| span.start < other.end && other.start < span.end;
                if !self.retransmissions.iter().any(overlaps) {
                    self.retransmissions.push_back((now, span));
                }
            }
        }
    }

    /// Returns the bytes of the status PDU about this direction that waits to be sent in the other one; 0 if none does.
    pub fn status_bytes(&self, now: Nanos) -> u32 {
        let reporting = self.reporting.as_ref();
        reporting.map_or(0, |reporting| reporting.status_bytes(now))
    }

    /// Takes this status PDU if it fits in `capacity` bytes; returns its number and bytes.
    pub fn take_status(&mut self, capacity: u32, now: Nanos) -> Option<(StatusId, u32)> {
        self.reporting.as_mut()?.take_status(capacity, now)
    }

    /// Records that the block with a status PDU arrived, and the sender has it at `known`; or, with `None`, that it was
    /// given up.
    pub fn status_arrived(&mut self, id: StatusId, known: Option<Nanos>) {
        if let Some(reporting) = &mut self.reporting {
            reporting.status_arrived(id, known);
        }
    }

    /// Gives up the gaps whose timer has expired by `now`; returns whether there was one.
    pub fn expire(&mut self, now: Nanos) -> bool {
        let mut any = false;
        while let Some((_, span)) = self.expiring.pop(now) {
            self.reassembly.lose(span, now);
            any = true;
        }
        any
    }

    /// Removes and returns the next packet that is complete or given up completely.
    pub fn pop(&mut self) -> Option<Reassembled<T>> {
        let end = self.sent.front()?.end;
        if end > self.reassembly.complete_to() {
            return None;
        }
        let Sent {
            mut packet,
            queued,
            sent,
            ..
        } = self.sent.pop_front()?;
        self.left += 1;
        let left = self.reassembly.complete_since(end);
        let start = end - u64::from(packet.bytes);
        let complete = !self.reassembly.take_lost(start, end);
        match &mut self.transit {
            Some(transit) if complete => {
                transit.account(&mut packet, Span { start, end }, sent, left);
            }
            Some(transit) => transit.forget(end),
            None => {}
        }
        Some(Reassembled {
            packet,
            queued,
            sent,
            left,
            complete,
        })
    }
}

/// The fate of the packets that the receiver lacks at a handover.
pub(crate) enum Lacking<'a> {
    /// They are retransmitted: the function returns when the sender has a packet of so many bytes. `keeps` is whether
    /// the receiver keeps complete packets that wait for others.
    Retransmitted {
        keeps: bool,
        ready: &'a mut dyn FnMut(u32) -> Nanos,
    },
    /// The sender has none of them any more. In acknowledged mode the receiver waits for them until t-Reordering expires.
    Lost {
        queue_too: bool,
        t_reordering: Nanos,
    },
}

impl<T> Rlc<T> {
    /// Re-establishes the entity and PDCP above it, at `now` (TS 38.322 clause 5.1.2, TS 38.323 clause 5.1.2): the parts
    /// of incomplete packets are discarded. PDCP's status report keeps complete packets from being retransmitted. Returns
    /// the IP bytes of packets that are to be retransmitted, or that are lost.
    pub fn reestablish(&mut self, lacking: Lacking, now: Nanos) -> u64 {
        self.retransmissions.clear();
        self.expiring = Timeline::default();
        self.gaps.clear();
        self.next -= u64::from(self.buffer.take_back());
        if let Some(transit) = &mut self.transit {
            transit.take_back(self.next);
        }
        self.reassembly.forget(Span {
            start: self.next,
            end: u64::MAX,
        });
        let bytes = match lacking {
            Lacking::Retransmitted { keeps, ready } => self.retransmit_lacking(keeps, ready, now),
            Lacking::Lost {
                queue_too,
                t_reordering,
            } => {
                self.t_reordering = t_reordering;
                if queue_too {
                    self.abandon_queue(now);
                }
                self.lose_lacking(now)
            }
        };
        if let Some(reporting) = &mut self.reporting {
            // The receiver's RLC entity is new, and does not report what PDCP waits for.
            let gaps = self.gaps.iter().chain(self.expiring.items()).copied();
            reporting.reestablish(self.reassembly.spans().chain(gaps));
        }
        bytes
    }

    /// Numbers from 0 what is yet to be sent, as an entity does whose state variables have been reset (TS 38.322 clause
    /// 5.1.2). PDCP submits first what it retransmits.
    pub fn number_from_0(&mut self) {
        self.next_number = 0;
        for (_, span) in &self.retransmissions {
            let index = self.sent.partition_point(|sent| sent.end <= span.start);
            self.sent[index].number = self.next_number;
            self.next_number += 1;
        }
    }

    /// Begins at `now` as the entities of RLC and PDCP of a new bearer do, which number from 0 what is yet to be sent. Nothing may
    /// be on its way; what the entities before waited for is lost with them.
    pub fn establish(&mut self, now: Nanos) {
        debug_assert!(self.is_idle());
        self.retransmissions.clear();
        for gap in self.gaps.drain(..) {
            self.reassembly.lose(gap, now);
        }
        if let Some(reporting) = &mut self.reporting {
            reporting.reestablish(self.reassembly.spans());
        }
        self.next_number = 0;
        self.left_before = self.left + self.sent.len() as u64;
    }

    fn retransmit_lacking(
        &mut self,
        keeps: bool,
        ready: &mut dyn FnMut(u32) -> Nanos,
        now: Nanos,
    ) -> u64 {
        let mut bytes = 0;
        for sent in &self.sent {
            let span = sent.span();
            let complete = self.reassembly.has(span);
            if complete && keeps {
                continue;
            }
            if sent.abandoned {
                self.reassembly.forget(span);
                self.reassembly.lose(span, now);
                continue;
            }
            self.reassembly.forget(span);
            if let Some(transit) = &mut self.transit {
                transit.interrupt(span);
            }
            self.retransmissions.push_back((ready(span.bytes()), span));
            bytes += u64::from(span.bytes());
        }
        bytes
    }

    fn lose_lacking(&mut self, now: Nanos) -> u64 {
        let mut bytes = 0;
        let has = |sent: &Sent<T>| self.reassembly.has(sent.span());
        let last = self.sent.iter().rposition(has).unwrap_or(0);
        for (index, sent) in self.sent.iter_mut().enumerate() {
            let span = sent.span();
            if self.reassembly.has(span) {
                continue;
            }
            if !std::mem::replace(&mut sent.abandoned, true) {
                bytes += u64::from(span.bytes());
            }
            self.reassembly.forget(span);
            match self.mode {
                // The timer runs already, if a packet behind the gap has come (TS 38.323 clause 5.2.2.2).
                RlcMode::Acknowledged { .. } if index < last => {
                    self.expiring.push(now + self.t_reordering, span);
                }
                RlcMode::Acknowledged { .. } => self.gaps.push(span),
                RlcMode::Unacknowledged { .. } => self.reassembly.lose(span, now),
            }
        }
        bytes
    }

    /// Moves the buffer's packets to those that were sent and will be lost, as if the source had sent them: they have sequence numbers.
    fn abandon_queue(&mut self, now: Nanos) {
        for Queued { waiting, .. } in self.buffer.take_all(now) {
            self.next += u64::from(waiting.packet.bytes);
            self.push_sent(waiting.packet, waiting.queued, now);
        }
    }

    pub fn is_acknowledged_mode(&self) -> bool {
        matches!(self.mode, RlcMode::Acknowledged { .. })
    }
}

/// Header bytes of an unsegmented packet.
const HEADERS: u64 = crate::headers::MOST_SEGMENT_BYTES as u64;

/// Returns how many of `rest` bytes fit into `capacity` bytes together with their headers; `None`
/// if not all do, and fewer than `least_bytes`.
fn fitting(rest: u32, from_start: bool, capacity: u32, least_bytes: u32) -> Option<u32> {
    if rest + segment_bytes(rest, from_start) <= capacity {
        return Some(rest);
    }
    let part = capacity.checked_sub(segment_bytes(rest, from_start))?;
    (part >= least_bytes).then_some(part)
}
