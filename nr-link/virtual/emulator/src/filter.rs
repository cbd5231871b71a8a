// SPDX-License-Identifier: Apache-2.0
//! Impulse responses as integers, interpolated between two instants.

use num_complex::Complex64;

use crate::fir::Tap;

/// The most to which the absolute values of all parts of a filter's coefficients may add up, so that sums of products
/// with samples stay below 2^30.
const LARGEST_SUM: f64 = 32_767.0;
/// At the least shift that sum is 16: a gain of 24 dB in one path.
const SHIFTS: std::ops::RangeInclusive<u32> = 11..=24;
/// A number whose addition rounds to the nearest integer, which the lowest bits then are.
const ROUNDER: f64 = 1.5 * (1_u64 << 52) as f64;

/// The taps of one pair of antennas between two instants.
#[derive(Debug, Clone, Default)]
pub struct Taps {
    /// Delay in samples, and the gains at both instants.
    ends: Vec<(usize, Complex64, Complex64)>,
    shift: u32,
    limited: bool,
}

impl Taps {
    /// Sets the taps between two instants by their impulse responses, which have the same length. Coefficients far below
    /// one unit of the integers are left out.
    pub fn set(&mut self, from: &[Complex64], to: &[Complex64]) {
        let sum = |response: &[Complex64]| -> f64 {
            response.iter().map(|one| one.re.abs() + one.im.abs()).sum()
        };
        let largest = sum(from).max(sum(to));
        let room = libm::log2(LARGEST_SUM / largest).floor();
        self.shift = room.clamp(f64::from(*SHIFTS.start()), f64::from(*SHIFTS.end())) as u32;
        let allowed = LARGEST_SUM / f64::from(1 << self.shift);
        self.limited = largest > allowed;
        let scale = if self.limited { allowed / largest } else { 1.0 };
        let least = 0.25 / f64::from(1 << self.shift);
        self.ends.clear();
        let pairs = from.iter().zip(to).enumerate();
        self.ends.extend(
            pairs
                .map(|(delay, (from, to))| (delay, from * scale, to * scale))
                .filter(|(_, from, to)| from.norm_sqr().max(to.norm_sqr()) > least * least),
        );
    }

    /// Returns whether the filter had to be weakened, as it is above what integers hold.
    pub fn limited(&self) -> bool {
        self.limited
    }

    /// Returns the units of the gains of [`Taps::between`]: 2^-shift.
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Writes the taps at `share` of the way between both instants.
    pub fn between(&self, share: f64, taps: &mut Vec<Tap>) {
        let unit = f64::from(1 << self.shift);
        // Rounding may add half a unit for each part: the sum stays below 2^15 and some, products below 2^31.
        let rounded = |x: f64| (x * unit + ROUNDER).to_bits() as i16;
        taps.clear();
        for (delay, from, to) in &self.ends {
            let gain = from + (to - from) * share;
            taps.push(Tap::new(*delay, [rounded(gain.re), rounded(gain.im)]));
        }
    }
}
