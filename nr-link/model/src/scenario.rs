// SPDX-License-Identifier: Apache-2.0
//! Scenarios: the channel or capacity of a link over time, read from a file of `rf-scenarios/`.
//!
//! The file is YAML of schema `rf-scenario/1`. `docs/scenarios.md` documents it, and
//! `rf-scenarios/rf-scenario.schema.json` is generated from the types below. All checks are made on
//! reading: every value of these types obeys its rule, and a [`Problem`](crate::Problem) has file,
//! line, key, rule and fix.

mod beams;
mod blockage;
mod capacity;
mod cell;
mod cells;
mod data;
mod level;
mod link;
mod lte_leg;
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

pub use beams::CandidateBeam;
pub use blockage::Blocker;
pub(crate) use capacity::Curve;
pub use capacity::{Capacity, Rate, trace};
pub use cell::{Cell, MeasuredHandover};
pub use level::Level;
pub use link::{LinkDuplex, LinkHint, LinkSpecial, LinkTdd};
pub use lte_leg::{Leg, LegChange, LegDelays, LegInterruptions, LteLeg};
pub use mobility::{GaussMarkov, Mobility, Route, RoutePoint};
pub use path::{CrossTraffic, Path, PathDirection, QueueLimit, Queues};
pub use propagation::{Environment, Gnb, LineOfSight, Tr38901};
pub(crate) use quantity::MOST_MBPS;
pub use quantity::{Decibel, Delay, Loss, NonNegative, Percent, Positive, Ratio};
pub use radio::{CarrierRange, Fading, Noise, Radio, Shadowing, Tap, Taps, Tdl, TdlProfile};
pub use series::{Point, Series, SeriesFile};
pub use table::Table;
pub use tap_series::TapSeries;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Returns the JSON Schema of a scenario file.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Scenario)
}

/// The content of a scenario file.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("oneOf" = [{"required": ["radio"]}, {"required": ["capacity"]}]))]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The format of this file.
    pub schema: Schema,
    /// Name for `--scenario`: the file's name without `.yaml`.
    pub name: String,
    /// One or two sentences for `ccu list scenarios`.
    pub summary: String,
    /// Sources of the numbers: paper and section, clause of a standard, or "chosen, because".
    pub sources: Vec<String>,
    /// SPDX identifier under which the file may be shared.
    pub license: String,
    /// Duration of the scenario, s, after which it repeats or stops.
    pub duration_s: Positive,
    /// Behaviour after the end of the duration.
    #[serde(default)]
    pub at_end: AtEnd,
    /// Random seed of this scenario, in place of the run's, to select one of the channels that the
    /// file describes. Default: the run's seed.
    #[schemars(range(min = 0))]
    pub seed: Option<u64>,
    /// A radio channel, on which the MAC provides the capacity. Exclusive with `capacity`.
    pub radio: Option<Radio>,
    /// Capacity without a radio channel. Exclusive with `radio`.
    pub capacity: Option<Capacity>,
    /// EN-DC: LTE serves the UE at times, in place of `radio`.
    pub lte: Option<LteLeg>,
    /// Delays, loss and buffers that the source specifies.
    pub path: Option<Path>,
    /// The carrier that the source used.
    pub link: Option<LinkHint>,
}

/// A version of the format that this library reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Schema {
    /// The first version.
    #[serde(rename = "rf-scenario/1")]
    V1,
}

/// The behaviour after the end of a scenario.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// The scenario repeats without a discontinuity.
    #[default]
    Loop,
    /// No signal and no capacity.
    Stop,
}
