// SPDX-License-Identifier: Apache-2.0
//! What lies around the air, whatever the air is: the path to the server, and what has come or is
//! to go at the UEs.

use crate::config::ResolvedConfig;
use crate::path::Path;
use crate::timeline::Timeline;
use crate::{Delivery, Direction, Nanos, Packet, Port};

/// A packet with the UE that it goes to or comes from.
pub(crate) type OfUe<T> = (usize, Packet<T>);

#[derive(Debug)]
pub(super) struct Ends<T> {
    /// Server to gNB, before the buffers.
    pub path_dl: Path<T>,
    /// gNB to server, behind them. What leaves it is delivered.
    pub path_ul: Path<T>,
    /// From the UEs, until it is found in the buffer.
    pub from_ues: Timeline<OfUe<T>>,
    /// Decoded by UEs, until it is.
    pub to_ues: Timeline<OfUe<T>>,
    /// Decoded by the gNB, until it is: then the path takes it.
    pub from_gnb: Timeline<OfUe<T>>,
}

impl<T> Ends<T> {
    pub fn new(config: &ResolvedConfig) -> Self {
        Self {
            path_dl: Path::new(config.path.dl, config.seed, Direction::Downlink),
            path_ul: Path::new(config.path.ul, config.seed, Direction::Uplink),
            from_ues: Timeline::default(),
            to_ues: Timeline::default(),
            from_gnb: Timeline::default(),
        }
    }

    /// When the next packet is delivered that has nothing more to wait for.
    pub fn next_delivery(&self) -> Option<Nanos> {
        let dl = self.to_ues.next();
        dl.into_iter().chain(self.path_ul.next()).min()
    }

    /// The next packet that is delivered by `now`; downlink first where two are due at once.
    pub fn deliver(&mut self, now: Nanos) -> Option<Delivery<T>> {
        let due = self.next_delivery().filter(|&due| due <= now)?;
        if let Some((due, (ue, packet))) = self.to_ues.pop(due) {
            return Some(Delivery::new(Port::Ue(ue), packet, due));
        }
        let (due, (ue, packet)) = self.path_ul.leave(due)?;
        Some(Delivery::new(Port::Core { ue }, packet, due))
    }

    /// Packets of one UE that have yet to come to its buffer, or have left it.
    pub fn packets(&self, ue: usize, direction: Direction) -> impl Iterator<Item = &Packet<T>> {
        let (path, coming, decoded) = match direction {
            Direction::Downlink => (&self.path_dl, None, &self.to_ues),
            Direction::Uplink => (&self.path_ul, Some(&self.from_ues), &self.from_gnb),
        };
        let coming = coming.into_iter().flat_map(Timeline::items);
        let all = path.items().chain(coming).chain(decoded.items());
        all.filter(move |(of, _)| *of == ue)
            .map(|(_, packet)| packet)
    }
}
