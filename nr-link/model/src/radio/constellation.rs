// SPDX-License-Identifier: Apache-2.0
//! The bits that a symbol of each constellation carries at an SNR.
//!
//! Capacity of bit-interleaved coded modulation (Caire, Taricco and Biglieri 1998) with the Gray
//! mapped square QAM of TS 38.211 clause 5.1, over additive white Gaussian noise. Square QAM is two
//! independent pulse amplitude modulations, so one dimension is integrated and doubled.

use std::sync::OnceLock;

use super::decibel;

/// The curves range from -30 dB to 50 dB in steps of 0.5 dB.
const LOWEST_DB: f64 = -30.0;
const STEP_DB: f64 = 0.5;
const STEPS: usize = 161;

/// The points of the largest constellation in one dimension: 256QAM.
const MOST_PAM_POINTS: usize = 16;

/// The noise is integrated from -6 to 6 standard deviations. For a Gaussian, the trapezoidal rule
/// converges faster than any power of the step.
const NOISE_REACH: f64 = 6.0;
const NOISE_STEP: f64 = 0.25;

/// Bits per symbol over SNR, for one constellation.
#[derive(Debug)]
pub struct Constellation {
    bits_per_symbol: u8,
    points: Vec<Point>,
}

/// A point of a curve. Its integral is computed on first use: a run needs few of them.
#[derive(Debug)]
struct Point {
    snr_db: f64,
    bits: OnceLock<f64>,
}

impl Constellation {
    /// Returns the constellation of `bits_per_symbol` (2, 4, 6 or 8).
    pub fn of(bits_per_symbol: u8) -> &'static Self {
        static CURVES: [OnceLock<Constellation>; 4] = [const { OnceLock::new() }; 4];
        CURVES[usize::from(bits_per_symbol / 2 - 1)].get_or_init(|| Self::new(bits_per_symbol))
    }

    fn new(bits_per_symbol: u8) -> Self {
        let point = |step| Point {
            snr_db: level_db(step),
            bits: OnceLock::new(),
        };
        Self {
            bits_per_symbol,
            points: (0..STEPS).map(point).collect(),
        }
    }

    /// Computes all points of all constellations, for a driver in real time: no slot has the time for it.
    pub fn compute_all() {
        for curve in [2, 4, 6, 8].map(Self::of) {
            for point in &curve.points {
                curve.bits(point);
            }
        }
    }

    /// Returns the bits at a point.
    fn bits(&self, point: &Point) -> f64 {
        *point.bits.get_or_init(|| {
            2.0 * pam_capacity(self.bits_per_symbol / 2, decibel::to_ratio(point.snr_db))
        })
    }

    /// Returns the bits that a symbol carries at an SNR in dB.
    pub fn capacity(&self, snr_db: f64) -> f64 {
        let position = ((snr_db - LOWEST_DB) / STEP_DB).clamp(0.0, (STEPS - 1) as f64);
        let below = (position as usize).min(STEPS - 2);
        let share = position - below as f64;
        let (low, high) = self.bits_from(below);
        low + share * (high - low)
    }

    /// Returns the SNR in dB at which a symbol carries so many bits.
    pub fn snr_db(&self, bits: f64) -> f64 {
        let above = self
            .points
            .partition_point(|point| self.bits(point) < bits)
            .clamp(1, STEPS - 1);
        let (low, high) = self.bits_from(above - 1);
        let share = if high > low {
            ((bits - low) / (high - low)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.points[above - 1].snr_db + share * STEP_DB
    }

    /// Returns the bits at a step and at the next.
    fn bits_from(&self, step: usize) -> (f64, f64) {
        (
            self.bits(&self.points[step]),
            self.bits(&self.points[step + 1]),
        )
    }

    /// Returns the SNR in dB of a flat channel that carries as many bits as these SNRs do on
    /// average: mutual information effective SINR mapping (IEEE 802.16m evaluation methodology,
    /// section 4.3.2).
    pub fn effective_db(&self, snrs_db: &[f32]) -> f64 {
        if let [only] = snrs_db {
            return f64::from(*only);
        }
        let total: f64 = snrs_db
            .iter()
            .map(|&snr| self.capacity(f64::from(snr)))
            .sum();
        self.snr_db(total / snrs_db.len() as f64)
    }
}

fn level_db(step: usize) -> f64 {
    LOWEST_DB + step as f64 * STEP_DB
}

/// Returns the bits that one dimension (pulse amplitude modulation with `bits` bits) carries at an
/// SNR per symbol.
fn pam_capacity(bits: u8, snr: f64) -> f64 {
    let points = 1usize << bits;
    let scale = (3.0 / ((points * points - 1) as f64)).sqrt();
    let level = |index: usize| (2.0 * index as f64 - (points - 1) as f64) * scale;
    let deviation = (1.0 / snr).sqrt();
    let label = |index: usize, bit: u8| ((index ^ (index >> 1)) >> bit) & 1;
    let mut lost = 0.0;
    let mut weights = 0.0;
    let mut likelihood = [0.0; MOST_PAM_POINTS];
    let likelihood = &mut likelihood[..points];
    let noise_steps = (2.0 * NOISE_REACH / NOISE_STEP) as usize;
    for noise_step in 0..=noise_steps {
        let noise = noise_step as f64 * NOISE_STEP - NOISE_REACH;
        let weight = libm::exp(-noise * noise / 2.0);
        weights += weight;
        // By symmetry, one half of the points is enough.
        for sent in 0..points / 2 {
            for (index, there) in likelihood.iter_mut().enumerate() {
                let away = (level(sent) - level(index)) / deviation + noise;
                *there = libm::exp((noise * noise - away * away) / 2.0);
            }
            let all: f64 = likelihood.iter().sum();
            for bit in 0..bits {
                let same: f64 = (0..points)
                    .filter(|&index| label(index, bit) == label(sent, bit))
                    .map(|index| likelihood[index])
                    .sum();
                lost += weight * libm::log2(all / same);
            }
        }
    }
    f64::from(bits) - lost / weights / (points / 2) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_stays_below_shannon_and_reaches_the_constellation() {
        for bits in [2, 4, 6, 8] {
            let curve = Constellation::of(bits);
            for step in 0..STEPS {
                let db = level_db(step);
                let shannon = libm::log2(1.0 + decibel::to_ratio(db));
                assert!(
                    curve.capacity(db) <= shannon + 1e-6,
                    "{bits} bits at {db} dB"
                );
            }
            assert!((curve.capacity(45.0) - f64::from(bits)).abs() < 1e-6);
        }
    }

    #[test]
    fn qpsk_needs_the_snr_of_binary_signalling_for_half_a_bit_per_dimension() {
        // Rate 1/2 on binary-input AWGN needs Eb/N0 = 0.187 dB (for example Richardson and Urbanke,
        // "Modern Coding Theory"); QPSK at one bit per symbol has Es/N0 = Eb/N0.
        assert!((Constellation::of(2).snr_db(1.0) - 0.187).abs() < 0.02);
    }

    #[test]
    fn effective_snr_equals_equal_snrs_and_lies_between_unequal_ones() {
        let curve = Constellation::of(6);
        assert!((curve.effective_db(&[12.0; 7]) - 12.0).abs() < 1e-6);
        let mixed = curve.effective_db(&[5.0, 15.0]);
        assert!(mixed > 5.0 && mixed < 12.6, "{mixed}");
    }
}
