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
    let before = match direction {
        Direction::Downlink => PDCCH_SYMBOLS,
        Direction::Uplink => 0,
    };
    let dmrs_symbols = if before + symbols >= 8 { 2 } else { 1 };
    let dmrs_subcarriers = if layers > 2 { 12 } else { 6 };
    let all = u16::from(symbols) * SUBCARRIERS_PER_PRB as u16;
    all.saturating_sub(dmrs_symbols * dmrs_subcarriers)
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
