// SPDX-License-Identifier: Apache-2.0
//! The resources of a slot that control and reference signals take.
//!
//! Downlink: PDCCH takes one symbol across the carrier. DM-RS has configuration type 1 with one CDM
//! group without data (6 of 12 subcarriers): one front-loaded symbol, and an additional one if the
//! last data symbol is the slot's eighth or later (TS 38.211 tables 7.4.1.1.2-3 and 6.4.1.1.3-3,
//! mapping type A, dmrs-AdditionalPosition pos1: l_d counts from the slot's first symbol). More
//! than two layers take both CDM groups (12 of 12). SSB, CSI-RS and SRS are left out: with
//! xOverhead 0, block sizes do not count their elements.

use super::duplex::SlotKind;
use super::grid::SUBCARRIERS_PER_PRB;
use crate::Direction;

/// Symbols of PDCCH.
pub const PDCCH_SYMBOLS: u8 = 1;

/// The symbols of a slot that carry PDSCH or PUSCH, and how many of them have DM-RS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DataSymbols {
    /// All, those with DM-RS included.
    pub all: u8,
    /// Those with DM-RS.
    pub dmrs: u8,
}

impl DataSymbols {
    /// Returns those of a gNB without habits.
    pub fn ideal(kind: SlotKind, direction: Direction) -> Self {
        let all = shared_symbols(kind, direction);
        Self {
            all,
            dmrs: dmrs_symbols(all, direction),
        }
    }

    /// Returns the data resource elements of a PRB.
    pub fn re_per_prb(self, layers: u8) -> u16 {
        let dmrs_subcarriers = if layers > 2 { 12 } else { 6 };
        let all = u16::from(self.all) * SUBCARRIERS_PER_PRB as u16;
        all.saturating_sub(u16::from(self.dmrs) * dmrs_subcarriers)
    }
}

/// Returns the symbols of a slot that carry PDSCH or PUSCH, their DM-RS included; 0 if the slot has
/// too few.
pub fn shared_symbols(kind: SlotKind, direction: Direction) -> u8 {
    let symbols = match direction {
        Direction::Downlink => kind.dl_symbols().saturating_sub(PDCCH_SYMBOLS),
        Direction::Uplink if kind.carries_pusch() => kind.ul_symbols(),
        Direction::Uplink => 0,
    };
    // The shortest allocation of mapping type A has 3 symbols (TS 38.214 table 5.1.2.1-1).
    if symbols < 3 { 0 } else { symbols }
}

/// Returns the data resource elements of a PRB that has this number of [`shared_symbols`].
pub fn data_re_per_prb(symbols: u8, direction: Direction, layers: u8) -> u16 {
    let symbols = DataSymbols {
        all: symbols,
        dmrs: dmrs_symbols(symbols, direction),
    };
    symbols.re_per_prb(layers)
}

fn dmrs_symbols(symbols: u8, direction: Direction) -> u8 {
    let before = match direction {
        Direction::Downlink => PDCCH_SYMBOLS,
        Direction::Uplink => 0,
    };
    if before + symbols >= 8 { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_special_slot_has_the_dm_rs_of_its_last_downlink_symbol() {
        // TS 38.211 table 7.4.1.1.2-3, pos1: l0 alone up to l_d = 7, then with an additional one at 7, 9 or 11.
        let dmrs_symbols = [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2];
        for (dl_symbols, dmrs_symbols) in (4..=14).zip(dmrs_symbols) {
            let kind = SlotKind::Special {
                dl_symbols,
                ul_symbols: 0,
            };
            let symbols = shared_symbols(kind, Direction::Downlink);
            let elements = data_re_per_prb(symbols, Direction::Downlink, 1);
            let expected = 12 * (u16::from(dl_symbols) - 1) - 6 * dmrs_symbols;
            assert_eq!(elements, expected, "{dl_symbols} symbols");
        }
        assert_eq!(data_re_per_prb(14, Direction::Uplink, 1), 156);
    }
}
