// SPDX-License-Identifier: Apache-2.0
//! One RLC entity: its buffer, segmentation, recovery, delivery in order
//! (TS 38.322; reordering is PDCP's, TS 38.323 clause 5.2.2).
//!
//! Sender and receiver are one object, because their outcome is known in one place. Bytes that
//! have been sent have offsets in one stream of IP bytes; a transport block carries a [`Span`] of
//! it. The receiver hands a packet up when the stream is complete to its end.

mod buffer;
mod codel;
mod dual;
mod pie;
mod reassembly;

use std::collections::VecDeque;

pub(crate) use crate::config::RlcMode;
use crate::headers::{SHORTEST_SEGMENT_BYTES, segment_bytes};
use crate::time::Timeline;
use crate::{Nanos, Packet};
pub(crate) use buffer::{Buffer, Waiting};
use reassembly::Reassembly;

/// A stretch of the stream: offsets of the first IP byte and behind the last.
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

/// What was put into a transport block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Payload {
    pub span: Span,
    pub header_bytes: u32,
}

impl Payload {
    /// Of the transport block.
    pub fn bytes(&self) -> u32 {
        self.span.bytes() + self.header_bytes
    }
}

/// A packet that leaves, with its history.
#[derive(Debug)]
pub(crate) struct Reassembled<T> {
    pub packet: Packet<T>,
    /// When it came into the buffer.
    pub queued: Nanos,
    /// Start of the slot that first carried its last byte.
    pub sent: Nanos,
    /// When the receiver had it, and all before it.
    pub left: Nanos,
    /// Whether all of it arrived; otherwise part of it was given up.
    pub complete: bool,
}

#[derive(Debug)]
struct Sent<T> {
    packet: Packet<T>,
    queued: Nanos,
    sent: Nanos,
    /// Offset behind its last byte.
    end: u64,
}

impl<T> Sent<T> {
    fn start(&self) -> u64 {
        self.end - u64::from(self.packet.bytes)
    }
}

/// The entity of one UE and direction.
#[derive(Debug)]
pub(crate) struct Rlc<T> {
    pub buffer: Buffer<T>,
    mode: RlcMode,
    /// Packets that are wholly sent and not yet delivered.
    sent: VecDeque<Sent<T>>,
    /// Offset of the next byte to send for the first time.
    next: u64,
    /// What to send again, from when on.
    again: VecDeque<(Nanos, Span)>,
    /// What the receiver gives up, and when (unacknowledged mode).
    expiring: Timeline<Span>,
    reassembly: Reassembly,
}

impl<T> Rlc<T> {
    pub fn new(buffer: Buffer<T>, mode: RlcMode) -> Self {
        Self {
            buffer,
            mode,
            sent: VecDeque::new(),
            next: 0,
            again: VecDeque::new(),
            expiring: Timeline::default(),
            reassembly: Reassembly::default(),
        }
    }

    /// Every packet inside.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<T>> {
        let sent = self.sent.iter().map(|sent| &sent.packet);
        sent.chain(self.buffer.packets())
    }

    /// Whether nothing waits and nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.buffer.is_empty() && self.sent.is_empty()
    }

    /// Bytes that a transport block needs for all that can be sent at `now`, headers included; a
    /// little more than that when packets are small.
    pub fn backlog_bytes(&self, now: Nanos) -> u64 {
        let again: u64 = self
            .again
            .iter()
            .filter(|&&(ready, _)| ready <= now)
            .map(|(_, span)| u64::from(span.bytes()) + 2 * HEADERS)
            .sum();
        again + self.new_bytes()
    }

    /// Bytes that a transport block needs for what [`Rlc::fill`] would take at `now`.
    pub fn next_bytes(&self, now: Nanos) -> u64 {
        match self.again.iter().find(|&&(ready, _)| ready <= now) {
            Some((_, span)) => u64::from(span.bytes()) + 2 * HEADERS,
            None => self.new_bytes(),
        }
    }

    fn new_bytes(&self) -> u64 {
        self.buffer.bytes() + self.buffer.len() as u64 * HEADERS
    }

    /// As [`Rlc::fill`], with an empty payload for none.
    pub fn fill_or_nothing(&mut self, room: u32, now: Nanos) -> Payload {
        let span = Span {
            start: self.next,
            end: self.next,
        };
        self.fill(room, now).unwrap_or(Payload {
            span,
            header_bytes: 0,
        })
    }

    /// Fills `room` bytes of a transport block that is sent at `now`: what is to be sent again
    /// first.
    pub fn fill(&mut self, room: u32, now: Nanos) -> Option<Payload> {
        match self.again.iter().position(|&(ready, _)| ready <= now) {
            Some(index) => self.fill_again(index, room),
            None => self.fill_new(room, now),
        }
    }

    fn fill_new(&mut self, mut room: u32, now: Nanos) -> Option<Payload> {
        let start = self.next;
        let mut header_bytes = 0;
        while let Some((bytes, sent)) = self.next_to_send(now) {
            let rest = bytes - sent;
            let Some(part) = fitting(rest, sent == 0, room) else {
                break;
            };
            let headers = segment_bytes(part, sent == 0);
            room -= part + headers;
            header_bytes += headers;
            self.take_from_head(part, now);
            if part < rest {
                break;
            }
        }
        let span = Span {
            start,
            end: self.next,
        };
        (span.bytes() > 0).then_some(Payload { span, header_bytes })
    }

    /// The first packet of the buffer, managed if nothing of it is sent: its bytes, and those sent.
    fn next_to_send(&mut self, now: Nanos) -> Option<(u32, u32)> {
        if self.buffer.head_sent() == 0 {
            self.buffer.manage(now);
        }
        self.buffer.head()
    }

    fn take_from_head(&mut self, part: u32, now: Nanos) {
        self.next += u64::from(part);
        if let Some(Waiting { packet, queued }) = self.buffer.send(part) {
            self.sent.push_back(Sent {
                packet,
                queued,
                sent: now,
                end: self.next,
            });
        }
    }

    fn fill_again(&mut self, index: usize, mut room: u32) -> Option<Payload> {
        let (_, span) = self.again[index];
        let mut at = span.start;
        let mut header_bytes = 0;
        let mut packet = self.sent.partition_point(|sent| sent.end <= span.start);
        while at < span.end {
            // Behind the packets that are wholly sent lies the first that waits, partly sent.
            let (start, end) = self.sent.get(packet).map_or(
                (self.next - u64::from(self.buffer.head_sent()), self.next),
                |sent| (sent.start(), sent.end),
            );
            let rest = (end.min(span.end) - at) as u32;
            let Some(part) = fitting(rest, at == start, room) else {
                break;
            };
            let headers = segment_bytes(part, at == start);
            room -= part + headers;
            header_bytes += headers;
            at += u64::from(part);
            packet += 1;
            if part < rest {
                break;
            }
        }
        if at == span.end {
            self.again.remove(index);
        } else {
            self.again[index].1.start = at;
        }
        let sent = Span {
            start: span.start,
            end: at,
        };
        (sent.bytes() > 0).then_some(Payload {
            span: sent,
            header_bytes,
        })
    }

    /// HARQ gave up this span at `now`; the receiver has missed it since `missed`, when its first
    /// transmission should have come, and t-Reassembly has run since then (TS 38.322 clauses 5.2.2.2.3,
    /// 5.2.3.2.3: it starts when what lies behind the gap comes). Acknowledged mode: the receiver then
    /// reports the gap, and `status` is when the sender can use a report of a time. Unacknowledged
    /// mode: the receiver then goes on without it.
    pub fn give_up(
        &mut self,
        span: Span,
        missed: Nanos,
        now: Nanos,
        status: impl Fn(Nanos) -> Nanos,
    ) {
        match self.mode {
            RlcMode::Acknowledged { t_reassembly } => {
                let over = now.max(missed + t_reassembly);
                self.again.push_back((status(over), span));
            }
            RlcMode::Unacknowledged { t_reassembly } => {
                self.expiring.push(now.max(missed + t_reassembly), span);
            }
        }
    }

    /// A transport block with this span is decoded at `decoded`.
    pub fn receive(&mut self, span: Span, decoded: Nanos) {
        self.reassembly.receive(span, decoded);
    }

    /// Gives up the gaps whose time has come by `now`.
    pub fn expire(&mut self, now: Nanos) {
        while let Some((_, span)) = self.expiring.pop(now) {
            self.reassembly.lose(span, now);
        }
    }

    /// The next packet that is complete, or given up, to its end.
    pub fn pop(&mut self) -> Option<Reassembled<T>> {
        let end = self.sent.front()?.end;
        if end > self.reassembly.complete_to() {
            return None;
        }
        let Sent {
            packet,
            queued,
            sent,
            ..
        } = self.sent.pop_front()?;
        let left = self.reassembly.complete_since(end);
        let complete = !self
            .reassembly
            .take_lost(end - u64::from(packet.bytes), end);
        Some(Reassembled {
            packet,
            queued,
            sent,
            left,
            complete,
        })
    }
}

/// Headers of a whole packet.
const HEADERS: u64 = crate::headers::MOST_SEGMENT_BYTES as u64;

/// How much of `rest` bytes fits in `room` behind its headers; none when too little does.
fn fitting(rest: u32, from_start: bool, room: u32) -> Option<u32> {
    if rest + segment_bytes(rest, from_start) <= room {
        return Some(rest);
    }
    let part = room.checked_sub(segment_bytes(rest, from_start))?;
    (part >= SHORTEST_SEGMENT_BYTES).then_some(part)
}
