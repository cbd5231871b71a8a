// SPDX-License-Identifier: Apache-2.0
//! Geometry, for path loss by 3GPP TR 38.901.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decibel, Positive};

/// Path loss, line of sight and shadowing by TR 38.901 clauses 7.4.1, 7.4.2 and 7.4.4.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tr38901 {
    /// Environment of the report.
    pub environment: Environment,
    /// The gNB's antenna.
    pub gnb: Gnb,
    /// Height of the UE's antenna above ground, m.
    pub ue_height_m: Positive,
    /// Whether there is line of sight.
    #[serde(default)]
    pub line_of_sight: LineOfSight,
    /// Distance on the ground, m, if `mobility` has no route.
    pub distance_m: Option<Positive>,
    /// Whether it is one cell of several: a UE may then be out of the range of the formulas.
    #[serde(skip)]
    pub(crate) one_of_several: bool,
}

/// The environments of TR 38.901 table 7.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Environment {
    /// Urban micro, street canyon.
    Umi,
    /// Urban macro.
    Uma,
    /// Rural macro.
    Rma,
    /// Indoor office, mixed.
    Inh,
}

/// The gNB's antenna, at the origin of the route.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gnb {
    /// Height above ground, m.
    pub height_m: Positive,
    /// Gain of both antennas with their beams, dBi.
    pub antenna_gain_dbi: Option<Decibel>,
    /// Direction of a sector's antenna, degrees clockwise from north: the gain falls by the pattern of TR 38.901 table
    /// 7.3-1 beside it. Default: all directions alike.
    #[schemars(range(min = 0, max = 360))]
    pub bearing_deg: Option<f64>,
}

/// Whether the UE has line of sight to the gNB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineOfSight {
    /// Random, with the probability of table 7.4.2-1 and the correlation of table 7.6.3.1-2.
    #[default]
    Probable,
    /// Line of sight everywhere.
    Always,
    /// Line of sight nowhere.
    Never,
}
