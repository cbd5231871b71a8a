// SPDX-License-Identifier: Apache-2.0
//! The outer loop (Pedersen and others, "Frequency domain scheduling for OFDMA with limited and noisy channel
//! feedback", 2007): an offset to the reported SINR. Each failed first transmission lowers it by a step; each that
//! arrives raises it by a smaller step, so that in equilibrium the share of failures is the target.

/// Step of the offset for a failure, dB. It is small, as all blocks of a TDD pattern are sent before the first failure
/// is known.
const STEP_DOWN_DB: f64 = 0.1;
/// Largest absolute offset, dB.
const REACH_DB: f64 = 20.0;

/// Whether a block used an extreme of the possible choices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extremes {
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

    /// Learns from the outcome of a first transmission.
    pub fn learn(&mut self, extremes: Extremes, arrived: bool) {
        // At an extreme the choice cannot follow the offset, which would only wind up.
        let step = match arrived {
            true if !extremes.fastest => STEP_DOWN_DB * self.bler_target / (1.0 - self.bler_target),
            false if !extremes.safest => -STEP_DOWN_DB,
            _ => return,
        };
        self.offset_db = (self.offset_db + step).clamp(-REACH_DB, REACH_DB);
        self.version += 1;
    }

    pub fn version(&self) -> u64 {
        self.version
    }
}
