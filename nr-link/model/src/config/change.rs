// SPDX-License-Identifier: Apache-2.0
//! The checked configuration of a change while the link runs.

use serde::{Deserialize, Serialize};

use super::{PathConfig, PerDirection, Queue};
use crate::Nanos;

/// A change at an instant; `None` leaves a part as it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The time after that which [`Link::count_changes_from`](crate::Link::count_changes_from) names.
    pub at: Nanos,
    /// The path's delay, loss and bit errors; its line stays.
    pub path: Option<PerDirection<PathConfig>>,
    /// The RLC buffers of all UEs.
    pub queue: Option<PerDirection<Queue>>,
    /// The PRBs of the primary carrier that are scheduled; has no effect if the scenario has capacity.
    pub prb: Option<u16>,
}
