// SPDX-License-Identifier: Apache-2.0
//! A receiver: what reaches its antennas.

use std::ops::Range;

use crate::filter::Taps;
use crate::fir::{self, Tap};
use crate::noise::{Block, Noise};
use crate::{Impulses, Response, STEP, Sample};

/// The most samples that a block adds at once.
const CHUNK: usize = 1 << 13;

/// The account of what was received, and of how well 16 bits hold it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Account {
    /// Samples of all antennas.
    pub samples: u64,
    /// Samples of which I or Q was limited to 16 bits.
    pub saturated_samples: u64,
    /// Sum of the powers of what was received.
    pub power: f64,
    /// Sum of the powers of the noise that was added.
    pub noise_power: f64,
    /// Samples with a channel that is stronger than the emulator's integers hold, and was weakened.
    pub limited_samples: u64,
    /// Samples that a transmitter left out, which count as 0.
    pub missing_samples: u64,
}

/// The receiver of a channel `R`.
#[derive(Debug)]
pub struct Receiver<R> {
    response: R,
    seed: u64,
    /// The latest samples of each transmit antenna, and while a block is received those of the block and a step more.
    lines: Vec<Vec<Sample>>,
    /// The number of the next sample.
    next: Option<u64>,
    from: Impulses,
    to: Impulses,
    /// The interval that `taps` are for.
    interval: Option<u64>,
    taps: Vec<Taps>,
    now: Vec<Tap>,
    account: Account,
}

impl<R: Response> Receiver<R> {
    /// Makes a receiver of which nothing was received; `seed`: that of its noise.
    pub fn new(response: R, seed: u64) -> Self {
        let (transmitting, receiving) = response.antennas();
        let longest = response.longest();
        Self {
            seed,
            lines: vec![vec![[0; 2]; longest + STEP]; transmitting],
            next: None,
            from: Impulses::default(),
            to: Impulses::default(),
            interval: None,
            taps: vec![Taps::default(); transmitting * receiving],
            now: Vec::new(),
            account: Account::default(),
            response,
        }
    }

    /// Returns the channel.
    pub fn response(&self) -> &R {
        &self.response
    }

    /// Returns the account.
    pub fn account(&self) -> Account {
        self.account
    }

    /// Turns samples of all transmit antennas from sample `first` on, interleaved, into those of the receive antennas,
    /// interleaved, which `out` gets.
    ///
    /// # Panics
    /// `sent` is not a whole number of samples of each antenna.
    pub fn receive(&mut self, first: u64, sent: &[Sample], out: &mut Vec<Sample>) {
        let (transmitting, receiving) = self.response.antennas();
        assert!(sent.len().is_multiple_of(transmitting));
        // Each is written; those of the last block need not be cleared.
        out.resize(sent.len() / transmitting * receiving, [0; 2]);
        self.skip_to(first);
        let chunks = sent.chunks(CHUNK * transmitting);
        let results = out.chunks_mut(CHUNK * receiving);
        for (first, (chunk, result)) in (first..).step_by(CHUNK).zip(chunks.zip(results)) {
            self.receive_chunk(first, chunk, result);
        }
    }

    /// Continues at sample `first`. What was not sent is 0; time that goes back begins again.
    fn skip_to(&mut self, first: u64) {
        let kept = self.kept();
        let missing = match self.next {
            Some(next) if next <= first => first - next,
            _ => kept as u64,
        };
        if self.next.is_some_and(|next| next != first) {
            self.account.missing_samples += missing;
        }
        let missing = (missing as usize).min(kept);
        for line in &mut self.lines {
            line.drain(..missing);
            line.resize(kept, [0; 2]);
        }
        self.next = Some(first);
    }

    /// Returns how many samples before a block its samples depend on, if it begins within a step.
    fn kept(&self) -> usize {
        self.response.longest() + STEP
    }

    fn receive_chunk(&mut self, first: u64, sent: &[Sample], out: &mut [Sample]) {
        let (transmitting, receiving) = self.response.antennas();
        let kept = self.kept();
        for (antenna, line) in self.lines.iter_mut().enumerate() {
            match transmitting {
                1 => line.extend_from_slice(sent),
                _ => line.extend(sent.iter().skip(antenna).step_by(transmitting)),
            }
            line.resize(line.len() + STEP, [0; 2]);
        }
        let end = first + (sent.len() / transmitting) as u64;
        let mut at = first;
        while at < end {
            let step = at / STEP as u64;
            let until = ((step + 1) * STEP as u64).min(end);
            let offset = (at - first) as usize;
            let result = &mut out[offset * receiving..][..(until - at) as usize * receiving];
            self.receive_step(at, step, offset, result);
            at = until;
        }
        for line in &mut self.lines {
            line.truncate(line.len() - STEP);
            line.drain(..line.len() - kept);
        }
        self.next = Some(end);
    }

    /// Receives samples of step `step` from sample `at` on, which is sample `offset` of its block.
    fn receive_step(&mut self, at: u64, step: u64, offset: usize, result: &mut [Sample]) {
        let (transmitting, receiving) = self.response.antennas();
        let begins = step * STEP as u64;
        let length = self.response.interval();
        self.set_interval(begins / length);
        let share = (begins % length) as f64 / length as f64;
        let deviation = self.from.noise + (self.to.noise - self.from.noise) * share;
        let within = (at - begins) as usize;
        let longest = self.response.longest();
        let count = result.len() / receiving;
        self.account.samples += result.len() as u64;
        for antenna in 0..receiving {
            let mut sum: Block = [[0; STEP]; 2];
            for transmitter in 0..transmitting {
                let line = &self.lines[transmitter][offset + STEP - within..][..longest + STEP];
                if silent(line) {
                    continue;
                }
                let taps = &self.taps[antenna * transmitting + transmitter];
                if taps.limited() {
                    self.account.limited_samples += count as u64;
                }
                taps.between(share, &mut self.now);
                fir::add(line, longest, &self.now, taps.shift(), &mut sum);
            }
            if deviation > 0.0
                && let Some(time) = self.response.noise_time(begins)
            {
                let noise = Noise {
                    seed: self.seed,
                    antenna: antenna as u32,
                };
                noise.add(time / STEP as u64, deviation, &mut sum);
                self.account.noise_power += 2.0 * deviation.powi(2) * count as f64;
            }
            let result = &mut result[antenna..];
            let (saturated, power) = round(&sum, within..within + count, result, receiving);
            self.account.saturated_samples += saturated;
            self.account.power += power;
        }
    }

    fn set_interval(&mut self, interval: u64) {
        if self.interval == Some(interval) {
            return;
        }
        self.interval = Some(interval);
        let length = self.response.interval();
        let begins = interval * length;
        self.response.at(begins, begins, &mut self.from);
        self.response.at(begins + length, begins, &mut self.to);
        let ends = self.from.pairs.iter().zip(&self.to.pairs);
        for (taps, (from, to)) in self.taps.iter_mut().zip(ends) {
            taps.set(from, to);
        }
    }
}

/// Returns whether nothing was sent: in half of the slots, or more, with time division duplex.
fn silent(line: &[Sample]) -> bool {
    // Of what is sent, hardly any sample is 0: the first look answers for most.
    line[line.len() / 2] == [0; 2] && line.iter().fold(0, |any, [i, q]| any | i | q) == 0
}

/// Rounds the sums of `range`, in steps of 1/256, to samples, each `stride` after the last; returns how many were limited to 16 bits, and their power.
fn round(sum: &Block, range: Range<usize>, result: &mut [Sample], stride: usize) -> (u64, f64) {
    let (limited, power) = match (stride, <&mut [Sample; STEP]>::try_from(&mut *result)) {
        (1, Ok(whole)) => rounded(sum, range, whole),
        _ => {
            let mut kept = [[0; 2]; STEP];
            let counted = rounded(sum, range.clone(), &mut kept);
            let spaced = result.iter_mut().step_by(stride);
            spaced
                .zip(&kept[range])
                .for_each(|(result, kept)| *result = *kept);
            counted
        }
    };
    (limited, power as f64)
}

/// Writes the samples of a step; returns how many of `range` were limited, and the sum of their powers.
fn rounded(sum: &Block, range: Range<usize>, kept: &mut [Sample; STEP]) -> (u64, u64) {
    #[cfg(target_arch = "x86_64")]
    if range == (0..STEP) && std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: this processor has AVX2.
        return unsafe { rounded_with_avx2(sum, kept) };
    }
    rounded_one_by_one(sum, range, kept)
}

/// The reference.
fn rounded_one_by_one(sum: &Block, range: Range<usize>, kept: &mut [Sample; STEP]) -> (u64, u64) {
    let (mut limited, mut power) = (0, 0);
    let within = |one: i32| one.clamp(i32::from(i16::MIN), i32::from(i16::MAX));
    for n in range {
        let [i, q] = [0, 1].map(|part| (sum[part][n] + 128) >> 8);
        let (kept_i, kept_q) = (within(i), within(q));
        kept[n] = [kept_i as i16, kept_q as i16];
        limited += u64::from((i, q) != (kept_i, kept_q));
        // Each square is at most 2^30.
        power += u64::from((kept_i * kept_i) as u32 + (kept_q * kept_q) as u32);
    }
    (limited, power)
}

/// The same for a whole step, eight samples at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn rounded_with_avx2(sum: &Block, kept: &mut [Sample; STEP]) -> (u64, u64) {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_cmpeq_epi32,
        _mm256_loadu_si256, _mm256_madd_epi16, _mm256_or_si256, _mm256_packs_epi32,
        _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srai_epi32, _mm256_srli_epi32, _mm256_srli_epi64,
        _mm256_storeu_si256,
    };
    const LANES: usize = 8;
    let (half, bias) = (_mm256_set1_epi32(128), _mm256_set1_epi32(1 << 15));
    let low = _mm256_set1_epi64x(0xFFFF_FFFF);
    // In each half of a vector four I and four Q, to pairs.
    let pairs = _mm256_setr_epi8(
        0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12,
        13, 6, 7, 14, 15,
    );
    let zero = _mm256_setzero_si256();
    // The number of samples that were not limited, negative.
    let (mut unlimited, mut power) = (zero, zero);
    for first in (0..STEP).step_by(LANES) {
        let rounded = |part: usize| {
            let at = sum[part][first..][..LANES].as_ptr().cast::<__m256i>();
            // SAFETY: so many numbers are there.
            let sums = unsafe { _mm256_loadu_si256(at) };
            _mm256_srai_epi32(_mm256_add_epi32(sums, half), 8)
        };
        let (i, q) = (rounded(0), rounded(1));
        let samples = _mm256_shuffle_epi8(_mm256_packs_epi32(i, q), pairs);
        let at = kept[first..][..LANES].as_mut_ptr().cast::<__m256i>();
        // SAFETY: so many samples are there.
        unsafe { _mm256_storeu_si256(at, samples) };
        // 16 bits hold what, with 2^15 added, has no higher bits.
        let above = _mm256_or_si256(_mm256_add_epi32(i, bias), _mm256_add_epi32(q, bias));
        let held = _mm256_cmpeq_epi32(_mm256_srli_epi32(above, 16), zero);
        unlimited = _mm256_add_epi32(unlimited, held);
        let powers = _mm256_madd_epi16(samples, samples);
        power = _mm256_add_epi64(power, _mm256_and_si256(powers, low));
        power = _mm256_add_epi64(power, _mm256_srli_epi64(powers, 32));
    }
    let (mut counts, mut powers) = ([0_i32; LANES], [0_u64; LANES / 2]);
    // SAFETY: both have the size of a vector.
    unsafe {
        _mm256_storeu_si256(counts.as_mut_ptr().cast::<__m256i>(), unlimited);
        _mm256_storeu_si256(powers.as_mut_ptr().cast::<__m256i>(), power);
    }
    let limited = STEP as i32 + counts.iter().sum::<i32>();
    (limited as u64, powers.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_scalars_round_alike() {
        let mut word = 1_u32;
        for size in [1, 8, 12] {
            let sum = [(); 2].map(|()| {
                std::array::from_fn(|_| {
                    word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (word as i32) >> size
                })
            });
            let (mut fast, mut plain) = ([[0; 2]; STEP], [[0; 2]; STEP]);
            let counted = rounded(&sum, 0..STEP, &mut fast);
            assert_eq!(counted, rounded_one_by_one(&sum, 0..STEP, &mut plain));
            assert_eq!(fast, plain);
        }
        let least = [[i32::MIN >> 1; STEP]; 2];
        let mut kept = [[0; 2]; STEP];
        let power = STEP as u64 * (1 << 31);
        assert_eq!(rounded(&least, 0..STEP, &mut kept), (STEP as u64, power));
    }
}
