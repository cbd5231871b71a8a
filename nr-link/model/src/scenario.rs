// SPDX-License-Identifier: Apache-2.0
//! A scenario: what the channel does, read from a file of `rf-scenarios/`.
//!
//! The file is YAML of schema `rf-scenario/1`; `docs/scenarios.md` explains it and
//! `rf-scenarios/rf-scenario.schema.json` is made from the types below. Reading it is the only
//! place where it can be wrong: every value of these types obeys its rule, and a
//! [`Problem`](crate::Problem) names file, line, key, rule and fix.

mod capacity;
mod drawn;
mod link;
mod mobility;
mod path;
mod propagation;
mod quantity;
mod radio;
mod read;
#[cfg(test)]
mod schema;
mod series;
mod table;
mod tap_series;

pub(crate) use capacity::MOST_MBPS;
pub use capacity::{Capacity, CapacityTrace, Rate, TraceFormat};
pub use drawn::{Drawn, Memory};
pub use link::{LinkDuplex, LinkHint, LinkSpecial, LinkTdd};
pub use mobility::{GaussMarkov, Mobility, Route, RoutePoint};
pub use path::{CrossTraffic, Path, PathDirection, QueueLimit, Queues};
pub use propagation::{Environment, Gnb, LineOfSight, Tr38901};
pub use quantity::{Decibel, Delay, Loss, NonNegative, Percent, Positive, Ratio};
pub use radio::{
    Blocker, CarrierRange, Fading, Level, Noise, Radio, Shadowing, Tap, Taps, Tdl, TdlProfile,
};
pub use series::{Point, Series, SeriesFile};
pub use table::Table;
pub use tap_series::TapSeries;

use serde::Deserialize;

/// Everything that one scenario file says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(extend("oneOf" = [{"required": ["radio"]}, {"required": ["capacity"]}])))]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The format of this file.
    pub schema: Schema,
    /// What `--scenario` calls it: the file's name without `.yaml`.
    pub name: String,
    /// One or two sentences for `ccu list scenarios`.
    pub summary: String,
    /// Where the numbers come from: paper and section, clause of a standard, or "chosen, because".
    pub sources: Vec<String>,
    /// SPDX identifier under which the file may be shared.
    pub license: String,
    /// How long the scenario is, in seconds, until it loops or stops.
    pub duration_s: Positive,
    /// What happens then.
    #[serde(default)]
    pub at_end: AtEnd,
    /// Everything random is drawn from this, whatever the run's seed: one of the channels that the
    /// file describes. Absent: the run's seed.
    #[serde(default)]
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub seed: Option<u64>,
    /// A radio channel, from which the MAC makes capacity. Either this or `capacity`.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// Capacity itself, with no radio beneath it. Either this or `radio`.
    #[serde(default)]
    pub capacity: Option<Capacity>,
    /// Delays, loss and buffers, where the source fixes them.
    #[serde(default)]
    pub path: Option<Path>,
    /// The carrier that the source had.
    #[serde(default)]
    pub link: Option<LinkHint>,
}

/// The versions of the format that this library reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Schema {
    /// The first one.
    #[serde(rename = "rf-scenario/1")]
    V1,
}

/// What follows the last second of a scenario.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// The first second, without a jump.
    #[default]
    Loop,
    /// Silence: no signal and no capacity.
    Stop,
}
