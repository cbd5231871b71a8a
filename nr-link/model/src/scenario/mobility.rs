// SPDX-License-Identifier: Apache-2.0
//! The movement of the UE.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NonNegative, Positive, Ratio};
use crate::problem::{Violation, violation};

/// The movement of the UE. Default: it stands still.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mobility {
    /// A constant speed, m/s, without a position.
    SpeedMps(NonNegative),
    /// Straight lines between points with time stamps.
    Route(Route),
    /// A random speed with memory.
    GaussMarkov(GaussMarkov),
}

/// A route of at least two points, sorted by time.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "Vec<RoutePoint>")]
#[schemars(extend("minItems" = 2))]
pub struct Route(Vec<RoutePoint>);

impl Route {
    /// Returns the points in order of time.
    pub fn points(&self) -> &[RoutePoint] {
        &self.0
    }
}

impl Route {
    /// Returns the same route, with positions relative to a point.
    pub(crate) fn seen_from(&self, x_m: f64, y_m: f64) -> Self {
        let moved = |point: &RoutePoint| RoutePoint {
            x_m: point.x_m - x_m,
            y_m: point.y_m - y_m,
            ..*point
        };
        Self(self.0.iter().map(moved).collect())
    }
}

impl TryFrom<Vec<RoutePoint>> for Route {
    type Error = String;

    fn try_from(points: Vec<RoutePoint>) -> Result<Self, String> {
        Self::new(points).map_err(|violation| violation.as_serde_message())
    }
}

impl Route {
    fn new(points: Vec<RoutePoint>) -> Result<Self, Violation> {
        if points.len() < 2 {
            return Err(violation!(
                "a route has fewer than two points",
                "Use distance_m for a UE that stays in one place"
            ));
        }
        if points
            .iter()
            .any(|point| !(point.x_m.is_finite() && point.y_m.is_finite()))
        {
            return Err(violation!(
                "a point of the route is not finite",
                "Write finite numbers of metres"
            ));
        }
        if points.windows(2).any(|pair| pair[1].t_s <= pair[0].t_s) {
            return Err(violation!(
                "the points of a route are not sorted by time",
                "List the earliest point first"
            ));
        }
        Ok(Self(points))
    }
}

/// The position of the UE at a time; between points it moves in a straight line.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutePoint {
    /// Time since the start of the scenario, s.
    pub t_s: NonNegative,
    /// Distance east of the gNB, m.
    pub x_m: f64,
    /// Distance north of the gNB, m.
    pub y_m: f64,
}

/// Gauss–Markov mobility in one dimension (Liang and Haas, INFOCOM 1999): v′ = α·v + (1 − α)·mean +
/// √(1 − α²)·σ·N(0, 1), once a second. At a negative speed the UE stands still.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GaussMarkov {
    /// Mean speed, m/s.
    pub mean_mps: Positive,
    /// Standard deviation of the speed, m/s.
    pub std_mps: NonNegative,
    /// α, the correlation from one second to the next: 0 is none, 1 is a constant speed.
    pub memory: Ratio,
}
