// SPDX-License-Identifier: Apache-2.0
//! Random streams, one for each purpose, so that one purpose's draws change no other's.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Loss on the path.
    PathLoss = 1,
    /// Failure of a transport block.
    BlockError = 2,
    /// Drops and marks of queue management.
    EarlyDrop = 3,
}

/// A stream of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of a seed for one purpose, UE (0 when the purpose has none) and direction.
    pub fn new(seed: u64, purpose: Purpose, ue: usize, direction: crate::Direction) -> Self {
        Self::on_carrier(seed, purpose, ue, direction, 0)
    }

    /// The same on one component carrier; that of the primary one, 0, is the plain stream.
    pub fn on_carrier(
        seed: u64,
        purpose: Purpose,
        ue: usize,
        direction: crate::Direction,
        carrier: usize,
    ) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let of_ue = ((ue as u64) << 16) | ((purpose as u64) << 8) | direction as u64;
        stream.set_stream(((carrier as u64) << 48) | of_ue);
        Self(stream)
    }

    /// True with this probability. Draws once, unless the outcome is certain.
    pub fn happens(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        // 53 random bits make every double between 0 and 1 that a unit interval needs.
        let unit = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        unit < probability
    }
}
