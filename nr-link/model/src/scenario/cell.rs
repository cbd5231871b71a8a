// SPDX-License-Identifier: Apache-2.0
//! One cell of several, and handovers between them that were measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Blocker, Decibel, Level, NonNegative, Positive};

/// A cell, and its differences from `radio`. Its channel is drawn for itself; cells at one position share line of sight
/// and shadowing (TR 38.901 clause 7.5, step 4: links to co-sited sectors have the same large-scale parameters, links to
/// different sites have uncorrelated ones).
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cell {
    /// Distance east of the origin of the route, m.
    pub x_m: f64,
    /// Distance north of the origin of the route, m.
    pub y_m: f64,
    /// Height of its antenna above ground, m. Default: that of `radio.level`.
    pub height_m: Option<Positive>,
    /// Direction of a sector's antenna, degrees clockwise from north. Default: all directions alike.
    #[schemars(range(min = 0, max = 360))]
    pub bearing_deg: Option<f64>,
    /// Centre frequency of its primary carrier, GHz. Default: the link's.
    pub carrier_ghz: Option<Positive>,
    /// Power of each resource element of its SSB, dBm. Default: that of `radio`.
    pub ss_pbch_block_power_dbm: Option<Decibel>,
    /// Added to its measurements when cells are compared, dB: cellIndividualOffset of TS 38.331.
    pub individual_offset_db: Option<Decibel>,
    /// Mean received power in another form than that of `radio`, for a cell that was measured.
    pub level: Option<Level>,
    /// Objects that block the path to this cell, beside those of `radio`.
    pub blockage: Vec<Blocker>,
}

/// A handover at a known time; one at 0 s names the first cell.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredHandover {
    /// Time since the start of the scenario, s.
    pub t_s: NonNegative,
    /// The target: its number in `cells`.
    pub cell: usize,
}

impl Cell {
    /// Returns whether both cells stand at one position.
    pub(crate) fn shares_site(&self, other: &Self) -> bool {
        (self.x_m, self.y_m) == (other.x_m, other.y_m)
    }
}
