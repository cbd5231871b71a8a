// SPDX-License-Identifier: Apache-2.0
//! The mean received power.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Series, Tr38901};

/// The mean received power, in one of these forms.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// RSRP, dBm.
    RsrpDbm(Series),
    /// Path loss, dB.
    PathLossDb(Series),
    /// Path loss from geometry, by TR 38.901.
    Tr38901(Tr38901),
}

impl Level {
    pub(super) fn series(&self) -> Option<&Series> {
        match self {
            Self::RsrpDbm(series) | Self::PathLossDb(series) => Some(series),
            Self::Tr38901(_) => None,
        }
    }

    pub(super) fn series_mut(&mut self) -> Option<&mut Series> {
        match self {
            Self::RsrpDbm(series) | Self::PathLossDb(series) => Some(series),
            Self::Tr38901(_) => None,
        }
    }
}
