// SPDX-License-Identifier: Apache-2.0
//! Modulation and coding schemes: TS 38.214 tables 5.1.3.1-1 to -3.
//!
//! The tables hold the modulation order and the code rate × 1024. The spectral efficiency, which
//! the standard lists too, is in the tests, where it checks the transcription.

use serde::{Deserialize, Serialize};

/// A modulation and coding scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mcs {
    /// Modulation order Qm: bits per symbol.
    pub bits_per_symbol: u8,
    /// Code rate R × 2048, since two rates of the standard are multiples of 1/2048 only.
    pub rate_by_2048: u16,
}

impl Mcs {
    /// Returns the code rate R.
    pub fn rate(self) -> f64 {
        f64::from(self.rate_by_2048) / 2048.0
    }

    /// Returns the information bits per symbol and layer.
    pub fn spectral_efficiency(self) -> f64 {
        f64::from(self.bits_per_symbol) * self.rate()
    }
}

/// An MCS table of TS 38.214 clause 5.1.3.1.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize, schemars::JsonSchema,
)]
pub enum McsTable {
    /// Table 1, up to 64QAM.
    #[default]
    #[serde(rename = "64qam")]
    Qam64,
    /// Table 2, up to 256QAM.
    #[serde(rename = "256qam")]
    Qam256,
    /// Table 3, up to 64QAM, with low spectral efficiency.
    #[serde(rename = "64qam-low-se")]
    Qam64LowSe,
}

/// The rows of a table by modulation order: (Qm, code rates × 1024 in order of the MCS index).
type RowsByOrder = &'static [(u8, &'static [f32])];

const QAM64: RowsByOrder = &[
    (
        2,
        &[120., 157., 193., 251., 308., 379., 449., 526., 602., 679.],
    ),
    (4, &[340., 378., 434., 490., 553., 616., 658.]),
    (
        6,
        &[
            438., 466., 517., 567., 616., 666., 719., 772., 822., 873., 910., 948.,
        ],
    ),
];

const QAM256: RowsByOrder = &[
    (2, &[120., 193., 308., 449., 602.]),
    (4, &[378., 434., 490., 553., 616., 658.]),
    (6, &[466., 517., 567., 616., 666., 719., 772., 822., 873.]),
    (8, &[682.5, 711., 754., 797., 841., 885., 916.5, 948.]),
];

const QAM64_LOW_SE: RowsByOrder = &[
    (
        2,
        &[
            30., 40., 50., 64., 78., 99., 120., 157., 193., 251., 308., 379., 449., 526., 602.,
        ],
    ),
    (4, &[340., 378., 434., 490., 553., 616.]),
    (6, &[438., 466., 517., 567., 616., 666., 719., 772.]),
];

impl McsTable {
    /// Returns the table's number in `mac_dl_mcs_table`: 0, 1 or 2.
    pub fn index(self) -> u8 {
        match self {
            Self::Qam64 => 0,
            Self::Qam256 => 1,
            Self::Qam64LowSe => 2,
        }
    }

    /// Returns the table's schemes in order of the MCS index, without the reserved ones.
    pub fn schemes(self) -> Vec<Mcs> {
        let rows = match self {
            Self::Qam64 => QAM64,
            Self::Qam256 => QAM256,
            Self::Qam64LowSe => QAM64_LOW_SE,
        };
        rows.iter()
            .flat_map(|&(bits_per_symbol, rates)| {
                rates.iter().map(move |&rate| Mcs {
                    bits_per_symbol,
                    rate_by_2048: (rate * 2.0) as u16,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The spectral efficiency columns of tables 5.1.3.1-1 to -3.
    const EFFICIENCY_QAM64: [f64; 29] = [
        0.2344, 0.3066, 0.3770, 0.4902, 0.6016, 0.7402, 0.8770, 1.0273, 1.1758, 1.3262, 1.3281,
        1.4766, 1.6953, 1.9141, 2.1602, 2.4063, 2.5703, 2.5664, 2.7305, 3.0293, 3.3223, 3.6094,
        3.9023, 4.2129, 4.5234, 4.8164, 5.1152, 5.3320, 5.5547,
    ];
    const EFFICIENCY_QAM256: [f64; 28] = [
        0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.6953, 1.9141, 2.1602, 2.4063, 2.5703,
        2.7305, 3.0293, 3.3223, 3.6094, 3.9023, 4.2129, 4.5234, 4.8164, 5.1152, 5.3320, 5.5547,
        5.8906, 6.2266, 6.5703, 6.9141, 7.1602, 7.4063,
    ];
    const EFFICIENCY_QAM64_LOW_SE: [f64; 29] = [
        0.0586, 0.0781, 0.0977, 0.1250, 0.1523, 0.1934, 0.2344, 0.3066, 0.3770, 0.4902, 0.6016,
        0.7402, 0.8770, 1.0273, 1.1758, 1.3281, 1.4766, 1.6953, 1.9141, 2.1602, 2.4063, 2.5664,
        2.7305, 3.0293, 3.3223, 3.6094, 3.9023, 4.2129, 4.5234,
    ];

    #[test]
    fn rates_and_orders_give_the_printed_spectral_efficiency() {
        let tables: [(McsTable, &[f64]); 3] = [
            (McsTable::Qam64, &EFFICIENCY_QAM64),
            (McsTable::Qam256, &EFFICIENCY_QAM256),
            (McsTable::Qam64LowSe, &EFFICIENCY_QAM64_LOW_SE),
        ];
        for (table, printed) in tables {
            let schemes = table.schemes();
            assert_eq!(schemes.len(), printed.len(), "{table:?}");
            for (index, (mcs, &printed)) in schemes.iter().zip(printed).enumerate() {
                let computed = mcs.spectral_efficiency();
                assert!(
                    (computed - printed).abs() <= 0.5e-4 + 1e-9,
                    "{table:?} MCS {index}: {computed} is not {printed}"
                );
            }
        }
    }
}
