// SPDX-License-Identifier: Apache-2.0
//! The order in which UEs are served in a slot of one carrier and direction. The first UE takes the PRBs that it
//! needs, the next one takes from the rest.
//!
//! - Round robin: the first UE of a queue. A UE may take the resources of one whole slot, then goes to the end of the
//!   queue (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995). Resources are counted and not slots, as
//!   special slots of a TDD pattern have fewer symbols.
//! - Maximum C/I: the UE whose block would be largest.
//! - Proportional fair (Jalali, Padovani and Pankaj, "Data throughput of CDMA-HDR", VTC 2000): the UE whose block
//!   would be largest in relation to its mean of bytes per slot, an exponential average over W slots.
//!
//! Ties are broken by the order of the queue. Retransmissions come first and do not count: their bytes counted in the
//! first transmission.

use crate::config::Discipline;
use crate::ids::UeId;

/// The smallest mean, bytes per slot: a UE that was never served has a mean of 0, and the ratio must be finite.
const LEAST_MEAN: f64 = 1e-3;

#[derive(Debug)]
pub(crate) struct Scheduler {
    discipline: Discipline,
    /// Mean bytes per slot of each UE.
    means: Vec<f64>,
    /// Bytes allocated to each UE in this slot.
    allocated: Vec<u32>,
    order: Vec<Candidate>,
    queue: RoundRobin,
}

/// A UE with the keys by which UEs are sorted.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    metric: f64,
    queue_position: usize,
    ue: UeId,
}

/// The queue of deficit round robin.
#[derive(Debug)]
struct RoundRobin {
    /// All UEs of the cell, the next one first.
    ues: Vec<UeId>,
    /// The resources that each UE may take until it goes to the end, symbols × PRBs; above 0.
    credit: Vec<i64>,
    /// The resources of a whole slot.
    quantum: i64,
}

impl RoundRobin {
    fn new(ues: usize, quantum: u32) -> Self {
        Self {
            ues: Vec::with_capacity(ues),
            credit: vec![i64::from(quantum); ues],
            quantum: i64::from(quantum),
        }
    }

    /// Moves the UEs without credit to the end and renews their credit. No slot allocates more than one quantum, so
    /// one quantum makes the credit positive.
    fn end_slot(&mut self) {
        let mut at = 0;
        for _ in 0..self.ues.len() {
            let ue = self.ues[at];
            if self.credit[ue.0] > 0 {
                at += 1;
                continue;
            }
            self.credit[ue.0] += self.quantum;
            self.ues[at..].rotate_left(1);
        }
    }
}

impl Scheduler {
    /// Makes a scheduler without UEs, which may have up to `ues`, on a carrier whose whole slot has `quantum` symbols × PRBs.
    pub fn new(discipline: Discipline, ues: usize, quantum: u32) -> Self {
        Self {
            discipline,
            means: vec![0.0; ues],
            allocated: vec![0; ues],
            order: Vec::with_capacity(ues),
            queue: RoundRobin::new(ues, quantum),
        }
    }

    /// Adds a UE at the end of the queue.
    pub fn attach(&mut self, ue: UeId) {
        self.queue.ues.push(ue);
        self.queue.credit[ue.0] = self.queue.quantum;
        self.means[ue.0] = 0.0;
    }

    /// Removes a UE.
    pub fn detach(&mut self, ue: UeId) {
        self.queue.ues.retain(|&other| other != ue);
    }

    /// Returns all UEs in the order of the queue.
    pub fn queue(&self) -> &[UeId] {
        &self.queue.ues
    }

    /// Sorts the UEs that are `eligible`. `rate` is the bytes of a UE's block on the whole carrier; it is called only
    /// where the order depends on it.
    pub fn sort(&mut self, eligible: impl Fn(UeId) -> bool, rate: impl Fn(UeId) -> u32) {
        self.order.clear();
        for (queue_position, &ue) in self.queue.ues.iter().enumerate() {
            if eligible(ue) {
                let metric = match self.discipline {
                    _ if !self.needs_rates() => 0.0,
                    Discipline::ProportionalFair { .. } => {
                        f64::from(rate(ue)) / self.means[ue.0].max(LEAST_MEAN)
                    }
                    _ => f64::from(rate(ue)),
                };
                self.order.push(Candidate {
                    metric,
                    queue_position,
                    ue,
                });
            }
        }
        if self.needs_rates() {
            let larger_first = |a: &Candidate, b: &Candidate| b.metric.total_cmp(&a.metric);
            self.order.sort_unstable_by(|a, b| {
                larger_first(a, b).then(a.queue_position.cmp(&b.queue_position))
            });
        }
    }

    /// Returns whether the order depends on rates.
    fn needs_rates(&self) -> bool {
        self.discipline != Discipline::RoundRobin && self.means.len() > 1
    }

    /// Returns the UE at this index of the order.
    pub fn at(&self, index: usize) -> Option<UeId> {
        self.order.get(index).map(|candidate| candidate.ue)
    }

    /// Records an allocation of `size` symbols × PRBs for `bytes` of first transmissions in this slot.
    pub fn allocated(&mut self, ue: UeId, size: u32, bytes: u32) {
        self.allocated[ue.0] = bytes;
        self.queue.credit[ue.0] -= i64::from(size);
    }

    /// Ends the slot.
    pub fn end_slot(&mut self) {
        self.queue.end_slot();
        if let Discipline::ProportionalFair { window_slots } = self.discipline {
            for (mean, allocated) in self.means.iter_mut().zip(&mut self.allocated) {
                *mean += (f64::from(*allocated) - *mean) / window_slots;
                *allocated = 0;
            }
        }
    }
}
