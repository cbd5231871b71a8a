// SPDX-License-Identifier: Apache-2.0
//! Random number streams, one for each purpose, so that the draws of one purpose do not change
//! another's.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// The purpose of a stream.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Shadowing = 1,
    ShadowingNlos = 2,
    LineOfSight = 3,
    Motion = 4,
    Fading = 5,
}

/// The streams of one seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    seed: u64,
    /// Number of the fading among those that are independent of each other.
    fading: u64,
    cell: u64,
    site: u64,
}

/// The first number of a fading between another pair of antennas; those below are of carriers.
const ANTENNAS: u64 = 1 << 16;

impl Streams {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            fading: 0,
            cell: 0,
            site: 0,
        }
    }

    /// Makes the streams of a component carrier: fading has its own, everything else that of the
    /// primary carrier, 0.
    pub fn on_carrier(self, carrier: u64) -> Self {
        Self {
            fading: carrier,
            ..self
        }
    }

    /// Makes the streams of a pair of antennas: fading has its own, everything else that of the first pair, 0.
    pub fn on_antennas(self, pair: u64) -> Self {
        Self {
            fading: match pair {
                0 => 0,
                pair => ANTENNAS + pair,
            },
            ..self
        }
    }

    /// Makes the streams of a cell: fading has its own, the large-scale processes those of its site, and the UE's
    /// movement that of cell 0.
    pub fn to_cell(self, cell: u64, site: u64) -> Self {
        Self { cell, site, ..self }
    }

    pub fn of(&self, purpose: Purpose) -> ChaCha8Rng {
        let (cell, fading) = match purpose {
            Purpose::Fading => (self.cell, self.fading),
            Purpose::Motion => (0, 0),
            Purpose::Shadowing | Purpose::ShadowingNlos | Purpose::LineOfSight => (self.site, 0),
        };
        let mut stream = ChaCha8Rng::seed_from_u64(self.seed);
        stream.set_stream((cell << 32) | (fading << 8) | purpose as u64);
        stream
    }
}
