// SPDX-License-Identifier: Apache-2.0
//! A second, independent implementation of the standard's text, compared for all inputs.

use super::*;
use crate::radio::McsTable;

/// Table 5.1.3.2-1 as runs of constant step: (first size, step), each up to the next run.
#[rustfmt::skip]
const STEPS: [(u32, u32); 21] = [
    (24, 8), (192, 16), (384, 24), (576, 32), (768, 40), (928, 56), (984, 48), (1032, 32),
    (1064, 64), (1128, 32), (1352, 64), (1928, 96), (2024, 64), (2280, 128), (2408, 64),
    (2856, 120), (2976, 128), (3104, 136), (3240, 128), (3752, 72), (3824, 0),
];

fn sizes_from_steps() -> Vec<u32> {
    let mut sizes = Vec::new();
    for pair in STEPS.windows(2) {
        let ((mut size, step), (end, _)) = (pair[0], pair[1]);
        while size < end {
            sizes.push(size);
            size += step;
        }
    }
    sizes.push(3824);
    sizes
}

/// Implements clause 5.1.3.2 literally, in floating point and with the spectral efficiency.
fn literal_implementation(
    efficiency_1024: f64,
    rate: f64,
    allocation: Allocation,
    sizes: &[u32],
) -> u32 {
    let n_re = f64::from(allocation.re_per_prb.min(156)) * f64::from(allocation.prb);
    let n_info = n_re * efficiency_1024 * f64::from(allocation.layers) / 1024.0;
    if n_info <= 3824.0 {
        let n = (n_info.log2().floor() - 6.0).max(3.0);
        let n_info = (2f64.powf(n) * (n_info / 2f64.powf(n)).floor()).max(24.0);
        return *sizes
            .iter()
            .find(|&&size| f64::from(size) >= n_info)
            .expect("covers 3824");
    }
    let n = (n_info - 24.0).log2().floor() - 5.0;
    let n_info = (2f64.powf(n) * ((n_info - 24.0) / 2f64.powf(n) + 0.5).floor()).max(3840.0);
    let c = if rate <= 0.25 {
        ((n_info + 24.0) / 3816.0).ceil()
    } else if n_info > 8424.0 {
        ((n_info + 24.0) / 8424.0).ceil()
    } else {
        1.0
    };
    (8.0 * c * ((n_info + 24.0) / (8.0 * c)).ceil() - 24.0) as u32
}

#[test]
fn the_table_has_the_same_sizes_in_both_forms() {
    assert_eq!(sizes_from_steps(), SMALL_SIZES);
}

#[test]
fn equals_the_second_implementation_for_all_mcs_prbs_layers_and_symbols() {
    let sizes = sizes_from_steps();
    for table in [McsTable::Qam64, McsTable::Qam256, McsTable::Qam64LowSe] {
        for mcs in table.schemes() {
            let rate = f64::from(mcs.rate_by_2048) / 2048.0;
            let efficiency_1024 = f64::from(mcs.bits_per_symbol) * rate * 1024.0;
            for prb in 1..=275 {
                for layers in 1..=4 {
                    for re_per_prb in (6..=168).step_by(6) {
                        let allocation = Allocation {
                            prb,
                            re_per_prb,
                            layers,
                        };
                        assert_eq!(
                            transport_block_bits(mcs, allocation),
                            literal_implementation(efficiency_1024, rate, allocation, &sizes),
                            "{mcs:?} {allocation:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn an_empty_allocation_carries_nothing() {
    let allocation = Allocation {
        prb: 0,
        re_per_prb: 144,
        layers: 1,
    };
    assert_eq!(
        transport_block_bits(McsTable::Qam64.schemes()[10], allocation),
        0
    );
}
