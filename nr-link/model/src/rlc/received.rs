// SPDX-License-Identifier: Apache-2.0
//! The parts of a byte stream that a receiver has.

use super::Span;

/// All before `complete`, and spans after it, in order and apart from each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Received {
    complete: u64,
    early: Vec<Span>,
}

impl Received {
    /// Returns the offset before which nothing is missing.
    pub fn complete(&self) -> u64 {
        self.complete
    }

    /// Returns the offset after the last byte.
    pub fn highest(&self) -> u64 {
        self.early.last().map_or(self.complete, |last| last.end)
    }

    /// Adds a span, of which a part may be there already.
    pub fn add(&mut self, span: Span) {
        let mut joined = Span {
            start: span.start.max(self.complete),
            end: span.end,
        };
        if joined.start >= joined.end {
            return;
        }
        let first = self.early.partition_point(|other| other.end < joined.start);
        let after = self
            .early
            .partition_point(|other| other.start <= joined.end);
        for other in self.early.drain(first..after.max(first)) {
            joined.start = joined.start.min(other.start);
            joined.end = joined.end.max(other.end);
        }
        if joined.start == self.complete {
            self.complete = joined.end;
        } else {
            self.early.insert(first, joined);
        }
    }

    /// Returns the first offset at `from` or later that is missing.
    pub fn first_lacking_from(&self, from: u64) -> u64 {
        let from = from.max(self.complete);
        let around = self
            .early
            .iter()
            .find(|span| (span.start..span.end).contains(&from));
        around.map_or(from, |span| span.end)
    }

    /// Returns the spans before `end` that are missing.
    pub fn lacking_before(&self, end: u64) -> impl Iterator<Item = Span> {
        let starts = std::iter::once(self.complete).chain(self.early.iter().map(|span| span.end));
        let ends = self.early.iter().map(|span| span.start);
        let ends = ends.chain(std::iter::once(u64::MAX));
        starts.zip(ends).filter_map(move |(start, gap_end)| {
            let gap = Span {
                start,
                end: gap_end.min(end),
            };
            (gap.start < gap.end).then_some(gap)
        })
    }

    /// Returns the parts of a span that are missing.
    pub fn lacking_in(&self, span: Span) -> impl Iterator<Item = Span> {
        self.lacking_before(span.end).filter_map(move |gap| {
            let part = Span {
                start: gap.start.max(span.start),
                end: gap.end,
            };
            (part.start < part.end).then_some(part)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> Span {
        Span { start, end }
    }

    #[test]
    fn gaps_are_what_was_not_added() {
        let mut received = Received::default();
        for (start, end) in [(0, 10), (20, 30), (40, 50), (25, 42), (60, 70)] {
            received.add(span(start, end));
        }
        assert_eq!((received.complete(), received.highest()), (10, 70));
        let lacking = |end| received.lacking_before(end).collect::<Vec<_>>();
        assert_eq!(lacking(65), [span(10, 20), span(50, 60)]);
        assert_eq!(lacking(55), [span(10, 20), span(50, 55)]);
        assert_eq!(received.first_lacking_from(30), 50);
        assert_eq!(received.first_lacking_from(15), 15);
        let inside: Vec<_> = received.lacking_in(span(15, 62)).collect();
        assert_eq!(inside, [span(15, 20), span(50, 60)]);
        received.add(span(5, 60));
        assert_eq!((received.complete(), lacking_count(&received)), (70, 0));
    }

    fn lacking_count(received: &Received) -> usize {
        received.lacking_before(received.highest()).count()
    }
}
