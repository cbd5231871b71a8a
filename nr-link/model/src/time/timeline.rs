// SPDX-License-Identifier: Apache-2.0
//! A queue of items by the times at which they are due.

use std::collections::VecDeque;

use super::Nanos;

/// Items that become due at a time ([`Nanos`], or a [`Slot`](super::Slot)). Those due at the same time leave in the
/// order in which they were added. An item is hardly ever due before one that was added
/// earlier, so that adding is cheaper than to a heap.
#[derive(Debug)]
pub(crate) struct Timeline<I, W = Nanos>(VecDeque<(W, I)>);

impl<I, W> Default for Timeline<I, W> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<I, W: Copy + Ord> Timeline<I, W> {
    /// Adds an item that is due at `when`.
    pub fn push(&mut self, when: W, item: I) {
        if self.0.back().is_none_or(|&(last, _)| last <= when) {
            self.0.push_back((when, item));
        } else {
            let at = self.0.partition_point(|&(then, _)| then <= when);
            self.0.insert(at, (when, item));
        }
    }

    /// Returns when the next item is due.
    pub fn next(&self) -> Option<W> {
        self.0.front().map(|&(when, _)| when)
    }

    /// Removes the next item that is due by `now`; returns it with its time.
    pub fn pop(&mut self, now: W) -> Option<(W, I)> {
        self.next().filter(|&when| when <= now)?;
        self.0.pop_front()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all items, in order.
    pub fn into_items(self) -> impl Iterator<Item = I> {
        self.0.into_iter().map(|(_, item)| item)
    }

    /// Returns all items, to be changed in place.
    pub fn items_mut(&mut self) -> impl Iterator<Item = &mut I> {
        self.0.iter_mut().map(|(_, item)| item)
    }

    /// Returns all items.
    pub fn items(&self) -> impl Iterator<Item = &I> {
        self.0.iter().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_leave_in_order_of_time_and_then_of_arrival() {
        let mut timeline = Timeline::default();
        for (when, item) in [(2, 'a'), (5, 'b'), (3, 'c'), (5, 'd'), (2, 'e'), (9, 'f')] {
            timeline.push(when, item);
        }
        let until_5: Vec<_> = std::iter::from_fn(|| timeline.pop(5)).collect();
        assert_eq!(until_5, [(2, 'a'), (2, 'e'), (3, 'c'), (5, 'b'), (5, 'd')]);
        assert_eq!((timeline.next(), timeline.is_empty()), (Some(9), false));
    }
}
