// SPDX-License-Identifier: Apache-2.0
//! The tapped delay line in integers.

use crate::noise::Block;
use crate::{STEP, Sample};

/// A tap as integers.
#[derive(Debug, Clone, Copy)]
pub struct Tap {
    /// Delay in samples.
    pub delay: usize,
    /// Gain in units of 2^-shift.
    pub gain: Sample,
    /// The factors of I and Q that make I and Q of the result, each pair as one number.
    pairs: [i32; 2],
}

impl Tap {
    /// Makes a tap of a gain in units of 2^-shift.
    pub fn new(delay: usize, gain: Sample) -> Self {
        let [a, b] = gain;
        let pair = |low: i16, high: i16| i32::from(high) << 16 | i32::from(low as u16);
        Self {
            delay,
            gain,
            pairs: [pair(a, -b), pair(b, a)],
        }
    }
}

/// Samples that one vector has, and vectors whose sums stay in registers.
const LANES: usize = 8;
const VECTORS: usize = 4;

/// Adds to `out`, in steps of 1/256, what `taps` make of a signal: `out[n]` gets the sum of `gain · line[longest + n - delay]`,
/// rounded to 1/256. `line` has `longest` earlier samples and those of a whole step.
///
/// Sums stay below 2^30 where the absolute values of all parts of gains add up to less than 2^15. `shift` is at least 9.
pub fn add(line: &[Sample], longest: usize, taps: &[Tap], shift: u32, out: &mut Block) {
    assert!(
        line.len() >= longest + STEP && taps.iter().all(|tap| tap.delay <= longest) && shift >= 9
    );
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: this processor has AVX2; the line was checked.
        return unsafe { add_with_avx2(line, longest, taps, shift, out) };
    }
    add_one_by_one(line, longest, taps, shift, out);
}

/// The reference.
pub fn add_one_by_one(line: &[Sample], longest: usize, taps: &[Tap], shift: u32, out: &mut Block) {
    let half = 1 << (shift - 9);
    for n in 0..STEP {
        let (mut real, mut imaginary) = (0_i32, 0_i32);
        for tap in taps {
            let [x, y] = line[longest + n - tap.delay].map(i32::from);
            let [a, b] = tap.gain.map(i32::from);
            real += a * x - b * y;
            imaginary += b * x + a * y;
        }
        out[0][n] += (real + half) >> (shift - 8);
        out[1][n] += (imaginary + half) >> (shift - 8);
    }
}

/// Eight samples at a time: `vpmaddwd` multiplies I and Q by two factors and adds both products.
///
/// # Safety
/// `line` has `longest` and [`STEP`] samples; no tap is longer.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn add_with_avx2(
    line: &[Sample],
    longest: usize,
    taps: &[Tap],
    shift: u32,
    out: &mut Block,
) {
    use std::arch::x86_64::{
        __m256i, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sra_epi32, _mm256_storeu_si256,
    };
    let half = _mm256_set1_epi32(1 << (shift - 9));
    let shift = _mm_cvtsi32_si128(shift as i32 - 8);
    for first in (0..STEP).step_by(VECTORS * LANES) {
        let mut sums = [[_mm256_setzero_si256(); VECTORS]; 2];
        for tap in taps {
            let (to_i, to_q) = (
                _mm256_set1_epi32(tap.pairs[0]),
                _mm256_set1_epi32(tap.pairs[1]),
            );
            for vector in 0..VECTORS {
                let at = longest + first + vector * LANES - tap.delay;
                // SAFETY: the caller's promise.
                let samples =
                    unsafe { _mm256_loadu_si256(line.as_ptr().add(at).cast::<__m256i>()) };
                let (i, q) = (
                    _mm256_madd_epi16(samples, to_i),
                    _mm256_madd_epi16(samples, to_q),
                );
                sums[0][vector] = _mm256_add_epi32(sums[0][vector], i);
                sums[1][vector] = _mm256_add_epi32(sums[1][vector], q);
            }
        }
        for part in 0..2 {
            for vector in 0..VECTORS {
                let rounded = _mm256_sra_epi32(_mm256_add_epi32(sums[part][vector], half), shift);
                let at = &mut out[part][first + vector * LANES..][..LANES];
                let at = at.as_mut_ptr().cast::<__m256i>();
                // SAFETY: so many numbers are there.
                unsafe {
                    _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), rounded));
                };
            }
        }
    }
}
