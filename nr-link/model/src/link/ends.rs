// SPDX-License-Identifier: Apache-2.0
//! What lies around the air, whatever the air is: the path to the server, and what has come or is
//! to go at the UEs.

use std::collections::VecDeque;

use crate::config::ResolvedConfig;
use crate::path::Path;
use crate::timeline::Timeline;
use crate::{Delivery, Direction, Nanos, Packet, Port};

/// A packet with the UE that it goes to or comes from.
pub(super) type OfUe<T> = (usize, Packet<T>);

#[derive(Debug)]
pub(super) struct Ends<T> {
    /// Server to gNB, before the buffers.
    pub path_dl: Path<T>,
    /// gNB to server, behind them. What leaves it is delivered.
    pub path_ul: Path<T>,
    /// From the UEs, until it is found in the buffer.
    pub from_ues: Timeline<OfUe<T>>,
    /// At the UEs, in order of time.
    pub to_ues: VecDeque<Delivery<T>>,
}

impl<T> Ends<T> {
    pub fn new(config: &ResolvedConfig) -> Self {
        Self {
            path_dl: Path::new(config.path.dl, config.seed, Direction::Downlink),
            path_ul: Path::new(config.path.ul, config.seed, Direction::Uplink),
            from_ues: Timeline::default(),
            to_ues: VecDeque::new(),
        }
    }

    /// When the next packet is delivered that has nothing more to wait for.
    pub fn next_delivery(&self) -> Option<Nanos> {
        let dl = self.to_ues.front().map(|delivery| delivery.due);
        dl.into_iter().chain(self.path_ul.next()).min()
    }

    /// The next packet that is delivered by `now`; downlink first where two are due at once.
    pub fn deliver(&mut self, now: Nanos) -> Option<Delivery<T>> {
        let due = self.next_delivery().filter(|&due| due <= now)?;
        if self.to_ues.front().is_some_and(|first| first.due == due) {
            return self.to_ues.pop_front();
        }
        let (due, (ue, packet)) = self.path_ul.leave(now)?;
        Some(Delivery::new(Port::Core { ue }, packet, due))
    }

    /// Packets of one UE that have yet to come to its buffer, or have left it.
    pub fn packets(&self, ue: usize, direction: Direction) -> impl Iterator<Item = &Packet<T>> {
        let down = direction == Direction::Downlink;
        let (path, device) = match direction {
            Direction::Downlink => (&self.path_dl, None),
            Direction::Uplink => (&self.path_ul, Some(&self.from_ues)),
        };
        let coming = device.into_iter().flat_map(Timeline::items);
        let under_way = path
            .items()
            .chain(coming)
            .filter(move |(of, _)| *of == ue)
            .map(|(_, packet)| packet);
        let decoded = self
            .to_ues
            .iter()
            .filter(move |to| down && to.to.ue() == ue);
        under_way.chain(decoded.map(|delivery| &delivery.packet))
    }
}
