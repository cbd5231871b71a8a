// SPDX-License-Identifier: Apache-2.0
//! The endpoints around the access link: the path to the server, and packets that enter and leave at the UEs.

use crate::config::ResolvedConfig;
use crate::ids::UeId;
use crate::packet::UePacket;
use crate::path::Path;
use crate::time::{Timeline, earlier};
use crate::{Delivery, Direction, Nanos, Packet, Port};

#[derive(Debug)]
pub(super) struct Endpoints<T> {
    /// The path from the server to the gNB's buffers.
    pub path_dl: Path<T>,
    /// The path from the gNB to the server, where packets are delivered.
    pub path_ul: Path<T>,
    /// Packets from the UEs that have yet to enter their buffers.
    pub from_ues: Timeline<UePacket<T>>,
    /// Packets decoded by UEs, until they are delivered.
    pub to_ues: Timeline<UePacket<T>>,
    /// Packets decoded by the gNB, until they enter the path.
    pub from_gnb: Timeline<UePacket<T>>,
}

impl<T> Endpoints<T> {
    pub fn new(config: &ResolvedConfig) -> Self {
        Self {
            path_dl: Path::new(config.path.dl, config.seed, Direction::Downlink),
            path_ul: Path::new(config.path.ul, config.seed, Direction::Uplink),
            from_ues: Timeline::default(),
            to_ues: Timeline::default(),
            from_gnb: Timeline::default(),
        }
    }

    /// Returns when the next of the packets is delivered that have left the access link.
    pub fn next_delivery(&self) -> Option<Nanos> {
        earlier(self.to_ues.next(), self.path_ul.next())
    }

    /// Removes the next packet that is delivered by `now`; downlink first if two are due at the same time.
    pub fn deliver(&mut self, now: Nanos) -> Option<Delivery<T>> {
        let due = self.next_delivery().filter(|&due| due <= now)?;
        if let Some((due, UePacket { ue, packet })) = self.to_ues.pop(due) {
            return Some(Delivery::new(Port::Ue(ue), packet, due));
        }
        let (due, UePacket { ue, packet }) = self.path_ul.leave(due)?;
        Some(Delivery::new(Port::Core { ue }, packet, due))
    }

    /// Returns the packets of one UE that have yet to enter the access link, or have left it.
    pub fn packets(&self, ue: UeId, direction: Direction) -> impl Iterator<Item = &Packet<T>> {
        let (path, coming, decoded) = match direction {
            Direction::Downlink => (&self.path_dl, None, &self.to_ues),
            Direction::Uplink => (&self.path_ul, Some(&self.from_ues), &self.from_gnb),
        };
        let coming = coming.into_iter().flat_map(Timeline::items);
        let all = path.items().chain(coming).chain(decoded.items());
        all.filter(move |one| one.ue == ue).map(|one| &one.packet)
    }
}
