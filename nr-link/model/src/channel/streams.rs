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
pub(super) struct Streams(u64);

impl Streams {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn of(&self, purpose: Purpose) -> ChaCha8Rng {
        let mut stream = ChaCha8Rng::seed_from_u64(self.0);
        stream.set_stream(purpose as u64);
        stream
    }
}
