// SPDX-License-Identifier: Apache-2.0
//! HARQ processes (TS 38.321 clauses 5.3.2, 5.4.2): 16, each one transport block at a time.

use crate::rlc::Span;

/// Processes of a UE and direction (TS 38.214 clause 5.1).
const PROCESSES: usize = 16;
/// Transmissions of a block before it is given up.
pub(crate) const ROUNDS: usize = 4;

/// A transport block on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    /// What it carries.
    pub span: Span,
    /// MAC, RLC, PDCP and SDAP headers and MAC control elements.
    pub header_bytes: u32,
    /// Its size.
    pub bytes: u32,
    pub mcs: u8,
    pub prb: u16,
    pub re_per_prb: u16,
    pub layers: u8,
    /// Transmissions so far.
    pub round: u8,
    /// Sum of the effective SINRs of its transmissions, ratio: chase combining.
    pub sinr: f64,
    /// What its slot could have carried, and of that IP bytes.
    pub capacity_bytes: f64,
    pub capacity_sdu_bytes: f64,
    /// Slot of its first transmission, as its carrier counts.
    pub slot: u64,
    /// What the UE has left to send, as the block says (uplink).
    pub buffer_status: u64,
}

#[derive(Debug, Clone, Copy, Default)]
enum Process {
    #[default]
    Free,
    /// Granted for an uplink slot to come.
    Reserved,
    /// Sent; the sender learns in slot `known` whether it arrived.
    Sent {
        block: Block,
        arrived: bool,
        known: u64,
    },
    /// To be sent again.
    Failed(Block),
}

/// What the sender learns of a transmission.
#[derive(Debug)]
pub(crate) enum Feedback {
    Arrived(Block),
    Failed(Block),
    GivenUp(Block),
}

/// All processes of one UE and direction.
#[derive(Debug, Default)]
pub(crate) struct Harq {
    processes: [Process; PROCESSES],
    /// Processes that are not free, and of these those to be sent again: where there are none, a
    /// UE is passed over quickly.
    busy: usize,
    failed: usize,
    /// No outcome is known before this slot.
    next_known: u64,
}

impl Harq {
    pub fn is_idle(&self) -> bool {
        self.busy == 0
    }

    pub fn has_free(&self) -> bool {
        self.busy < PROCESSES
    }

    /// Takes a free process.
    pub fn reserve(&mut self) -> Option<usize> {
        let free = self
            .processes
            .iter()
            .position(|process| matches!(process, Process::Free))?;
        self.processes[free] = Process::Reserved;
        self.busy += 1;
        Some(free)
    }

    /// The longest waiting block that is to be sent again and for which `fits` holds; its process
    /// is reserved for it.
    pub fn take_failed(&mut self, fits: impl Fn(&Block) -> bool) -> Option<(usize, Block)> {
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
        Some((index, block))
    }

    /// A block was sent in a reserved process.
    pub fn sent(&mut self, process: usize, block: Block, arrived: bool, known: u64) {
        self.processes[process] = Process::Sent {
            block,
            arrived,
            known,
        };
        self.next_known = self.next_known.min(known);
    }

    /// One transmission of which the sender knows the outcome by `slot`.
    pub fn feedback(&mut self, slot: u64) -> Option<Feedback> {
        if self.busy == 0 || slot < self.next_known {
            return None;
        }
        let mut next_known = u64::MAX;
        for process in &mut self.processes {
            let Process::Sent {
                block,
                arrived,
                known,
            } = *process
            else {
                continue;
            };
            if known > slot {
                next_known = next_known.min(known);
                continue;
            }
            if !arrived && usize::from(block.round) < ROUNDS {
                *process = Process::Failed(block);
                self.failed += 1;
                return Some(Feedback::Failed(block));
            }
            *process = Process::Free;
            self.busy -= 1;
            return Some(if arrived {
                Feedback::Arrived(block)
            } else {
                Feedback::GivenUp(block)
            });
        }
        self.next_known = next_known;
        None
    }
}
