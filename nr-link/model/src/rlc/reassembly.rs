// SPDX-License-Identifier: Apache-2.0
//! Which part of the stream the receiver has, and since when.

use std::collections::VecDeque;

use super::Span;
use crate::Nanos;

/// The stream up to `complete`, and spans that came early.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    complete: u64,
    /// When it became complete, to each of these offsets.
    since: VecDeque<(u64, Nanos)>,
    /// When the last of them was.
    latest: Nanos,
    /// Beyond `complete`, in order, not touching, with when they were decoded.
    early: Vec<(Span, Nanos)>,
    /// Given up, in order of being given up.
    lost: Vec<Span>,
}

impl Reassembly {
    /// Offset to which nothing is missing any more.
    pub fn complete_to(&self) -> u64 {
        self.complete
    }

    /// This span is decoded at `decoded`, which another carrier's later span may be before. Spans
    /// never overlap, because only what was given up is sent again.
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

    /// This span will not come: the receiver goes on without it at `now`.
    pub fn lose(&mut self, span: Span, now: Nanos) {
        self.lost.push(span);
        self.receive(span, now);
    }

    /// Since when the stream is complete to `end`. Asked once for each packet in order, so that
    /// what lies before can be forgotten.
    pub fn complete_since(&mut self, end: u64) -> Nanos {
        while let Some(&(to, since)) = self.since.front() {
            if to >= end {
                return since;
            }
            self.since.pop_front();
        }
        self.latest
    }

    /// Whether part of `start..end` was lost. Asked once for each packet in order, so that what
    /// lies before `end` can be forgotten.
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
    fn a_packet_is_complete_when_all_before_it_is_decoded_and_not_later() {
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
