// SPDX-License-Identifier: Apache-2.0
//! EN-DC: a bearer that NR serves, or LTE when the UE has lost NR.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Capacity, NonNegative};
use crate::problem::{Violation, violation};

/// The LTE leg of a bearer of EN-DC (TS 37.340 clause 4.2.2), and when it serves. NR serves at first.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LteLeg {
    /// The capacity of LTE.
    pub capacity: Capacity,
    /// Delay of LTE in each direction, ms: grants, transmission and HARQ.
    pub delay_ms: LegDelays,
    /// The time without service at each change of the leg, ms.
    pub interruption_ms: LegInterruptions,
    /// The changes, in order of time; the legs alternate.
    pub changes: Vec<LegChange>,
}

/// Delay of a leg in each direction.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LegDelays {
    /// Server to UE.
    pub dl: NonNegative,
    /// UE to server.
    pub ul: NonNegative,
}

/// Interruptions, named as drive tests name the changes.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LegInterruptions {
    /// Interruption of a change from NR to LTE.
    #[serde(rename = "5t4")]
    pub to_lte: NonNegative,
    /// Interruption of a change from LTE to NR.
    #[serde(rename = "4t5")]
    pub to_nr: NonNegative,
}

/// A change of the leg.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LegChange {
    /// When it begins, s.
    pub t_s: NonNegative,
    /// The leg that serves afterwards.
    pub to: Leg,
}

/// The leg that serves a bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// The secondary node's.
    Nr,
    /// The master node's.
    Lte,
}

impl LteLeg {
    pub(super) fn check(&self, duration_s: f64, loops: bool) -> Result<(), Violation> {
        let (mut serving, mut ready_s) = (Leg::Nr, 0.0);
        for &LegChange { t_s, to } in &self.changes {
            let t_s = t_s.get();
            if to == serving {
                return Err(violation!(
                    "the leg changes at {t_s} s to the one that serves already",
                    "Alternate the legs; NR serves at first"
                ));
            }
            if t_s < ready_s {
                return Err(violation!(
                    "the change at {t_s} s begins before the one before it is over, at {ready_s} s",
                    "Sort the changes by time, and leave time for interruption_ms between them"
                ));
            }
            let interruption_ms = match to {
                Leg::Lte => self.interruption_ms.to_lte,
                Leg::Nr => self.interruption_ms.to_nr,
            };
            (serving, ready_s) = (to, t_s + interruption_ms.get() / 1e3);
        }
        if ready_s > duration_s {
            return Err(violation!(
                "the last change is over at {ready_s} s, after the scenario's duration_s of {duration_s} s",
                "Leave it out, or make the scenario longer"
            ));
        }
        if loops && serving != Leg::Nr {
            return Err(violation!(
                "the scenario loops and ends with LTE, and it begins with NR",
                "End with a change to nr, or write at_end: stop"
            ));
        }
        Ok(())
    }
}
