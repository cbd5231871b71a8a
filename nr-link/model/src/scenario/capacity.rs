// SPDX-License-Identifier: Apache-2.0
//! Capacity as a source gives it, for papers that replay traces.

use std::path::PathBuf;

use serde::Deserialize;

use super::{Drawn, NonNegative, Series};

/// More than any interface has.
pub(crate) const MOST_MBPS: f64 = 1e6;

/// What each direction carries.
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
    /// One rate for ever, Mbit/s.
    ConstantMbps(NonNegative),
    /// Mbit/s that hold from each stamp to the next; the first stamp is 0.
    StepsMbps(Series),
    /// Rates drawn from the seed, as statistics of measured links say.
    Drawn(Drawn),
    /// Delivery opportunities or rates in a file.
    Trace(CapacityTrace),
}

/// A file with one direction's capacity.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CapacityTrace {
    /// Relative to the scenario file.
    pub file: PathBuf,
    /// How to read it.
    pub format: TraceFormat,
}

/// The formats of capacity traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TraceFormat {
    /// Mahimahi: one line a millisecond stamp, each an opportunity of 1504 bytes; repeats at its
    /// last stamp.
    Mahimahi,
    /// Lines of `second Mbit/s`, with a blank or a comma between; each rate holds until the next.
    SecondsMbps,
}
