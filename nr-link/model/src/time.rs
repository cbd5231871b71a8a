// SPDX-License-Identifier: Apache-2.0
//! Time: nanoseconds since the link began, slots as a carrier counts them, and events to come.

mod timeline;

use std::ops::Add;

pub(crate) use timeline::Timeline;

/// Nanoseconds since the link began.
pub type Nanos = u64;

/// Returns the earlier of two times, of which there may be none.
pub(crate) fn earlier(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// A slot of one carrier, counted from the start of the link. Slots of different carriers do not compare: their
/// lengths may differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(pub u64);

impl Slot {
    /// Later than any slot.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// Returns the slot's index in a pattern of `period` slots, from 0.
    pub fn phase(self, period: usize) -> usize {
        (self.0 % period as u64) as usize
    }
}

/// Returns the slot so many slots later.
impl Add<u64> for Slot {
    type Output = Self;

    fn add(self, slots: u64) -> Self {
        Self(self.0 + slots)
    }
}
