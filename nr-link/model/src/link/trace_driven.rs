// SPDX-License-Identifier: Apache-2.0
//! Trace-driven access: each UE has its own capacity in each direction.

use super::endpoints::Endpoints;
use crate::capacity::Supply;
use crate::capacity::bearer::TraceBearer;
use crate::config::{PerDirection, ResolvedConfig};
use crate::delays::Part;
use crate::ids::UeId;
use crate::packet::UePacket;
use crate::rlc::Buffer;
use crate::samples::MacSample;
use crate::time::earlier;
use crate::{Direction, Nanos, Packet};

/// The time step that is counted in place of slots: Mahimahi's times are whole milliseconds.
pub(super) const STEP: Nanos = 1_000_000;
/// The parts of a packet's delay.
pub(super) const PARTS: &[Part] = &[Part::Line, Part::Path, Part::Queue, Part::Service];

#[derive(Debug)]
pub(super) struct TraceDriven<T> {
    ues: Vec<PerDirection<TraceBearer<T>>>,
}

impl<T> TraceDriven<T> {
    pub fn new(config: &ResolvedConfig, supplies: Vec<PerDirection<Supply>>) -> Self {
        let bearer = |ue, direction, supply| {
            let buffer = Buffer::of(config, UeId(ue), direction);
            TraceBearer::new(buffer, supply, config.mtu_bytes)
        };
        let ues = supplies.into_iter().enumerate();
        let ues = ues.map(|(ue, supply)| PerDirection {
            dl: bearer(ue, Direction::Downlink, supply.dl),
            ul: bearer(ue, Direction::Uplink, supply.ul),
        });
        Self { ues: ues.collect() }
    }

    pub fn bearer(&self, ue: UeId, direction: Direction) -> &TraceBearer<T> {
        self.ues[ue.0].of(direction)
    }

    pub fn bearer_mut(&mut self, ue: UeId, direction: Direction) -> &mut TraceBearer<T> {
        match direction {
            Direction::Downlink => &mut self.ues[ue.0].dl,
            Direction::Uplink => &mut self.ues[ue.0].ul,
        }
    }

    /// Begins to account for why packets wait.
    pub fn explain(&mut self) {
        for ue in &mut self.ues {
            ue.dl.buffer.explain(Part::Service, 0);
            ue.ul.buffer.explain(Part::Service, 0);
        }
    }

    /// Returns when the next packet enters or leaves a buffer.
    pub fn next(&self, ends: &Endpoints<T>) -> Option<Nanos> {
        let mut next = earlier(ends.path_dl.next(), ends.from_ues.next());
        for ue in &self.ues {
            next = earlier(next, earlier(ue.dl.next(), ue.ul.next()));
        }
        next
    }

    /// Runs the events at `now`: packets leave, then others enter.
    pub fn run(&mut self, now: Nanos, ends: &mut Endpoints<T>) {
        for (index, bearers) in self.ues.iter_mut().enumerate() {
            let ue = UeId(index);
            while let Some(packet) = bearers.dl.leave(now) {
                ends.to_ues.push(now, UePacket { ue, packet });
            }
            while let Some(packet) = bearers.ul.leave(now) {
                let outcome = ends.path_ul.enter(UePacket { ue, packet }, now);
                bearers.ul.counters.count_path(now, outcome);
            }
        }
        while let Some((_, UePacket { ue, packet })) = ends.path_dl.leave(now) {
            self.ues[ue.0].dl.offer(packet, now);
        }
        while let Some((_, UePacket { ue, packet })) = ends.from_ues.pop(now) {
            self.ues[ue.0].ul.offer(packet, now);
        }
    }

    pub fn packets(&self, ue: UeId, direction: Direction) -> impl Iterator<Item = &Packet<T>> {
        self.bearer(ue, direction).buffer.packets()
    }

    /// Returns one sample for each UE.
    pub fn sample(&mut self, start: Nanos, end: Nanos) -> impl Iterator<Item = MacSample> {
        let samples = self.ues.iter_mut().enumerate();
        samples.map(move |(ue, bearers)| MacSample::for_trace(UeId(ue), bearers, start, end))
    }

    pub fn ues(&self) -> usize {
        self.ues.len()
    }
}
