// SPDX-License-Identifier: Apache-2.0
//! Random streams, one for each purpose, so that a new purpose changes none of the others.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Shadowing = 1,
    ShadowingHidden = 2,
    LineOfSight = 3,
    Motion = 4,
    Fading = 5,
}

/// The streams of one seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    seed: u64,
    carrier: u64,
}

impl Streams {
    pub fn new(seed: u64) -> Self {
        Self::on_carrier(seed, 0)
    }

    /// Those of one component carrier: fading is its own, all else is that of the primary one, 0.
    pub fn on_carrier(seed: u64, carrier: u64) -> Self {
        Self { seed, carrier }
    }

    pub fn of(&self, purpose: Purpose) -> ChaCha8Rng {
        let carrier = match purpose {
            Purpose::Fading => self.carrier,
            _ => 0,
        };
        let mut stream = ChaCha8Rng::seed_from_u64(self.seed);
        stream.set_stream((carrier << 8) | purpose as u64);
        stream
    }
}
