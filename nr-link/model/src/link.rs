// SPDX-License-Identifier: Apache-2.0
//! The link: what a driver calls.

use crate::channel::Channel;
use crate::config::{PerDirection, ResolvedConfig};
use crate::{Delivery, MacSample, Nanos, Packet, Port};

/// A link between the core network and its UEs.
#[derive(Debug)]
pub struct Link<T> {
    packets: Vec<Packet<T>>,
}

impl<T> Link<T> {
    /// A link at time 0, with one channel for each UE of `config.devices.ue`.
    ///
    /// # Errors
    /// The number of channels is not that of UEs.
    pub fn new(_config: &ResolvedConfig, _channels: Vec<Channel>) -> Result<Self, String> {
        unimplemented!()
    }

    /// A packet enters at `from` at time `now`. Times never decrease, over `enqueue` and `advance`
    /// together; an earlier one counts as the latest.
    pub fn enqueue(&mut self, _from: Port, packet: Packet<T>, _now: Nanos) {
        self.packets.push(packet);
    }

    /// Runs every slot whose start is not after `now`. The result does not depend on how often
    /// this is called.
    pub fn advance(&mut self, _now: Nanos) {
        unimplemented!()
    }

    /// The next packet that is due by the last `advance`, in order of time.
    pub fn dequeue(&mut self) -> Option<Delivery<T>> {
        unimplemented!()
    }

    /// When to call `advance` next if no packet comes before: a slot with work to do, a delivery,
    /// or the end of a sample interval. Idle slots before it are caught up, at almost no cost.
    pub fn next_event(&self) -> Nanos {
        unimplemented!()
    }

    /// Takes the samples of the intervals that have ended, in order of time and UE.
    pub fn samples(&mut self) -> std::vec::Drain<'_, MacSample> {
        unimplemented!()
    }

    /// Slots run since the start.
    pub fn slots(&self) -> u64 {
        unimplemented!()
    }

    /// Mean delay that the MAC itself adds to a packet that meets an empty queue and a clear
    /// channel, ms: slot alignment, TDD, requests and grants, processing. Found by sending such
    /// packets through a link of this configuration, so call it once, not in a loop.
    pub fn mac_floor_ms(_config: &ResolvedConfig) -> PerDirection<f64> {
        unimplemented!()
    }
}
