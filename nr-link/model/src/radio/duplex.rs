// SPDX-License-Identifier: Apache-2.0
//! The direction of each slot (TS 38.213 clause 11.1, TS 38.331 TDD-UL-DL-Pattern).

use serde::{Deserialize, Serialize};

use super::Numerology;
use crate::problem::{Violation, violation};
use crate::time::Slot;

/// dl-UL-TransmissionPeriodicity of TS 38.331, with its v1530 extension, µs.
const PERIODS_US: [u64; 10] = [
    500, 625, 1_000, 1_250, 2_000, 2_500, 3_000, 4_000, 5_000, 10_000,
];

/// OFDM symbols of a slot with normal cyclic prefix (TS 38.211 table 4.3.2-1).
pub const SYMBOLS_PER_SLOT: u8 = 14;

/// The directions of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlotKind {
    /// Downlink only.
    Downlink,
    /// Uplink only.
    Uplink,
    /// Downlink first, then a guard, then uplink.
    Special {
        /// Downlink symbols at the start.
        dl_symbols: u8,
        /// Uplink symbols at the end.
        ul_symbols: u8,
    },
    /// Both directions, on paired carriers (FDD).
    Paired,
}

impl SlotKind {
    /// Returns the number of downlink symbols, PDCCH included.
    pub fn dl_symbols(self) -> u8 {
        match self {
            Self::Downlink | Self::Paired => SYMBOLS_PER_SLOT,
            Self::Special { dl_symbols, .. } => dl_symbols,
            Self::Uplink => 0,
        }
    }

    /// Returns the number of uplink symbols.
    pub fn ul_symbols(self) -> u8 {
        match self {
            Self::Uplink | Self::Paired => SYMBOLS_PER_SLOT,
            Self::Special { ul_symbols, .. } => ul_symbols,
            Self::Downlink => 0,
        }
    }

    /// Returns whether PUSCH may be scheduled, which is in full uplink slots only. Uplink symbols
    /// of a special slot carry only PUCCH (acknowledgements, scheduling requests) and SRS.
    pub fn carries_pusch(self) -> bool {
        self.ul_symbols() == SYMBOLS_PER_SLOT
    }

    /// Returns whether the UE can send PUCCH.
    pub fn carries_pucch(self) -> bool {
        self.ul_symbols() > 0
    }
}

/// A TDD pattern, which repeats.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TddPattern(Vec<SlotKind>);

impl TddPattern {
    /// Parses a pattern of the letters `D`, `S` and `U`.
    ///
    /// # Errors
    /// The first rule that the pattern breaks.
    pub fn new(word: &str, dl_symbols: u8, ul_symbols: u8) -> Result<Self, Violation> {
        if u16::from(dl_symbols) + u16::from(ul_symbols) > u16::from(SYMBOLS_PER_SLOT) {
            return Err(violation!(
                "a special slot of {dl_symbols} + {ul_symbols} symbols exceeds {SYMBOLS_PER_SLOT} (TS 38.211 table 4.3.2-1)",
                "Use fewer symbols, so that some remain for the guard"
            ));
        }
        let kinds: Vec<_> = word
            .chars()
            .map(|letter| match letter {
                'D' => Ok(SlotKind::Downlink),
                'U' => Ok(SlotKind::Uplink),
                'S' => Ok(SlotKind::Special {
                    dl_symbols,
                    ul_symbols,
                }),
                other => Err(violation!(
                    "{other:?} is not a type of slot",
                    "Use D, S and U only"
                )),
            })
            .collect::<Result<_, _>>()?;
        let has = |test: fn(SlotKind) -> bool| kinds.iter().any(|&kind| test(kind));
        if !has(|kind| kind == SlotKind::Downlink) || !has(SlotKind::carries_pusch) {
            return Err(violation!(
                "{word:?} has no downlink slot or no uplink slot",
                "Use both, for example DDDDDDDSUU"
            ));
        }
        Ok(Self(kinds))
    }

    /// Checks that the pattern's length is a period of TS 38.331 (dl-UL-TransmissionPeriodicity).
    ///
    /// # Errors
    /// The length is not such a period.
    pub fn check_period(&self, numerology: Numerology) -> Result<(), Violation> {
        let period_us = self.slots() as u64 * numerology.slot_ns() / 1_000;
        if PERIODS_US.contains(&period_us) {
            return Ok(());
        }
        let fitting: Vec<_> = PERIODS_US
            .iter()
            .map(|us| us * 1_000)
            .filter(|ns| ns % numerology.slot_ns() == 0)
            .map(|ns| (ns / numerology.slot_ns()).to_string())
            .collect();
        Err(Violation::new(
            format!(
                "a pattern of {} slots lasts {} ms, which is not a period of TDD-UL-DL-Pattern (TS 38.331)",
                self.slots(),
                period_us as f64 / 1e3
            ),
            format!("Use a pattern of {} slots", fitting.join(", ")),
        ))
    }

    /// Returns the pattern's length in slots.
    pub fn slots(&self) -> usize {
        self.0.len()
    }
}

/// The way in which the directions share time or spectrum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Duplex {
    /// One carrier, alternating in time.
    Tdd(TddPattern),
    /// Two carriers of the same width.
    Fdd,
}

impl Duplex {
    /// Returns the directions of a slot.
    pub fn slot(&self, slot: Slot) -> SlotKind {
        match self {
            Self::Tdd(TddPattern(kinds)) => kinds[slot.phase(kinds.len())],
            Self::Fdd => SlotKind::Paired,
        }
    }
}
