// SPDX-License-Identifier: Apache-2.0
//! Things that happen later.

use std::collections::VecDeque;

/// A queue whose items come out when their time has come, in the order in which they went in where
/// that is at once. Times (or slots) hardly ever decrease from one item to the next.
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
        if self.0.back().is_none_or(|&(last, _)| last <= when) {
            self.0.push_back((when, item));
        } else {
            let at = self.0.partition_point(|&(then, _)| then <= when);
            self.0.insert(at, (when, item));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_of_time_and_those_of_one_time_as_they_went_in() {
        let mut timeline = Timeline::default();
        for (when, item) in [(2, 'a'), (5, 'b'), (3, 'c'), (5, 'd'), (2, 'e'), (9, 'f')] {
            timeline.push(when, item);
        }
        let until_5: Vec<_> = std::iter::from_fn(|| timeline.pop(5)).collect();
        assert_eq!(until_5, [(2, 'a'), (2, 'e'), (3, 'c'), (5, 'b'), (5, 'd')]);
        assert_eq!((timeline.next(), timeline.is_empty()), (Some(9), false));
    }
}
