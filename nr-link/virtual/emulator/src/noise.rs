// SPDX-License-Identifier: Apache-2.0
//! White Gaussian noise as a function of seed and time.
//!
//! Random words are those of Philox4x32-7 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011), whose
//! counter is the number of the sample. Each word becomes a complex Gaussian sample by Box and Muller (1958), with
//! series for logarithm, sine and cosine: 18 bits are its length, at most 5.1 standard deviations, and 14 its angle. A
//! resource element is a sum of more than a thousand samples, which hides both. Only operations of which IEEE 754 fixes the
//! result are used (fused ones where they are written so): vectors and scalars give the same bits.

use crate::STEP;

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// The fewest that pass all tests of the paper (table 2).
const ROUNDS: usize = 7;
/// Samples of a counter: each needs one of its words.
const SAMPLES: usize = 4;
const LENGTH_BITS: u32 = 18;
const COUNTERS: usize = STEP / SAMPLES;
/// Counters that are worked on at once: several vectors, as each round waits for the products of the one before.
const LANES: usize = VECTORS * VECTOR_LANES;
const VECTORS: usize = 2;
const VECTOR_LANES: usize = 8;
/// The four words of so many counters.
type Counters = [[u32; LANES]; 4];
/// A number whose addition rounds to the nearest integer, below 2^22.
const ROUNDER: f32 = 12_582_912.0;
/// The largest standard deviation: six of them stay below 2^22 in steps of 1/256.
pub const LARGEST: f64 = 2700.0;

/// Noise of one receive antenna.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// The seed.
    pub seed: u64,
    /// The number of the antenna.
    pub antenna: u32,
}

/// I and Q of a step's samples, in steps of 1/256.
pub type Block = [[i32; STEP]; 2];

impl Noise {
    /// Adds noise of standard deviation `deviation` in I and in Q to the samples of step `step`, in steps of 1/256.
    pub fn add(self, step: u64, deviation: f64, to: &mut Block) {
        let scale = (deviation.min(LARGEST) * 256.0) as f32;
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: this processor has both.
            return unsafe { add_with_avx2(self, step, scale, to) };
        }
        add(self, step, scale, to, philox);
    }
}

/// The same code, compiled for wider vectors, with the random words of eight counters at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn add_with_avx2(noise: Noise, step: u64, scale: f32, to: &mut Block) {
    add(noise, step, scale, to, |counters, key| {
        philox_with_avx2(counters, key)
    });
}

#[inline(always)]
fn add(
    noise: Noise,
    step: u64,
    scale: f32,
    to: &mut Block,
    philox: impl Fn(Counters, [u32; 2]) -> Counters,
) {
    let mut words = [[0_u32; COUNTERS]; 4];
    let key = [noise.seed as u32, (noise.seed >> 32) as u32];
    let first = step * COUNTERS as u64;
    // Steps begin at multiples of the number of counters: only the low word differs within one.
    let (low, high) = (first as u32, (first >> 32) as u32);
    let mut counters = [
        [0; LANES],
        [high; LANES],
        [noise.antenna; LANES],
        [0; LANES],
    ];
    for begin in (0..COUNTERS).step_by(LANES) {
        for lane in 0..LANES {
            counters[0][lane] = low + (begin + lane) as u32;
        }
        let random = philox(counters, key);
        for word in 0..4 {
            words[word][begin..begin + LANES].copy_from_slice(&random[word]);
        }
    }
    let (real, imaginary) = to.split_at_mut(1);
    for (word, words) in words.iter().enumerate() {
        for (n, &random) in words.iter().enumerate() {
            let (i, q) = gaussian(random);
            let at = word * COUNTERS + n;
            real[0][at] += rounded(i, scale);
            imaginary[0][at] += rounded(q, scale);
        }
    }
}

/// Returns the random words of several counters.
#[inline(always)]
fn philox(mut counters: Counters, mut key: [u32; 2]) -> Counters {
    for _ in 0..ROUNDS {
        let [c0, c1, c2, c3] = counters;
        for n in 0..LANES {
            let first = u64::from(MULTIPLIERS[0]) * u64::from(c0[n]);
            let second = u64::from(MULTIPLIERS[1]) * u64::from(c2[n]);
            counters[0][n] = (second >> 32) as u32 ^ c1[n] ^ key[0];
            counters[1][n] = second as u32;
            counters[2][n] = (first >> 32) as u32 ^ c3[n] ^ key[1];
            counters[3][n] = first as u32;
        }
        key = [
            key[0].wrapping_add(KEY_STEPS[0]),
            key[1].wrapping_add(KEY_STEPS[1]),
        ];
    }
    counters
}

/// The same as [`philox`], eight counters in a vector.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn philox_with_avx2(counters: Counters, key: [u32; 2]) -> Counters {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_blend_epi32, _mm256_loadu_si256, _mm256_mul_epu32,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_slli_epi64, _mm256_srli_epi64,
        _mm256_storeu_si256, _mm256_xor_si256,
    };
    const ODD: i32 = 0b1010_1010;
    let mut c = [[_mm256_setzero_si256(); 4]; VECTORS];
    for vector in 0..VECTORS {
        for word in 0..4 {
            let lanes = &counters[word][vector * VECTOR_LANES..][..VECTOR_LANES];
            // SAFETY: it has eight numbers.
            c[vector][word] = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast::<__m256i>()) };
        }
    }
    let multipliers = [
        _mm256_set1_epi32(MULTIPLIERS[0] as i32),
        _mm256_set1_epi32(MULTIPLIERS[1] as i32),
    ];
    let mut keys = [
        _mm256_set1_epi32(key[0] as i32),
        _mm256_set1_epi32(key[1] as i32),
    ];
    let steps = [
        _mm256_set1_epi32(KEY_STEPS[0] as i32),
        _mm256_set1_epi32(KEY_STEPS[1] as i32),
    ];
    for _ in 0..ROUNDS {
        for c in &mut c {
            // The high and low halves of products; the instruction multiplies even lanes only.
            let (mut high, mut low) = ([c[0]; 2], [c[0]; 2]);
            for of in 0..2 {
                let even = _mm256_mul_epu32(c[2 * of], multipliers[of]);
                let odd = _mm256_mul_epu32(_mm256_srli_epi64(c[2 * of], 32), multipliers[of]);
                high[of] = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, ODD);
                low[of] = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), ODD);
            }
            *c = [
                _mm256_xor_si256(_mm256_xor_si256(high[1], c[1]), keys[0]),
                low[1],
                _mm256_xor_si256(_mm256_xor_si256(high[0], c[3]), keys[1]),
                low[0],
            ];
        }
        for of in 0..2 {
            keys[of] = _mm256_add_epi32(keys[of], steps[of]);
        }
    }
    let mut words = counters;
    for vector in 0..VECTORS {
        for word in 0..4 {
            let lanes = &mut words[word][vector * VECTOR_LANES..][..VECTOR_LANES];
            // SAFETY: it has eight numbers.
            unsafe {
                _mm256_storeu_si256(lanes.as_mut_ptr().cast::<__m256i>(), c[vector][word]);
            };
        }
    }
    words
}

/// Turns a random word into two independent Gaussian numbers of variance 1.
#[inline(always)]
fn gaussian(word: u32) -> (f32, f32) {
    const UNIT: f32 = 1.0 / (1 << LENGTH_BITS) as f32;
    let uniform = ((word >> (32 - LENGTH_BITS)) as i32 as f32).mul_add(UNIT, 0.5 * UNIT);
    let radius = minus_two_logarithms(uniform).sqrt();
    // The middle of the angles that these bits could be.
    let (cosine, sine) = direction(word << LENGTH_BITS | 1 << (LENGTH_BITS - 1));
    (radius * cosine, radius * sine)
}

/// Returns -2 times the natural logarithm of a number above 0, within 3e-7 relatively, or 6e-7.
#[inline(always)]
fn minus_two_logarithms(x: f32) -> f32 {
    let bits = x.to_bits() as i32;
    let exponent = ((bits >> 23) - 127) as f32;
    let mantissa = f32::from_bits(((bits & 0x007F_FFFF) | 0x3F80_0000) as u32);
    // ln m = ln √2 + 2 artanh((m − √2)/(m + √2)), |…| below 0.172.
    let s = (mantissa - std::f32::consts::SQRT_2) / (mantissa + std::f32::consts::SQRT_2);
    let series = polynomial(s * s, [-4.0, -4.0 / 3.0, -4.0 / 5.0, -4.0 / 7.0]);
    let of_mantissa = s.mul_add(series, -std::f32::consts::LN_2);
    exponent.mul_add(-2.0 * std::f32::consts::LN_2, of_mantissa)
}

/// Returns cosine and sine of a random angle: one of four quadrants, and a distance from its middle.
#[inline(always)]
fn direction(word: u32) -> (f32, f32) {
    let middle = (word & 0x3FFF_FFFF) as i32 - (1 << 29);
    let x = middle as f32 * (std::f32::consts::FRAC_PI_4 / 536_870_912.0);
    let y = x * x;
    let sine = x * polynomial(y, [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0]);
    let cosine = polynomial(y, [1.0, -0.5, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0]);
    // By 90 degrees if bit 30 is set, by 180 if bit 31 is.
    let swapped = (((word >> 30) & 1) as i32).wrapping_neg() as u32;
    let (c, s) = (cosine.to_bits(), sine.to_bits());
    let other = (c ^ s) & swapped;
    let opposite = word & 0x8000_0000;
    let first = (c ^ other) ^ opposite ^ (swapped & 0x8000_0000);
    let second = (s ^ other) ^ opposite;
    (f32::from_bits(first), f32::from_bits(second))
}

/// Returns the sum of `coefficients[n]` times the n-th power of `x`, by Horner's rule.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let sum = |sum: f32, coefficient| sum.mul_add(x, coefficient);
    coefficients.into_iter().rev().reduce(sum).unwrap_or(0.0)
}

/// Returns the nearest integer to `x · scale`.
#[inline(always)]
fn rounded(x: f32, scale: f32) -> i32 {
    x.mul_add(scale, ROUNDER).to_bits() as i32 - ROUNDER.to_bits() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_words_are_those_of_the_reference() {
        // Random123, kat_vectors, philox4x32 with 7 rounds.
        let all = u32::MAX;
        let known = [
            (
                [0; 4],
                [0; 2],
                [0x5f6f_b709, 0x0d89_3f64, 0x4f12_1f81, 0x4f73_0a48],
            ),
            (
                [all; 4],
                [all; 2],
                [0x5207_ddc2, 0x4516_5e59, 0x4d8e_e751, 0x8c52_f662],
            ),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0x4dfc_caba, 0x190a_87f0, 0xc473_62ba, 0xb6b5_242a],
            ),
        ];
        for (counter, key, words) in known {
            assert_eq!(
                philox(counter.map(|one| [one; LANES]), key),
                words.map(|one| [one; LANES])
            );
        }
    }

    #[test]
    fn series_agree_with_the_system() {
        for n in 0..100_000_u32 {
            let word = n.wrapping_mul(2_654_435_761);
            let (cosine, sine) = direction(word);
            let turns = f64::from(word & 0x3FFF_FFFF) / f64::from(1 << 30) - 0.5;
            let angle = (turns + f64::from(word >> 30)) * std::f64::consts::FRAC_PI_2;
            assert!((f64::from(cosine) - angle.cos()).abs() < 1e-6, "{word}");
            assert!((f64::from(sine) - angle.sin()).abs() < 1e-6, "{word}");
            let x = (word as f32 + 1.0) * (1.0 / 4_294_967_808.0);
            let exact = -2.0 * f64::from(x).ln();
            assert!(
                (f64::from(minus_two_logarithms(x)) - exact).abs() < 3e-7 * exact.max(2.0),
                "{x}"
            );
        }
    }

    #[test]
    fn every_length_is_that_of_its_uniform_number() {
        for length in 0..1_u32 << LENGTH_BITS {
            let (i, q) = gaussian(length << (32 - LENGTH_BITS));
            let uniform = (f64::from(length) + 0.5) / f64::from(1 << LENGTH_BITS);
            let exact = -2.0 * uniform.ln();
            let square = f64::from(i).powi(2) + f64::from(q).powi(2);
            assert!((square - exact).abs() < 1e-6 * exact.max(2.0), "{length}");
        }
    }

    #[test]
    fn vectors_and_scalars_give_the_same_bits() {
        let noise = Noise {
            seed: 7,
            antenna: 1,
        };
        for step in [0, 1, 1 << 20, 1 << 40] {
            let (mut fast, mut plain) = ([[5; STEP]; 2], [[5; STEP]; 2]);
            noise.add(step, 19.7, &mut fast);
            add(noise, step, (19.7 * 256.0) as f32, &mut plain, philox);
            assert_eq!(fast, plain);
        }
    }
}
