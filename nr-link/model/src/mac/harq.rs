// SPDX-License-Identifier: Apache-2.0
//! HARQ (TS 38.321 clauses 5.3.2, 5.4.2): 16 processes, each with one transport block at a time.

use crate::counters::{Capacity, MAX_ROUNDS};
use crate::ids::HarqId;
use crate::rlc::{Span, StatusId};
use crate::time::{Nanos, Slot};

/// Processes of a UE and direction (TS 38.214 clause 5.1).
const PROCESSES: usize = 16;
/// A transport block in transmission.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// The part of RLC's byte stream in it.
    pub span: Span,
    /// MAC, RLC, PDCP and SDAP headers and MAC control elements.
    pub header_bytes: u32,
    /// Size of the block.
    pub bytes: u32,
    pub mcs: u8,
    pub prb: u16,
    pub re_per_prb: u16,
    pub layers: u8,
    /// Transmissions so far.
    pub round: u8,
    /// Whether the receiver has it already: an acknowledgement was not understood.
    pub received: bool,
    /// Sum of the effective SINRs of its transmissions, ratio: chase combining.
    pub sinr: f64,
    /// The capacity of its slot at full allocation.
    pub capacity: Capacity,
    /// Slot of its first transmission.
    pub slot: Slot,
    /// When it would have been decoded after that.
    pub due: Nanos,
    /// Bytes left in the UE's buffer, as the block reports (uplink).
    pub buffer_status: u64,
    /// A PDU in it polls.
    pub polls: bool,
    /// The status PDU in it, about the other direction.
    pub status: Option<StatusId>,
}

/// A block in the process that transmits it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transmission {
    pub process: HarqId,
    pub block: Block,
}

#[derive(Debug, Clone, Copy, Default)]
enum Process {
    #[default]
    Free,
    /// Taken for a transmission to come.
    Reserved,
    /// Sent; the gNB has the outcome in slot `known`.
    Sent {
        block: Block,
        acknowledged: bool,
        known: Slot,
    },
    /// To be retransmitted.
    Failed(Block),
}

/// The outcome of a transmission.
#[derive(Debug)]
pub(crate) enum Feedback {
    Arrived(Block),
    Failed(Block),
    GivenUp(Block),
    /// The gNB takes it as arrived, which it is not.
    Mistaken(Block),
}

/// All processes of one UE, carrier and direction.
#[derive(Debug, Default)]
pub(crate) struct Harq {
    processes: [Process; PROCESSES],
    /// Number of processes that are not free; with none, a UE is skipped quickly.
    busy: usize,
    /// Number of processes whose block is to be retransmitted.
    failed: usize,
    /// No outcome is known before this slot.
    next_known: Slot,
    /// The processes whose acknowledgements in one slot to come are read from last to first, in the order of transmission.
    backward: Vec<HarqId>,
}

impl Harq {
    pub fn is_idle(&self) -> bool {
        self.busy == 0
    }

    pub fn has_free(&self) -> bool {
        self.busy < PROCESSES
    }

    /// Takes a free process.
    pub fn reserve(&mut self) -> Option<HarqId> {
        let free = self
            .processes
            .iter()
            .position(|process| matches!(process, Process::Free))?;
        self.processes[free] = Process::Reserved;
        self.busy += 1;
        Some(HarqId(free))
    }

    /// Returns whether a block waits for its retransmission.
    pub fn has_failed(&self) -> bool {
        self.failed > 0
    }

    /// Takes the block that has waited longest for its retransmission and for which `fits` holds; its process stays
    /// reserved.
    pub fn take_failed(&mut self, fits: impl Fn(&Block) -> bool) -> Option<Transmission> {
        if self.failed == 0 {
            return None;
        }
        let failed = |(index, process): (usize, &Process)| match process {
            Process::Failed(block) if fits(block) => Some((index, *block)),
            _ => None,
        };
        let (index, block) = self
            .processes
            .iter()
            .enumerate()
            .filter_map(failed)
            .min_by_key(|(_, block)| block.slot)?;
        self.processes[index] = Process::Reserved;
        self.failed -= 1;
        Some(Transmission {
            process: HarqId(index),
            block,
        })
    }

    /// Ends all transmissions; returns the blocks that the receiver does not have.
    pub fn flush(&mut self) -> impl Iterator<Item = Block> {
        let ended = std::mem::take(self);
        ended
            .processes
            .into_iter()
            .filter_map(|process| match process {
                Process::Sent { block, .. } | Process::Failed(block) if !block.received => {
                    Some(block)
                }
                _ => None,
            })
    }

    /// Records a transmission in a reserved process.
    pub fn sent(&mut self, transmission: Transmission, acknowledged: bool, known: Slot) {
        let Transmission { process, block } = transmission;
        self.processes[process.0] = Process::Sent {
            block,
            acknowledged,
            known,
        };
        self.next_known = self.next_known.min(known);
    }

    /// Records that the acknowledgement of a process, which was just sent, is read from last to first with the others of its
    /// slot.
    pub fn reads_backward(&mut self, process: HarqId) {
        self.backward.push(process);
    }

    /// Gives each block the acknowledgement that the gNB reads for it, if it has those of the slot by `slot`.
    fn read_backward(&mut self, slot: Slot) {
        let of = |process: &HarqId| match self.processes[process.0] {
            Process::Sent {
                acknowledged,
                known,
                ..
            } if known <= slot => Some(acknowledged),
            _ => None,
        };
        let Some(sent) = self.backward.iter().map(of).collect::<Option<Vec<_>>>() else {
            return;
        };
        for (process, read) in self.backward.drain(..).zip(sent.into_iter().rev()) {
            if let Process::Sent { acknowledged, .. } = &mut self.processes[process.0] {
                *acknowledged = read;
            }
        }
    }

    /// Returns the next outcome that is known by `slot`.
    pub fn feedback(&mut self, slot: Slot) -> Option<Feedback> {
        if self.busy == 0 || slot < self.next_known {
            return None;
        }
        self.read_backward(slot);
        let mut next_known = Slot::NEVER;
        for process in &mut self.processes {
            let Process::Sent {
                block,
                acknowledged,
                known,
            } = *process
            else {
                continue;
            };
            if known > slot {
                next_known = next_known.min(known);
                continue;
            }
            if !acknowledged && usize::from(block.round) < MAX_ROUNDS {
                *process = Process::Failed(block);
                self.failed += 1;
                return Some(Feedback::Failed(block));
            }
            *process = Process::Free;
            self.busy -= 1;
            return Some(match (acknowledged, block.received) {
                (_, true) => Feedback::Arrived(block),
                (true, false) => Feedback::Mistaken(block),
                (false, false) => Feedback::GivenUp(block),
            });
        }
        self.next_known = next_known;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of which the receiver has everything, or nothing.
    fn block(slot: u64, received: bool) -> Block {
        Block {
            span: Span { start: 0, end: 0 },
            header_bytes: 0,
            bytes: 100,
            mcs: 0,
            prb: 5,
            re_per_prb: 100,
            layers: 1,
            round: 1,
            received,
            sinr: 1.0,
            capacity: Capacity::default(),
            slot: Slot(slot),
            due: 0,
            buffer_status: 0,
            polls: false,
            status: None,
        }
    }

    #[test]
    fn acknowledgements_that_are_read_backward_belong_to_other_blocks() {
        let mut harq = Harq::default();
        for (slot, received) in [(0, false), (1, true), (4, true)] {
            let process = harq.reserve().expect("free");
            let block = block(slot, received);
            harq.sent(Transmission { process, block }, received, Slot(10));
            harq.reads_backward(process);
        }
        assert!(harq.feedback(Slot(9)).is_none());
        let read = std::iter::from_fn(|| harq.feedback(Slot(10)));
        let read: Vec<_> = read
            .map(|feedback| match feedback {
                Feedback::Arrived(block) => ("arrived", block.slot.0),
                Feedback::Failed(block) => ("failed", block.slot.0),
                Feedback::GivenUp(block) => ("given up", block.slot.0),
                Feedback::Mistaken(block) => ("mistaken", block.slot.0),
            })
            .collect();
        assert_eq!(read, [("mistaken", 0), ("arrived", 1), ("failed", 4)]);
    }
}
