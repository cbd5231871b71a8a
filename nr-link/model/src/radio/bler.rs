// SPDX-License-Identifier: Apache-2.0
//! The block error ratio at an effective SINR.
//!
//! A code block of K bits over n symbols fails with the probability of the normal approximation
//! (Polyanskiy, Poor and Verdú 2010, equation 223):
//!
//! ```text
//! Q( (n·C(γ) − K + ½·log2 n) / sqrt(n·V(γ)) )
//! ```
//!
//! with the capacity C of the constellation and the dispersion V of the complex Gaussian channel. γ
//! is the SINR less the loss of the NR LDPC code and its decoder. That loss is fitted to published
//! link-level results of the PDSCH over AWGN (Sionna, BLER tables of PDSCH, MCS table 2); the tests
//! check 28 of these points. A transport block fails when one of its code blocks fails.

use super::decibel;
use super::{Constellation, Mcs};

/// Loss of code and decoder against the approximation, dB: a constant, and a term inversely
/// proportional to the block length, which matters for blocks of a few dozen bits.
const LOSS_DB: f64 = 0.85;
const LOSS_OF_SHORT_BLOCKS_DB_BITS: f64 = 20.0;

/// Largest code blocks of LDPC base graphs 1 and 2 (TS 38.212 clause 5.2.2), bits.
const LARGEST_BG1: u32 = 8448;
const LARGEST_BG2: u32 = 3840;

/// The segmentation of a transport block (TS 38.212 clauses 5.2.2, 7.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeBlocks {
    /// The number of code blocks.
    pub count: u32,
    /// Information bits of each code block, CRC included.
    pub bits: u32,
}

impl CodeBlocks {
    /// Returns the code blocks of a transport block of `tbs_bits`.
    pub fn of(tbs_bits: u32, mcs: Mcs) -> Self {
        let checksum = if tbs_bits > 3824 { 24 } else { 16 };
        let bits = tbs_bits + checksum;
        let rate = mcs.rate();
        let base_graph_2 = tbs_bits <= 292 || (tbs_bits <= 3824 && rate <= 0.67) || rate <= 0.25;
        let largest = if base_graph_2 {
            LARGEST_BG2
        } else {
            LARGEST_BG1
        };
        if bits <= largest {
            return Self { count: 1, bits };
        }
        let count = bits.div_ceil(largest - 24);
        Self {
            count,
            bits: bits / count + 24,
        }
    }
}

/// Returns the probability that a transport block fails at an effective SINR in dB.
pub fn block_error_ratio(mcs: Mcs, blocks: CodeBlocks, sinr_db: f64) -> f64 {
    let one = code_block_error_ratio(mcs, blocks.bits, sinr_db);
    1.0 - libm::pow(1.0 - one, f64::from(blocks.count))
}

/// Returns the effective SINR in dB at which the probability that a transport block fails is
/// `ratio`.
pub fn sinr_for(mcs: Mcs, blocks: CodeBlocks, ratio: f64) -> f64 {
    sinr_at(ratio, |sinr_db| block_error_ratio(mcs, blocks, sinr_db))
}

/// Returns the SINR in dB at which the share of blocks that fail, which falls with SINR, is `ratio`.
pub fn sinr_at(ratio: f64, failing: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-30.0, 50.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if failing(middle) > ratio {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

fn code_block_error_ratio(mcs: Mcs, bits: u32, sinr_db: f64) -> f64 {
    let bits = f64::from(bits);
    let symbols = bits / mcs.spectral_efficiency();
    let snr_db = sinr_db - LOSS_DB - LOSS_OF_SHORT_BLOCKS_DB_BITS / bits;
    let snr = decibel::to_ratio(snr_db);
    let capacity = Constellation::of(mcs.bits_per_symbol).capacity(snr_db);
    let log2_e = std::f64::consts::LOG2_E;
    let dispersion = snr * (snr + 2.0) / ((snr + 1.0) * (snr + 1.0)) * log2_e * log2_e;
    let margin = symbols * capacity - bits + 0.5 * libm::log2(symbols);
    0.5 * libm::erfc(margin / (2.0 * symbols * dispersion).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mcs(bits_per_symbol: u8, rate_by_1024: f64) -> Mcs {
        Mcs {
            bits_per_symbol,
            rate_by_2048: (2.0 * rate_by_1024) as u16,
        }
    }

    /// (Qm, R·1024, code block bits, SNR dB, BLER) of Sionna's PDSCH tables.
    const PUBLISHED: [(u8, f64, u32, f64, f64); 28] = [
        (2, 308., 24, -3.421, 0.890),
        (2, 308., 24, -1.842, 0.554),
        (2, 308., 24, -0.263, 0.171),
        (2, 308., 100, -1.842, 0.458),
        (2, 308., 500, -1.842, 0.399),
        (2, 308., 1000, -1.842, 0.357),
        (2, 308., 2000, -1.842, 0.390),
        (2, 449., 24, -0.263, 0.6425),
        (2, 449., 24, 1.316, 0.2605),
        (2, 449., 100, -0.263, 0.6925),
        (2, 449., 100, 1.316, 0.065),
        (2, 449., 500, -0.263, 0.9),
        (6, 466., 24, 9.211, 0.494),
        (6, 466., 100, 9.211, 0.532),
        (6, 466., 500, 9.211, 0.6275),
        (6, 466., 1000, 9.211, 0.6725),
        (6, 466., 2000, 9.211, 0.813),
        (6, 517., 100, 9.211, 0.824),
        (6, 517., 100, 10.789, 0.228),
        (6, 517., 500, 10.789, 0.160),
        (8, 916.5, 500, 23.421, 0.660),
        (8, 916.5, 500, 25.0, 0.023),
        (8, 916.5, 1000, 23.421, 0.733),
        (8, 916.5, 2000, 23.421, 0.801),
        (8, 948., 100, 25.0, 0.403),
        (8, 948., 500, 25.0, 0.2213),
        (8, 948., 1000, 25.0, 0.1587),
        (8, 948., 2000, 25.0, 0.1503),
    ];

    #[test]
    fn fits_published_link_level_results() {
        let mut squares = 0.0;
        for (bits_per_symbol, rate, bits, snr_db, ratio) in PUBLISHED {
            let blocks = CodeBlocks { count: 1, bits };
            let error_db = sinr_for(mcs(bits_per_symbol, rate), blocks, ratio) - snr_db;
            assert!(
                error_db.abs() < 0.55,
                "Qm {bits_per_symbol} R {rate} K {bits}: {error_db} dB"
            );
            squares += error_db * error_db;
        }
        let rms_db = (squares / PUBLISHED.len() as f64).sqrt();
        assert!(rms_db < 0.25, "{rms_db} dB");
    }

    #[test]
    fn falls_with_sinr_and_rises_with_length() {
        let scheme = mcs(6, 666.);
        let short = CodeBlocks {
            count: 1,
            bits: 8448,
        };
        let long = CodeBlocks {
            count: 12,
            bits: 8448,
        };
        let mut last = 1.0;
        for step in 0..200 {
            let sinr_db = 5.0 + 0.1 * f64::from(step);
            let ratio = block_error_ratio(scheme, short, sinr_db);
            assert!(ratio <= last + 1e-12);
            assert!(block_error_ratio(scheme, long, sinr_db) >= ratio);
            last = ratio;
        }
        assert!(last < 1e-9);
    }

    #[test]
    fn cuts_as_38_212() {
        // From 3825 bits on the CRC has 24 bits; with it, 8448 bits fill one block of base graph 1.
        assert_eq!(
            CodeBlocks::of(8424, mcs(6, 948.)),
            CodeBlocks {
                count: 1,
                bits: 8448
            }
        );
        assert_eq!(CodeBlocks::of(8456, mcs(6, 948.)).count, 2);
        assert_eq!(
            CodeBlocks::of(3824, mcs(2, 120.)),
            CodeBlocks {
                count: 1,
                bits: 3840
            }
        );
    }
}
