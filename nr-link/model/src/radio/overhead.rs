// SPDX-License-Identifier: Apache-2.0
//! What a slot keeps for control and reference signals.
//!
//! Downlink: PDCCH in one symbol across the carrier. DM-RS of configuration type 1 with one CDM
//! group without data (6 of 12 subcarriers): one front-loaded symbol, and one additional from
//! eight symbols on (TS 38.211 clause 7.4.1.1.2, dmrs-AdditionalPosition pos1). For more than two
//! layers both CDM groups are taken (12 of 12). SSB, CSI-RS and SRS take elements that block sizes
//! do not count (xOverhead 0): they are left out.

use super::grid::SUBCARRIERS_PER_PRB;

/// Symbols of PDCCH.
pub const PDCCH_SYMBOLS: u8 = 1;

/// Resource elements of a PRB for PDSCH, of this many downlink symbols.
pub fn pdsch_re_per_prb(dl_symbols: u8, layers: u8) -> u16 {
    data_re_per_prb(dl_symbols.saturating_sub(PDCCH_SYMBOLS), layers)
}

/// Resource elements of a PRB for PUSCH, of this many uplink symbols.
pub fn pusch_re_per_prb(ul_symbols: u8, layers: u8) -> u16 {
    data_re_per_prb(ul_symbols, layers)
}

fn data_re_per_prb(symbols: u8, layers: u8) -> u16 {
    // The shortest allocation of mapping type A (TS 38.214 table 5.1.2.1-1).
    if symbols < 3 {
        return 0;
    }
    let dmrs_symbols = if symbols >= 8 { 2 } else { 1 };
    let dmrs_subcarriers = if layers > 2 { 12 } else { 6 };
    u16::from(symbols) * SUBCARRIERS_PER_PRB as u16 - dmrs_symbols * dmrs_subcarriers
}
