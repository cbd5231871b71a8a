// SPDX-License-Identifier: Apache-2.0
//! Objects in the path.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Loss, NonNegative, Positive};
use crate::problem::{Violation, violation};

/// An object that blocks the path for a time.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blocker {
    /// Time at which it begins to enter the path, s.
    pub from_s: NonNegative,
    /// Time at which it has left the path, s.
    pub to_s: Positive,
    /// Loss while it is in the path, dB.
    pub loss_db: Loss,
    /// Duration of entering and of leaving, s.
    pub ramp_s: Option<NonNegative>,
}

impl Blocker {
    pub(super) fn check(&self, duration_s: f64) -> Result<(), Violation> {
        let (from_s, to_s) = (self.from_s.get(), self.to_s.get());
        let ramp_s = self.ramp_s.map_or(0.0, NonNegative::get);
        if to_s > duration_s {
            Err(violation!(
                "the blockage ends at {to_s} s, after the scenario's duration_s of {duration_s} s",
                "Set to_s to at most duration_s"
            ))
        } else if to_s <= from_s {
            Err(violation!(
                "the blockage ends at {to_s} s, and does not begin before {from_s} s",
                "Set from_s below to_s"
            ))
        } else if 2.0 * ramp_s > to_s - from_s {
            Err(Violation::new(
                format!(
                    "two ramps of {ramp_s} s do not fit in a blockage of {} s",
                    to_s - from_s
                ),
                "Reduce ramp_s",
            ))
        } else {
            Ok(())
        }
    }
}
