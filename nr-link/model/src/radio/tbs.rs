// SPDX-License-Identifier: Apache-2.0
//! Transport block size: TS 38.214 clause 5.1.3.2, in exact integer arithmetic.

use super::Mcs;

/// The largest number of resource elements that counts for a PRB (step 1).
const MOST_RE_PER_PRB: u32 = 156;

/// Sizes for up to 3824 bits: table 5.1.3.2-1.
#[rustfmt::skip]
const SMALL_SIZES: [u32; 93] = [
    24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184,
    192, 208, 224, 240, 256, 272, 288, 304, 320, 336, 352, 368, 384, 408, 432, 456, 480, 504, 528,
    552, 576, 608, 640, 672, 704, 736, 768, 808, 848, 888, 928, 984, 1032, 1064, 1128, 1160, 1192,
    1224, 1256, 1288, 1320, 1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088,
    2152, 2216, 2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496,
    3624, 3752, 3824,
];

/// The resources allocated to a transport block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocation {
    /// PRBs.
    pub prb: u16,
    /// Resource elements of each PRB, after DM-RS: N'RE of step 1.
    pub re_per_prb: u16,
    /// MIMO layers.
    pub layers: u8,
}

impl Allocation {
    /// Returns the number of resource elements, summed over layers.
    pub fn elements(self) -> f64 {
        f64::from(self.prb) * f64::from(self.re_per_prb) * f64::from(self.layers)
    }

    /// Returns the same allocation with another number of PRBs.
    pub fn with_prb(self, prb: u16) -> Self {
        Self { prb, ..self }
    }
}

/// Returns the bits of a transport block; 0 for an empty allocation.
pub fn transport_block_bits(mcs: Mcs, allocation: Allocation) -> u32 {
    let re = u64::from(u32::from(allocation.re_per_prb).min(MOST_RE_PER_PRB))
        * u64::from(allocation.prb);
    // N_info in units of 1/2048 bit, so that all quotients below are exact.
    let info = re
        * u64::from(mcs.rate_by_2048)
        * u64::from(mcs.bits_per_symbol)
        * u64::from(allocation.layers);
    if info == 0 {
        0
    } else if info <= 3824 << 11 {
        small(info)
    } else {
        large(info, mcs)
    }
}

/// Step 3: up to 3824 bits, from the table.
fn small(info: u64) -> u32 {
    let exponent = (info >> 11)
        .checked_ilog2()
        .unwrap_or(0)
        .saturating_sub(6)
        .max(3);
    let quantised = ((info >> (11 + exponent)) << exponent).max(24) as u32;
    SMALL_SIZES[SMALL_SIZES.partition_point(|&size| size < quantised)]
}

/// Step 4: more than 3824 bits, in equal code blocks of whole bytes.
fn large(info: u64, mcs: Mcs) -> u32 {
    let above = info - (24 << 11);
    let exponent = (above >> 11).ilog2() - 5;
    // Round to nearest; ties round up.
    let rounded = (above + (1 << (10 + exponent))) >> (11 + exponent);
    let quantised = (rounded << exponent).max(3840) as u32;
    let blocks = if mcs.rate_by_2048 <= 512 {
        (quantised + 24).div_ceil(3816)
    } else if quantised > 8424 {
        (quantised + 24).div_ceil(8424)
    } else {
        1
    };
    8 * blocks * (quantised + 24).div_ceil(8 * blocks) - 24
}

#[cfg(test)]
mod tests;
