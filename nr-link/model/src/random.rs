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
