// SPDX-License-Identifier: Apache-2.0
//! What is inside the link.

use super::Link;
use crate::Direction;
use crate::mac::account::Totals;

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
        let mut count = |bytes: u32| {
            held.packets += 1;
            held.bytes += u64::from(bytes);
        };
        match direction {
            Direction::Downlink => {
                let on_path = self.path_dl.items().filter(|(of, _)| *of == ue);
                on_path.for_each(|(_, packet)| count(packet.bytes));
                self.ues[ue]
                    .dl
                    .rlc
                    .packets()
                    .for_each(|packet| count(packet.bytes));
                let decoded = self.to_ues.iter().filter(|delivery| delivery.to.ue() == ue);
                decoded.for_each(|delivery| count(delivery.packet.bytes));
            }
            Direction::Uplink => {
                let coming = self.from_ues.items();
                let on_path = coming
                    .chain(self.path_ul.items())
                    .filter(|(of, _)| *of == ue);
                on_path.for_each(|(_, packet)| count(packet.bytes));
                self.ues[ue]
                    .ul
                    .rlc
                    .packets()
                    .for_each(|packet| count(packet.bytes));
            }
        }
        held
    }

    /// Counters of one UE and direction since the start.
    pub fn totals(&self, ue: usize, direction: Direction) -> Totals {
        match direction {
            Direction::Downlink => self.ues[ue].dl.account.totals,
            Direction::Uplink => self.ues[ue].ul.account.totals,
        }
    }
}
