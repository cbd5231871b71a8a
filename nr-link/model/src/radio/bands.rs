// SPDX-License-Identifier: Apache-2.0
//! The bandwidths that a carrier may have: TS 38.101-1 and 38.101-2, tables 5.3.2-1.

use super::Numerology;
use crate::problem::Violation;

/// A frequency range of TS 38.104 table 5.1-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrequencyRange {
    /// 410 to 7125 MHz.
    Fr1,
    /// 24.25 to 52.6 GHz (FR2-1).
    Fr2,
}

/// Channel bandwidth in MHz and its PRBs.
type Widths = &'static [(u16, u16)];

const FR1_15_KHZ: Widths = &[
    (5, 25),
    (10, 52),
    (15, 79),
    (20, 106),
    (25, 133),
    (30, 160),
    (35, 188),
    (40, 216),
    (45, 242),
    (50, 270),
];
const FR1_30_KHZ: Widths = &[
    (5, 11),
    (10, 24),
    (15, 38),
    (20, 51),
    (25, 65),
    (30, 78),
    (35, 92),
    (40, 106),
    (45, 119),
    (50, 133),
    (60, 162),
    (70, 189),
    (80, 217),
    (90, 245),
    (100, 273),
];
const FR1_60_KHZ: Widths = &[
    (10, 11),
    (15, 18),
    (20, 24),
    (25, 31),
    (30, 38),
    (35, 44),
    (40, 51),
    (45, 58),
    (50, 65),
    (60, 79),
    (70, 93),
    (80, 107),
    (90, 121),
    (100, 135),
];
const FR2_60_KHZ: Widths = &[(50, 66), (100, 132), (200, 264)];
const FR2_120_KHZ: Widths = &[(50, 32), (100, 66), (200, 132), (400, 264)];

/// Returns the frequency range of a carrier.
///
/// # Errors
/// The frequency is in neither range.
pub fn frequency_range(carrier_hz: f64) -> Result<FrequencyRange, Violation> {
    let mhz = carrier_hz / 1e6;
    if (410.0..=7125.0).contains(&mhz) {
        Ok(FrequencyRange::Fr1)
    } else if (24_250.0..=52_600.0).contains(&mhz) {
        Ok(FrequencyRange::Fr2)
    } else {
        Err(Violation::new(
            format!(
                "{} GHz is in neither frequency range (TS 38.104 table 5.1-1)",
                carrier_hz / 1e9
            ),
            "Write 0.41 to 7.125 or 24.25 to 52.6 GHz",
        ))
    }
}

/// Returns the bandwidths of a range and numerology; an empty list if the standard does not combine
/// the two.
pub fn widths(range: FrequencyRange, numerology: Numerology) -> Widths {
    match (range, numerology.mu()) {
        (FrequencyRange::Fr1, 0) => FR1_15_KHZ,
        (FrequencyRange::Fr1, 1) => FR1_30_KHZ,
        (FrequencyRange::Fr1, 2) => FR1_60_KHZ,
        (FrequencyRange::Fr2, 2) => FR2_60_KHZ,
        (FrequencyRange::Fr2, 3) => FR2_120_KHZ,
        _ => &[],
    }
}

/// Checks that the standard defines a carrier of `prb` PRBs.
///
/// # Errors
/// The standard does not define it.
pub fn check_prb(range: FrequencyRange, numerology: Numerology, prb: u16) -> Result<(), Violation> {
    let khz = numerology.scs_khz();
    let (name, part) = match range {
        FrequencyRange::Fr1 => ("FR1", "TS 38.101-1"),
        FrequencyRange::Fr2 => ("FR2", "TS 38.101-2"),
    };
    let widths = widths(range, numerology);
    if widths.is_empty() {
        return Err(Violation::new(
            format!("{name} has no carriers of {khz} kHz ({part} table 5.3.2-1)"),
            "Use numerology 0 to 2 below 7.125 GHz, 2 or 3 above 24.25 GHz",
        ));
    }
    if widths.iter().any(|&(_, there)| there == prb) {
        return Ok(());
    }
    let list: Vec<_> = widths
        .iter()
        .map(|(mhz, prb)| format!("{prb} ({mhz} MHz)"))
        .collect();
    Err(Violation::new(
        format!("{prb} PRB is not a channel bandwidth at {khz} kHz ({part} table 5.3.2-1)"),
        format!("Choose one of {}", list.join(", ")),
    ))
}
