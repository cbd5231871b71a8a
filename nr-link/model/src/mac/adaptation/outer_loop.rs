// SPDX-License-Identifier: Apache-2.0
//! The outer loop (Pedersen and others, "Frequency domain scheduling for OFDMA with limited and
//! noisy channel feedback", 2007): an offset to the believed SINR, down by a step with each first
//! transmission that fails, up with each that arrives, by so much less that the offset rests where
//! failures have the target's share.

/// How far a failure moves the offset, dB. Small, because a TDD pattern's worth of blocks is under
/// way before the first failure is known.
const STEP_DOWN_DB: f64 = 0.1;
/// How far the offset may go, dB; beyond, the belief is worth nothing.
const REACH_DB: f64 = 20.0;

/// Which end of what can be chosen a block lay at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// No MCS is higher.
    pub fastest: bool,
    /// No MCS is lower, and fewer PRBs would not help.
    pub safest: bool,
}

#[derive(Debug)]
pub(crate) struct OuterLoop {
    bler_target: f64,
    offset_db: f64,
    version: u64,
}

impl OuterLoop {
    pub fn new(bler_target: f64) -> Self {
        Self {
            bler_target,
            offset_db: 0.0,
            version: 0,
        }
    }

    pub fn offset_db(&self) -> f64 {
        self.offset_db
    }

    /// A first transmission arrived, or not; `ends` tells what it could not have been.
    pub fn learn(&mut self, ends: Ends, arrived: bool) {
        // Where there is nothing beyond there is nothing to learn: the offset would only wind up.
        let step = match arrived {
            true if !ends.fastest => STEP_DOWN_DB * self.bler_target / (1.0 - self.bler_target),
            false if !ends.safest => -STEP_DOWN_DB,
            _ => return,
        };
        self.offset_db = (self.offset_db + step).clamp(-REACH_DB, REACH_DB);
        self.version += 1;
    }

    pub fn version(&self) -> u64 {
        self.version
    }
}
