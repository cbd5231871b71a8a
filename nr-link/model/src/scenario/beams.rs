// SPDX-License-Identifier: Apache-2.0
//! Beams beside the strongest one, over which a gNB can serve the UE when an object blocks that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Blocker, Loss};

/// A candidate beam: another path between gNB and UE, by reflection for example.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CandidateBeam {
    /// Loss of this path against the strongest one without blockage, dB.
    pub loss_db: Loss,
    /// Objects that block this path.
    #[serde(default)]
    pub blockage: Vec<Blocker>,
}
