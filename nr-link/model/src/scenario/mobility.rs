// SPDX-License-Identifier: Apache-2.0
//! How the UE moves.

use serde::Deserialize;

use super::{NonNegative, Positive, Ratio};
use crate::problem::{Violation, violation};

/// How the UE moves. Absent from a scenario: it stands still.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mobility {
    /// At a constant speed, in m/s, along no particular street.
    SpeedMps(NonNegative),
    /// Along straight lines between stamped points.
    Route(Route),
    /// At a speed that remembers itself.
    GaussMarkov(GaussMarkov),
}

/// At least two points, sorted by time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Vec<RoutePoint>")]
pub struct Route(Vec<RoutePoint>);

impl Route {
    /// The points, by time.
    pub fn points(&self) -> &[RoutePoint] {
        &self.0
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

/// Where the UE is at a time; it walks straight from one point to the next.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RoutePoint {
    /// Seconds since the scenario began.
    pub t_s: NonNegative,
    /// Metres east of the gNB.
    pub x_m: f64,
    /// Metres north of the gNB.
    pub y_m: f64,
}

/// Gauss–Markov mobility in one dimension (Liang and Haas, INFOCOM 1999):
/// v′ = α·v + (1 − α)·mean + √(1 − α²)·σ·N(0, 1), once a second; a negative draw stands still.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct GaussMarkov {
    /// Mean speed, m/s.
    pub mean_mps: Positive,
    /// Standard deviation of the speed, m/s.
    pub std_mps: NonNegative,
    /// α, the memory from one second to the next: 0 none, 1 for ever.
    pub memory: Ratio,
}

#[cfg(test)]
impl schemars::JsonSchema for Route {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Route".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let items = generator.subschema_for::<RoutePoint>();
        schemars::json_schema!({"type": "array", "minItems": 2, "items": items})
    }
}
