// SPDX-License-Identifier: Apache-2.0
//! Channel quality indicators: TS 38.214 tables 5.2.2.1-2 to -4.
//!
//! Each table belongs to the MCS table with the same highest modulation; index 0 is "out of range".

use super::bler::{CodeBlocks, sinr_for};
use super::{Constellation, Mcs, McsTable};

/// Rows with one modulation order: (Qm, code rates × 1024 in order of the index from 1).
type Runs = &'static [(u8, &'static [u16])];

const QAM64: Runs = &[
    (2, &[78, 120, 193, 308, 449, 602]),
    (4, &[378, 490, 616]),
    (6, &[466, 567, 666, 772, 873, 948]),
];
const QAM256: Runs = &[
    (2, &[78, 193, 449]),
    (4, &[378, 490, 616]),
    (6, &[466, 567, 666, 772, 873]),
    (8, &[711, 797, 885, 948]),
];
const QAM64_LOW_SE: Runs = &[
    (2, &[30, 50, 78, 120, 193, 308, 449, 602]),
    (4, &[378, 490, 616]),
    (6, &[466, 567, 666, 772]),
];

/// The BLER up to which a UE reports a CQI (clause 5.2.2.1), for tables 1 and 2; it is 0.00001 for
/// table 3.
const REPORTED_BLER: f64 = 0.1;
const REPORTED_BLER_LOW_SE: f64 = 0.000_01;
/// The code block for which thresholds are computed: the largest.
const REFERENCE: CodeBlocks = CodeBlocks {
    count: 1,
    bits: 8448,
};

/// A CQI table with the SINR threshold of each index.
#[derive(Debug, Clone)]
pub struct CqiTable {
    /// (Qm, threshold in dB) of indices 1 to 15.
    rows: Vec<(u8, f64)>,
}

impl CqiTable {
    /// Makes the table that belongs to an MCS table.
    pub fn new(table: McsTable) -> Self {
        let ratio = match table {
            McsTable::Qam64LowSe => REPORTED_BLER_LOW_SE,
            _ => REPORTED_BLER,
        };
        let rows = schemes(table)
            .into_iter()
            .map(|mcs| (mcs.bits_per_symbol, sinr_for(mcs, REFERENCE, ratio)))
            .collect();
        Self { rows }
    }

    /// Returns the highest CQI that these SINRs (dB, one for each part of the carrier) support; 0
    /// if none.
    pub fn report(&self, sinr_db: &[f32]) -> u8 {
        let mut by_modulation = [None; 5];
        for (index, &(bits, threshold_db)) in self.rows.iter().enumerate().rev() {
            let effective_db = *by_modulation[usize::from(bits / 2)]
                .get_or_insert_with(|| Constellation::of(bits).effective_db(sinr_db));
            if effective_db >= threshold_db {
                return index as u8 + 1;
            }
        }
        0
    }

    /// Returns the SINR in dB that the scheduler assumes for a reported CQI (1 to 15).
    pub fn sinr_db(&self, cqi: u8) -> f64 {
        self.rows[usize::from(cqi) - 1].1
    }
}

fn schemes(table: McsTable) -> Vec<Mcs> {
    let runs = match table {
        McsTable::Qam64 => QAM64,
        McsTable::Qam256 => QAM256,
        McsTable::Qam64LowSe => QAM64_LOW_SE,
    };
    runs.iter()
        .flat_map(|&(bits_per_symbol, rates)| {
            rates.iter().map(move |&rate| Mcs {
                bits_per_symbol,
                rate_by_2048: rate * 2,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The efficiency columns of tables 5.2.2.1-2 to -4.
    const EFFICIENCY: [(McsTable, [f64; 15]); 3] = [
        (
            McsTable::Qam64,
            [
                0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305,
                3.3223, 3.9023, 4.5234, 5.1152, 5.5547,
            ],
        ),
        (
            McsTable::Qam256,
            [
                0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234,
                5.1152, 5.5547, 6.2266, 6.9141, 7.4063,
            ],
        ),
        (
            McsTable::Qam64LowSe,
            [
                0.0586, 0.0977, 0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141,
                2.4063, 2.7305, 3.3223, 3.9023, 4.5234,
            ],
        ),
    ];

    #[test]
    fn rates_and_orders_give_the_printed_efficiency() {
        for (table, printed) in EFFICIENCY {
            let computed: Vec<_> = schemes(table)
                .iter()
                .map(|mcs| mcs.spectral_efficiency())
                .collect();
            assert_eq!(computed.len(), printed.len());
            for (computed, printed) in computed.iter().zip(printed) {
                assert!(
                    (computed - printed).abs() <= 0.5e-4 + 1e-9,
                    "{table:?}: {computed} is not {printed}"
                );
            }
        }
    }

    #[test]
    fn reports_the_highest_cqi_that_the_channel_supports() {
        let table = CqiTable::new(McsTable::Qam64);
        assert_eq!(table.report(&[-20.0; 4]), 0);
        assert_eq!(table.report(&[45.0; 4]), 15);
        for cqi in 1..=15 {
            let just = table.sinr_db(cqi) as f32;
            assert_eq!(table.report(&[just + 0.01; 3]), cqi);
        }
    }
}
