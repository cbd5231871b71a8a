// SPDX-License-Identifier: Apache-2.0
//! What is inside the link.

use super::Link;
use crate::mac::account::Totals;
use crate::{Direction, Packet};

/// Packets and IP bytes that have entered and not yet left, been dropped or lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

impl<T> Link<T> {
    /// What of one UE is inside the link: path, buffers, air, and due but not yet dequeued. Counts
    /// every packet, so it is for the account at the end and for tests.
    pub fn held(&self, ue: usize, direction: Direction) -> Held {
        let mut held = Held::default();
        let mut count = |packet: &Packet<T>| {
            held.packets += 1;
            held.bytes += u64::from(packet.bytes);
        };
        self.ends.packets(ue, direction).for_each(&mut count);
        self.air.packets(ue, direction, count);
        held
    }

    /// Counters of one UE and direction since the start.
    pub fn totals(&self, ue: usize, direction: Direction) -> Totals {
        self.air.totals(ue, direction, self.now)
    }
}
