// SPDX-License-Identifier: Apache-2.0
//! The carrier's resource grid.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// Subcarriers of a PRB (TS 38.211 clause 4.4.4.1).
pub const SUBCARRIERS_PER_PRB: u32 = 12;

/// The position of the carrier, and its division into subcarriers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// Centre frequency, Hz.
    pub carrier_hz: f64,
    /// Subcarrier spacing, Hz.
    pub scs_hz: f64,
    /// Width, PRBs.
    pub prb: u16,
}

impl Grid {
    /// Returns whether resource elements of both grids receive the same signal and noise, before
    /// fading.
    pub fn has_levels_of(&self, other: &Self) -> bool {
        (self.carrier_hz, self.scs_hz) == (other.carrier_hz, other.scs_hz)
    }
}

/// Numerology µ of TS 38.211 table 4.2-1: subcarriers 15·2^µ kHz apart, 2^µ slots a millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Numerology(u8);

impl Numerology {
    /// Returns the numerology µ from 0 to 3; `None` for others, which the model does not have.
    pub fn new(mu: u8) -> Option<Self> {
        (mu <= 3).then_some(Self(mu))
    }

    /// Returns µ.
    pub fn mu(self) -> u8 {
        self.0
    }

    /// Returns the subcarrier spacing, kHz.
    pub fn scs_khz(self) -> u32 {
        15 << self.0
    }

    /// Returns the slots of a frame, which takes 10 ms (TS 38.211 clause 4.3.1).
    pub fn slots_per_frame(self) -> u64 {
        10 << self.0
    }

    /// Returns the length of a slot, ns.
    pub fn slot_ns(self) -> Nanos {
        1_000_000 >> self.0
    }
}
