// SPDX-License-Identifier: Apache-2.0
//! Things that happen later, in the order in which they were decided.

use std::collections::VecDeque;

/// A queue whose items come out when their time has come. Times (or slots) never decrease from one
/// item to the next.
#[derive(Debug)]
pub(crate) struct Timeline<I>(VecDeque<(u64, I)>);

impl<I> Default for Timeline<I> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<I> Timeline<I> {
    /// `item` happens at `when`.
    pub fn push(&mut self, when: u64, item: I) {
        self.0.push_back((when, item));
    }

    /// When the next item happens.
    pub fn next(&self) -> Option<u64> {
        self.0.front().map(|&(when, _)| when)
    }

    /// The next item that has happened by `now`, with its time.
    pub fn pop(&mut self, now: u64) -> Option<(u64, I)> {
        self.next().filter(|&when| when <= now)?;
        self.0.pop_front()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everything that is still to happen.
    pub fn items(&self) -> impl Iterator<Item = &I> {
        self.0.iter().map(|(_, item)| item)
    }
}
