// SPDX-License-Identifier: Apache-2.0
//! The packets inside the link, and its counters.

use super::Link;
use crate::counters::Totals;
use crate::ids::UeId;
use crate::{Direction, Packet};

/// Packets and IP bytes that have entered the link, and have not left it or been lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    /// Packets.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

impl<T> Link<T> {
    /// Counts the packets of one UE inside the link: on the path, in buffers, in transmission, and due but not yet
    /// dequeued. It visits every packet, so it is for the summary at the end and for tests.
    pub fn contents(&self, ue: UeId, direction: Direction) -> Contents {
        let mut contents = Contents::default();
        let mut count = |packet: &Packet<T>| {
            contents.packets += 1;
            contents.bytes += u64::from(packet.bytes);
        };
        self.endpoints.packets(ue, direction).for_each(&mut count);
        self.access.packets(ue, direction, count);
        contents
    }

    /// Returns the counters of one UE and direction since the start.
    pub fn totals(&self, ue: UeId, direction: Direction) -> Totals {
        self.access.totals(ue, direction, self.now)
    }
}
