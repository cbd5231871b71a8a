// SPDX-License-Identifier: Apache-2.0
//! The changes of a link while it runs, which wait for their time.

use std::collections::VecDeque;

use crate::Nanos;
use crate::config::Change;

/// Changes in order of time, which count from an instant that the driver names.
#[derive(Debug)]
pub(super) struct Changes {
    waiting: VecDeque<Change>,
    /// The instant from which their times count; `None` until it is known.
    from: Option<Nanos>,
}

impl Changes {
    pub fn new(changes: &[Change]) -> Self {
        Self {
            waiting: changes.iter().copied().collect(),
            from: None,
        }
    }

    pub fn count_from(&mut self, from: Nanos) {
        self.from.get_or_insert(from);
    }

    /// Returns when the next one is due.
    pub fn next(&self) -> Option<Nanos> {
        Some(self.from? + self.waiting.front()?.at)
    }

    /// Removes the next one that is due by `now`.
    pub fn pop(&mut self, now: Nanos) -> Option<Change> {
        self.next().filter(|&next| next <= now)?;
        self.waiting.pop_front()
    }
}
