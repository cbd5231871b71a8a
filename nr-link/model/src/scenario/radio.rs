// SPDX-License-Identifier: Apache-2.0
//! The radio channel: signal level, noise and fading.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tap_series::MOST_TAPS;
use super::{
    Blocker, CandidateBeam, Cell, Decibel, Delay, Level, Loss, MeasuredHandover, Mobility, Percent,
    Positive, Series, TapSeries,
};
use crate::problem::{Violation, violation};

/// A radio channel between one gNB and one UE.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Carriers for which the numbers are valid. Default: any.
    pub carrier_ghz: Option<CarrierRange>,
    /// Power of each resource element of the SSB at the gNB's antenna, dBm: `ss-PBCH-BlockPower` of
    /// TS 38.331. Path loss is this power less RSRP (TS 38.213 clause 7.1.1).
    pub ss_pbch_block_power_dbm: Decibel,
    /// Mean received power, before shadowing and fading.
    pub level: Level,
    /// Noise and interference at the UE.
    pub noise: Noise,
    /// Noise and interference at the gNB. Default: as at the UE.
    pub noise_ul: Option<Noise>,
    /// Error vector magnitude of the transmitter, per cent (TS 38.104 clause 6.5.2), which limits
    /// the SINR.
    pub tx_evm_percent: Option<Percent>,
    /// Movement of the UE. Default: it stands still.
    pub mobility: Option<Mobility>,
    /// Slow random variation of the level.
    pub shadowing: Option<Shadowing>,
    /// Objects that block the path at known times.
    #[serde(default)]
    pub blockage: Vec<Blocker>,
    /// Beams over which the gNB can serve the UE when the strongest one, which the keys above describe, is blocked.
    #[serde(default)]
    pub beams: Vec<CandidateBeam>,
    /// Fast fading. Default: none.
    pub fading: Option<Fading>,
    /// Several cells, each with its differences from the keys above, which then describe all of them. Default: one cell.
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Handovers that were measured: the UE changes its cell at these times, and not by its own measurements.
    #[serde(default)]
    pub handovers: Vec<MeasuredHandover>,
}

/// A range of carrier frequencies, GHz, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CarrierRange {
    /// Lowest.
    pub min: Positive,
    /// Highest.
    pub max: Positive,
}

/// Noise and interference, in one of these forms.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// Thermal noise at 290 K with this noise figure, dB.
    FigureDb(Decibel),
    /// Power of noise and interference, dBm per resource element.
    FloorDbmPerRe(Series),
    /// The level of noise at which the mean SINR has this value, dB. Shadowing and fading vary the
    /// SINR.
    SinrDb(Series),
}

impl Noise {
    pub(super) fn series(&self) -> Option<&Series> {
        match self {
            Self::FloorDbmPerRe(series) | Self::SinrDb(series) => Some(series),
            Self::FigureDb(_) => None,
        }
    }

    pub(super) fn series_mut(&mut self) -> Option<&mut Series> {
        match self {
            Self::FloorDbmPerRe(series) | Self::SinrDb(series) => Some(series),
            Self::FigureDb(_) => None,
        }
    }
}

/// Log-normal shadowing with exponential autocorrelation over distance (Gudmundson 1991; TR 38.901
/// clause 7.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shadowing {
    /// Standard deviation, dB.
    pub std_db: Loss,
    /// Distance after which the correlation is 1/e, m.
    pub decorrelation_m: Positive,
}

/// Fast fading, in one of these forms. Powers are normalised to a sum of 1.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fading {
    /// Up to four complex taps, as in channel emulators.
    Taps(Taps),
    /// A tapped delay line of TR 38.901 clause 7.7.2.
    Tdl(Tdl),
    /// Taps over time from a file.
    TapSeries(TapSeries),
}

/// One to four taps, sorted by delay.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "Vec<Tap>")]
#[schemars(extend("minItems" = 1, "maxItems" = 4))]
pub struct Taps(Vec<Tap>);

impl Taps {
    /// The largest number of taps.
    pub const MOST: usize = MOST_TAPS;

    /// Returns the taps in order of delay.
    pub fn get(&self) -> &[Tap] {
        &self.0
    }
}

impl TryFrom<Vec<Tap>> for Taps {
    type Error = String;

    fn try_from(taps: Vec<Tap>) -> Result<Self, String> {
        Self::new(taps).map_err(|violation| violation.as_serde_message())
    }
}

impl Taps {
    fn new(taps: Vec<Tap>) -> Result<Self, Violation> {
        let count = taps.len();
        if count == 0 || count > Self::MOST {
            return Err(violation!(
                "{count} taps are given, and 1 to 4 are allowed",
                "Merge taps of similar delay"
            ));
        }
        if taps
            .windows(2)
            .any(|pair| pair[1].delay_ns <= pair[0].delay_ns)
        {
            return Err(violation!(
                "the taps are not sorted by delay",
                "List the shortest delay first, each delay once"
            ));
        }
        Ok(Self(taps))
    }
}

/// One tap of a multipath channel.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tap {
    /// Delay relative to the first tap, ns.
    pub delay_ns: Delay,
    /// Mean power relative to the other taps, dB.
    pub power_db: Decibel,
    /// Rice's K factor, dB: the power ratio of the specular to the diffuse part. Default: Rayleigh
    /// fading.
    pub k_factor_db: Option<Decibel>,
}

/// A TDL channel of TR 38.901, scaled to a delay spread.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tdl {
    /// Profile of tables 7.7.2-1 to 7.7.2-5.
    pub profile: TdlProfile,
    /// RMS delay spread, ns (clause 7.7.3).
    pub delay_spread_ns: Delay,
}

/// A tapped delay line of TR 38.901.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum TdlProfile {
    /// No line of sight.
    A,
    /// No line of sight.
    B,
    /// No line of sight.
    C,
    /// Line of sight, K = 13.3 dB.
    D,
    /// Line of sight, K = 22 dB.
    E,
}
