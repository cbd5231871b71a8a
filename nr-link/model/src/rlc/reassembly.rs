// SPDX-License-Identifier: Apache-2.0
//! Which part of the stream the receiver has.

use super::Span;

/// The stream up to `complete`, and spans that came early.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    complete: u64,
    /// Beyond `complete`, in order, not touching.
    early: Vec<Span>,
    /// Given up, in order of being given up.
    lost: Vec<Span>,
}

impl Reassembly {
    /// Offset to which nothing is missing any more.
    pub fn complete_to(&self) -> u64 {
        self.complete
    }

    /// This span has come. Spans never overlap, because only what was given up is sent again.
    pub fn receive(&mut self, span: Span) {
        if span.start != self.complete {
            let at = self.early.partition_point(|there| there.start < span.start);
            self.early.insert(at, span);
            return;
        }
        self.complete = span.end;
        let mut joined = 0;
        for there in &self.early {
            if there.start != self.complete {
                break;
            }
            self.complete = there.end;
            joined += 1;
        }
        self.early.drain(..joined);
    }

    /// This span will not come.
    pub fn lose(&mut self, span: Span) {
        self.lost.push(span);
        self.receive(span);
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
