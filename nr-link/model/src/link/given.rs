// SPDX-License-Identifier: Apache-2.0
//! A link over given capacity: each UE has its own, one pipe a direction.

use super::ends::Ends;
use crate::capacity::Supply;
use crate::capacity::pipe::Pipe;
use crate::config::{PerDirection, ResolvedConfig};
use crate::rlc::Buffer;
use crate::samples::MacSample;
use crate::{Direction, Nanos, Packet};

/// What stands for a slot where there is none: Mahimahi's stamps are in whole milliseconds.
pub(super) const GRAIN: Nanos = 1_000_000;

#[derive(Debug)]
pub(super) struct Given<T> {
    ues: Vec<PerDirection<Pipe<T>>>,
}

impl<T> Given<T> {
    pub fn new(config: &ResolvedConfig, supplies: Vec<PerDirection<Supply>>) -> Self {
        let pipe = |ue, direction, supply| {
            let buffer = Buffer::of(config, ue, direction);
            Pipe::new(buffer, supply, config.mtu_bytes)
        };
        let ues = supplies.into_iter().enumerate();
        let ues = ues.map(|(ue, supply)| PerDirection {
            dl: pipe(ue, Direction::Downlink, supply.dl),
            ul: pipe(ue, Direction::Uplink, supply.ul),
        });
        Self { ues: ues.collect() }
    }

    pub fn pipe(&self, ue: usize, direction: Direction) -> &Pipe<T> {
        self.ues[ue].of(direction)
    }

    pub fn pipe_mut(&mut self, ue: usize, direction: Direction) -> &mut Pipe<T> {
        match direction {
            Direction::Downlink => &mut self.ues[ue].dl,
            Direction::Uplink => &mut self.ues[ue].ul,
        }
    }

    /// When the next packet comes to a buffer or leaves it.
    pub fn next(&self, ends: &Ends<T>) -> Option<Nanos> {
        let leaving = self
            .ues
            .iter()
            .flat_map(|ue| [ue.dl.next(), ue.ul.next()])
            .flatten();
        let coming = ends.path_dl.next().into_iter().chain(ends.from_ues.next());
        leaving.chain(coming).min()
    }

    /// What happens at `now`, when something does: packets leave, then others come.
    pub fn run(&mut self, now: Nanos, ends: &mut Ends<T>) {
        for (index, ue) in self.ues.iter_mut().enumerate() {
            while let Some(packet) = ue.dl.leave(now) {
                ends.to_ues.push(now, (index, packet));
            }
            while let Some(packet) = ue.ul.leave(now) {
                let outcome = ends.path_ul.enter(index, packet, now);
                ue.ul.account.entered_path(now, outcome);
            }
        }
        while let Some((_, (ue, packet))) = ends.path_dl.leave(now) {
            self.ues[ue].dl.offer(packet, now);
        }
        while let Some((_, (ue, packet))) = ends.from_ues.pop(now) {
            self.ues[ue].ul.offer(packet, now);
        }
    }

    pub fn packets(&self, ue: usize, direction: Direction) -> impl Iterator<Item = &Packet<T>> {
        self.pipe(ue, direction).buffer.packets()
    }

    /// One sample for each UE.
    pub fn sample(&mut self, start: Nanos, end: Nanos) -> impl Iterator<Item = MacSample> {
        let samples = self.ues.iter_mut().enumerate();
        samples.map(move |(index, ue)| MacSample::of_pipes(index, ue, start, end))
    }

    pub fn ues(&self) -> usize {
        self.ues.len()
    }
}
