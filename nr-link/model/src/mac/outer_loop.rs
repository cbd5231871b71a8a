// SPDX-License-Identifier: Apache-2.0
//! Link adaptation: the MCS that fits what the scheduler believes of the SINR.
//!
//! The outer loop (Pedersen and others, "Frequency domain scheduling for OFDMA with limited and
//! noisy channel feedback", 2007) adds an offset to that belief: down by a step with each first
//! transmission that fails, up with each that arrives, by so much less that the offset rests where
//! failures have the target's share.

use crate::config::LinkAdaptation;
use crate::radio::bler::{CodeBlocks, sinr_for};
use crate::radio::{Mcs, McsTable};

/// How far a failure moves the offset, dB. Small, because a TDD pattern's worth of blocks is under
/// way before the first failure is known.
const STEP_DOWN_DB: f64 = 0.1;
/// How far the offset may go, dB; beyond, the belief is worth nothing.
const REACH_DB: f64 = 20.0;
/// Code blocks for which the thresholds are found.
const REFERENCE: CodeBlocks = CodeBlocks {
    count: 1,
    bits: 8448,
};

/// The schemes of a table with the SINR at which each meets the target.
#[derive(Debug)]
pub(crate) struct Schemes {
    schemes: Vec<Mcs>,
    thresholds_db: Vec<f64>,
}

impl Schemes {
    pub fn new(table: McsTable, adaptation: LinkAdaptation) -> Self {
        let target = match adaptation {
            LinkAdaptation::OuterLoop { bler_target } => bler_target,
            LinkAdaptation::Fixed { .. } => 0.1,
        };
        let schemes = table.schemes();
        let thresholds_db = schemes
            .iter()
            .map(|&mcs| sinr_for(mcs, REFERENCE, target))
            .collect();
        Self {
            schemes,
            thresholds_db,
        }
    }

    pub fn get(&self, index: u8) -> Mcs {
        self.schemes[usize::from(index)]
    }

    fn highest(&self) -> u8 {
        self.schemes.len() as u8 - 1
    }

    /// The highest scheme that meets the target at this SINR; the lowest if none does. Thresholds
    /// are not monotonic where the modulation changes, so the search is from above.
    fn fitting(&self, sinr_db: f64) -> u8 {
        self.thresholds_db
            .iter()
            .rposition(|&needed| needed <= sinr_db)
            .unwrap_or(0) as u8
    }
}

/// The loop of one UE and direction.
#[derive(Debug)]
pub(crate) struct OuterLoop {
    adaptation: LinkAdaptation,
    offset_db: f64,
    /// Counts what it has learned, so that what is derived from it can be kept.
    version: u64,
}

impl OuterLoop {
    pub fn new(adaptation: LinkAdaptation) -> Self {
        Self {
            adaptation,
            offset_db: 0.0,
            version: 0,
        }
    }

    /// The MCS for an SINR in dB as it was reported.
    pub fn choose(&self, schemes: &Schemes, sinr_db: f64) -> u8 {
        match self.adaptation {
            LinkAdaptation::OuterLoop { .. } => schemes.fitting(sinr_db + self.offset_db),
            LinkAdaptation::Fixed { mcs } => mcs,
        }
    }

    /// A first transmission with this MCS arrived, or not.
    pub fn learn(&mut self, schemes: &Schemes, mcs: u8, arrived: bool) {
        let LinkAdaptation::OuterLoop { bler_target } = self.adaptation else {
            return;
        };
        // Where the table ends there is nothing to learn: the offset would only wind up.
        let step = match arrived {
            true if mcs < schemes.highest() => STEP_DOWN_DB * bler_target / (1.0 - bler_target),
            false if mcs > 0 => -STEP_DOWN_DB,
            _ => return,
        };
        self.offset_db = (self.offset_db + step).clamp(-REACH_DB, REACH_DB);
        self.version += 1;
    }

    pub fn version(&self) -> u64 {
        self.version
    }
}
