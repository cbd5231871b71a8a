// SPDX-License-Identifier: Apache-2.0
//! In which order UEs are served in a slot of one carrier and direction. The first takes what it
//! needs, the next of the rest.
//!
//! - Round robin: the first of a line. Every UE may take as much as a whole slot; who has goes to the
//!   end and may again (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995). Neither slots nor
//!   turns are counted: of a TDD pattern the same slots are downlink each time, and one is short.
//! - Maximum C/I: the one whose block would be largest.
//! - Proportional fair (Jalali, Padovani and Pankaj, "Data throughput of CDMA-HDR", VTC 2000): the
//!   one whose block would be largest beside its mean of bytes a slot. Each slot the mean forgets
//!   1/W of itself and takes 1/W of what the slot gave.
//!
//! Equals go in the order of the line. Retransmissions go before everything else and count for
//! nothing: their bytes counted when they were first sent.

use crate::config::Discipline;

/// Bytes a slot; a UE that was never served has a mean of 0, and the quotient must be finite.
const LEAST_MEAN: f64 = 1e-3;

#[derive(Debug)]
pub(crate) struct Scheduler {
    discipline: Discipline,
    /// Mean bytes a slot that each UE was given.
    means: Vec<f64>,
    /// Bytes that this slot gave.
    given: Vec<u32>,
    order: Vec<Place>,
    line: Line,
}

/// A UE, and what decides its place.
#[derive(Debug, Clone, Copy)]
struct Place {
    metric: f64,
    turn: usize,
    ue: usize,
}

/// Whose turn it is.
#[derive(Debug)]
struct Line {
    /// Every UE once, the one whose turn it is first.
    ues: Vec<usize>,
    /// What each may take until its turn is over, in symbols of a PRB; above 0.
    credit: Vec<i64>,
    /// Of a whole slot.
    quantum: i64,
}

impl Line {
    fn new(ues: usize, quantum: u32) -> Self {
        Self {
            ues: (0..ues).collect(),
            credit: vec![i64::from(quantum); ues],
            quantum: i64::from(quantum),
        }
    }

    /// Those who have taken what they may go to the end. No slot gives more than a quantum, so one is
    /// enough to go on with.
    fn end_slot(&mut self) {
        let mut at = 0;
        for _ in 0..self.ues.len() {
            let ue = self.ues[at];
            if self.credit[ue] > 0 {
                at += 1;
                continue;
            }
            self.credit[ue] += self.quantum;
            self.ues[at..].rotate_left(1);
        }
    }
}

impl Scheduler {
    /// For so many UEs on a carrier of which a whole slot has `quantum` symbols of a PRB.
    pub fn new(discipline: Discipline, ues: usize, quantum: u32) -> Self {
        Self {
            discipline,
            means: vec![0.0; ues],
            given: vec![0; ues],
            order: Vec::with_capacity(ues),
            line: Line::new(ues, quantum),
        }
    }

    /// Every UE once, the one whose turn it is first.
    pub fn line(&self) -> &[usize] {
        &self.line.ues
    }

    /// Sorts the UEs that `takes_part` by `rate`, the bytes of a block on the whole carrier; it is
    /// asked only where it decides.
    pub fn sort(&mut self, takes_part: impl Fn(usize) -> bool, rate: impl Fn(usize) -> u32) {
        self.order.clear();
        for (turn, &ue) in self.line.ues.iter().enumerate() {
            if takes_part(ue) {
                let metric = match self.discipline {
                    _ if !self.needs_rates() => 0.0,
                    Discipline::ProportionalFair { .. } => {
                        f64::from(rate(ue)) / self.means[ue].max(LEAST_MEAN)
                    }
                    _ => f64::from(rate(ue)),
                };
                self.order.push(Place { metric, turn, ue });
            }
        }
        if self.needs_rates() {
            let sooner = |a: &Place, b: &Place| b.metric.total_cmp(&a.metric);
            self.order
                .sort_unstable_by(|a, b| sooner(a, b).then(a.turn.cmp(&b.turn)));
        }
    }

    /// Whether the order depends on rates.
    fn needs_rates(&self) -> bool {
        self.discipline != Discipline::RoundRobin && self.means.len() > 1
    }

    /// The UE at this place of the order.
    pub fn at(&self, place: usize) -> Option<usize> {
        self.order.get(place).map(|place| place.ue)
    }

    /// A UE was given so many symbols of a PRB for so many bytes of first transmissions in this slot.
    pub fn give(&mut self, ue: usize, elements: u32, bytes: u32) {
        self.given[ue] = bytes;
        self.line.credit[ue] -= i64::from(elements);
    }

    /// The slot is over.
    pub fn end(&mut self) {
        self.line.end_slot();
        if let Discipline::ProportionalFair { window_slots } = self.discipline {
            for (mean, given) in self.means.iter_mut().zip(&mut self.given) {
                *mean += (f64::from(*given) - *mean) / window_slots;
                *given = 0;
            }
        }
    }
}
