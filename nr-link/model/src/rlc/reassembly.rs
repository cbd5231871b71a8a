// SPDX-License-Identifier: Apache-2.0
//! The part of the byte stream that the receiver has, and since when.

use std::collections::VecDeque;

use super::Span;
use crate::Nanos;

/// The complete part of the stream, up to `complete`, and spans received out of order.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    complete: u64,
    /// When the stream became complete up to each of these offsets.
    since: VecDeque<(u64, Nanos)>,
    /// The latest time in `since`.
    latest: Nanos,
    /// Spans beyond `complete` with their decoding times, in order and not overlapping.
    early: Vec<(Span, Nanos)>,
    /// Spans given up, in the order in which they were.
    lost: Vec<Span>,
}

impl Reassembly {
    /// Returns the offset up to which no byte is missing.
    pub fn complete_to(&self) -> u64 {
        self.complete
    }

    /// Returns all that is there.
    pub fn spans(&self) -> impl Iterator<Item = Span> {
        let complete = Span {
            start: 0,
            end: self.complete,
        };
        std::iter::once(complete).chain(self.early.iter().map(|&(span, _)| span))
    }

    /// Adds a span that was decoded at `decoded`. Decoding times are not in the order of offsets,
    /// because carriers have different slots. Spans never overlap, because only spans that HARQ
    /// gave up are retransmitted.
    pub fn receive(&mut self, span: Span, decoded: Nanos) {
        if span.start != self.complete {
            let at = self
                .early
                .partition_point(|(there, _)| there.start < span.start);
            self.early.insert(at, (span, decoded));
            return;
        }
        self.append(span, decoded);
        let mut joined = 0;
        while let Some(&(there, decoded)) = self.early.get(joined) {
            if there.start != self.complete {
                break;
            }
            self.append(there, decoded);
            joined += 1;
        }
        self.early.drain(..joined);
    }

    fn append(&mut self, span: Span, decoded: Nanos) {
        self.complete = span.end;
        self.latest = self.latest.max(decoded);
        match self.since.back_mut() {
            Some((end, since)) if *since == self.latest => *end = span.end,
            _ => self.since.push_back((span.end, self.latest)),
        }
    }

    /// Gives up a span: from `now` on the receiver does not wait for it.
    pub fn lose(&mut self, span: Span, now: Nanos) {
        self.lost.push(span);
        self.receive(span, now);
    }

    /// Returns whether the receiver has all of a packet that is not delivered yet.
    pub fn has(&self, packet: Span) -> bool {
        let mut at = packet.start.max(self.complete);
        for (there, _) in &self.early {
            if there.start <= at && at < there.end {
                at = there.end;
            }
        }
        at >= packet.end
    }

    /// Discards what the receiver has between two offsets, of packets that are not complete. All packets before them are
    /// delivered or complete.
    pub fn forget(&mut self, Span { start, end }: Span) {
        if start < self.complete && self.complete <= end {
            self.complete = start;
            let mut since = None;
            while let Some(&(to, time)) = self.since.back()
                && to > start
            {
                self.since.pop_back();
                since = Some(time);
            }
            if let Some(time) = since {
                self.since.push_back((start, time));
            }
        }
        let mut kept = Vec::with_capacity(self.early.len());
        for &(there, decoded) in &self.early {
            let before = Span {
                start: there.start,
                end: there.end.min(start),
            };
            let after = Span {
                start: there.start.max(end),
                end: there.end,
            };
            let parts = [before, after]
                .into_iter()
                .filter(|part| part.start < part.end);
            kept.extend(parts.map(|part| (part, decoded)));
        }
        self.early = kept;
    }

    /// Returns the time since when the stream is complete up to `end`. To be called once for each
    /// packet in order: earlier entries are removed.
    pub fn complete_since(&mut self, end: u64) -> Nanos {
        while let Some(&(to, since)) = self.since.front() {
            if to >= end {
                return since;
            }
            self.since.pop_front();
        }
        self.latest
    }

    /// Returns whether a part of `start..end` was lost. To be called once for each packet in order:
    /// spans up to `end` are removed.
    pub fn take_lost(&mut self, start: u64, end: u64) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let hit = self
            .lost
            .iter()
            .any(|span| span.start < end && span.end > start);
        self.lost.retain(|span| span.end > end);
        hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn a_packet_is_complete_as_soon_as_all_bytes_before_it_are_decoded() {
        let mut stream = Reassembly::default();
        stream.receive(span(100, 200), 7); // a short slot of another carrier
        stream.receive(span(200, 300), 50);
        assert_eq!(stream.complete_to(), 0);
        stream.receive(span(0, 100), 20);
        assert_eq!(stream.complete_to(), 300);
        stream.receive(span(300, 400), 30);
        let since = [100, 150, 200, 300, 400].map(|end| stream.complete_since(end));
        assert_eq!(since, [20, 20, 20, 50, 50]);
    }
}
