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

    /// A first transmission with this MCS of 0 to `highest` arrived, or not.
    pub fn learn(&mut self, mcs: u8, highest: u8, arrived: bool) {
        // Where the table ends there is nothing to learn: the offset would only wind up.
        let step = match arrived {
            true if mcs < highest => STEP_DOWN_DB * self.bler_target / (1.0 - self.bler_target),
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
