// SPDX-License-Identifier: Apache-2.0
//! What a slot keeps for control and reference signals.
//!
//! Downlink: PDCCH in one symbol across the carrier. DM-RS of configuration type 1 with one CDM
//! group without data (6 of 12 subcarriers): one front-loaded symbol, and one additional from
//! eight symbols on (TS 38.211 clause 7.4.1.1.2, dmrs-AdditionalPosition pos1). For more than two
//! layers both CDM groups are taken (12 of 12). SSB, CSI-RS and SRS take elements that block sizes
//! do not count (xOverhead 0): they are left out.

use super::duplex::SlotKind;
use super::grid::SUBCARRIERS_PER_PRB;
use crate::Direction;

/// Symbols of PDCCH.
pub const PDCCH_SYMBOLS: u8 = 1;

/// Symbols of a slot that carry PDSCH or PUSCH, their DM-RS included; 0 if too few do.
pub fn shared_symbols(kind: SlotKind, direction: Direction) -> u8 {
    let symbols = match direction {
        Direction::Downlink => kind.dl_symbols().saturating_sub(PDCCH_SYMBOLS),
        Direction::Uplink if kind.carries_pusch() => kind.ul_symbols(),
        Direction::Uplink => 0,
    };
    // The shortest allocation of mapping type A (TS 38.214 table 5.1.2.1-1).
    if symbols < 3 { 0 } else { symbols }
}

/// Resource elements of a PRB for data, of as many [`shared_symbols`].
pub fn data_re_per_prb(symbols: u8, layers: u8) -> u16 {
    let dmrs_symbols = if symbols >= 8 { 2 } else { 1 };
    let dmrs_subcarriers = if layers > 2 { 12 } else { 6 };
    let all = u16::from(symbols) * SUBCARRIERS_PER_PRB as u16;
    all.saturating_sub(dmrs_symbols * dmrs_subcarriers)
}
