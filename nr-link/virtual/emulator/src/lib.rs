// SPDX-License-Identifier: Apache-2.0
//! A channel emulator: the radio channel of a scenario on the samples of real modems.
//!
//! Each pair of a transmit and a receive antenna has a tapped delay line, whose taps are those of the model's channel
//! (`nr-link-model`), of the same seed. A receive antenna gets the sum over all transmit antennas and white Gaussian
//! noise, as complex samples of 16-bit integers. All arithmetic on samples is exact in integers, and noise is a function
//! of seed and time: the same samples give the same output, in whatever blocks they come and on every machine.
//!
//! The crate knows no clock, thread or device. `docs/channel-emulator.md` describes it.

#![cfg_attr(test, allow(clippy::disallowed_methods))] // tests compute independently
// Loops go over several arrays at the same index.
#![allow(clippy::needless_range_loop)]

mod air;
mod filter;
mod fir;
mod fractional;
mod noise;
mod receiver;

pub use air::{Air, Direction, PowerControl, Scale, Start, State};
pub use receiver::{Account, Receiver};

pub use fractional::LEAD as LEAD_SAMPLES;

/// A complex sample: I and Q.
pub type Sample = [i16; 2];

/// Samples for which taps and noise level are constant: some microseconds.
pub const STEP: usize = 64;

/// The channel to one receiver over time, at instants between which it is interpolated.
pub trait Response {
    /// Returns the number of transmit and receive antennas.
    fn antennas(&self) -> (usize, usize);

    /// Returns the longest delay, in samples.
    fn longest(&self) -> usize;

    /// Returns the samples from one instant to the next, a multiple of [`STEP`].
    fn interval(&self) -> u64;

    /// Writes the impulse responses and the level of noise at sample `at`, as one that belongs to the time from sample
    /// `of` on: what changes abruptly does so at `of`.
    fn at(&self, at: u64, of: u64, seen: &mut Impulses);

    /// Returns the number that noise has at sample `at`, in units of samples; `None`: there is no noise.
    fn noise_time(&self, at: u64) -> Option<u64>;
}

/// The channel at one instant.
#[derive(Debug, Clone, Default)]
pub struct Impulses {
    /// The impulse response of each pair of antennas, by sample of delay: those to the first receive antenna from each
    /// transmit antenna, then those to the second.
    pub pairs: Vec<Vec<num_complex::Complex64>>,
    /// Standard deviation of noise in I and in Q.
    pub noise: f64,
}
