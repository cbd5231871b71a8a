// SPDX-License-Identifier: Apache-2.0
//! Random number streams, one for each purpose, so that the draws of one purpose do not change another's.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Direction;
use crate::ids::{CarrierId, UeId};

/// The purpose of a random number stream.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Loss on the path.
    PathLoss = 1,
    /// Failure of a transport block.
    BlockError = 2,
    /// Drops and marks of queue management.
    EarlyDrop = 3,
    /// Loss of messages of RRC.
    Signalling = 4,
}

/// Returns the seed of a UE: the link's own for the first, and for the others one that no run with a seed of 32 bits has.
/// With consecutive seeds, the second UE of a repeat would have the channel of the first UE of the next repeat.
pub(crate) fn seed_of_ue(seed: u64, ue: UeId) -> u64 {
    seed ^ ((ue.0 as u64) << 32)
}

/// A random number stream.
#[derive(Debug, Clone)]
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    /// Makes the stream of a seed for one purpose, UE (0 if the purpose has none) and direction.
    pub fn new(seed: u64, purpose: Purpose, ue: UeId, direction: Direction) -> Self {
        Self::on_carrier(seed, purpose, ue, direction, CarrierId::PRIMARY)
    }

    /// Makes the stream for one component carrier; that of the primary carrier equals
    /// [`Stream::new`].
    pub fn on_carrier(
        seed: u64,
        purpose: Purpose,
        ue: UeId,
        direction: Direction,
        carrier: CarrierId,
    ) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(seed);
        let ue_stream = ((ue.0 as u64) << 16) | ((purpose as u64) << 8) | direction as u64;
        stream.set_stream(((carrier.0 as u64) << 48) | ue_stream);
        Self(stream)
    }

    /// Returns true with this probability. Draws a number unless the outcome is certain.
    pub fn happens(&mut self, probability: f64) -> bool {
        if probability <= 0.0 {
            return false;
        }
        self.unit() < probability
    }

    /// Draws from the standard normal distribution (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// Draws a uniform number in [0, 1) with 53 random bits, the precision of a double.
    fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_ues_of_any_repeats_have_one_seed() {
        let repeats = 1..=90;
        let seeds = repeats.flat_map(|seed| (0..64).map(move |ue| seed_of_ue(seed, UeId(ue))));
        assert_eq!(seeds.collect::<HashSet<_>>().len(), 90 * 64);
        assert_eq!(seed_of_ue(7, UeId(0)), 7);
    }
}
