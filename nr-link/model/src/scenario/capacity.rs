// SPDX-License-Identifier: Apache-2.0
//! Capacity without a radio channel, for sources that replay traces.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Drawn, NonNegative, Series};

/// The capacity of each direction.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Server to UE.
    pub dl: Rate,
    /// UE to server.
    pub ul: Rate,
}

/// A rate over time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// A constant rate, Mbit/s.
    ConstantMbps(NonNegative),
    /// Mbit/s that hold from each time stamp to the next; the first time stamp is 0.
    StepsMbps(Series),
    /// Rates drawn from the seed by statistics of measured links.
    Drawn(Drawn),
    /// Delivery opportunities or rates from a file.
    Trace(CapacityTrace),
}

/// A file with the capacity of one direction.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CapacityTrace {
    /// Path relative to the scenario file.
    pub file: PathBuf,
    /// Format of the file.
    pub format: TraceFormat,
}

/// The formats of capacity traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TraceFormat {
    /// Mahimahi: each line is a time stamp in ms and an opportunity of 1504 bytes. Repeats from the
    /// last time stamp.
    Mahimahi,
    /// Lines of `second Mbit/s`, separated by a blank or a comma; each rate holds until the next
    /// one.
    SecondsMbps,
}
