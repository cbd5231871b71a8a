// SPDX-License-Identifier: Apache-2.0
//! A value over time: a number, or points with time stamps and linear interpolation.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::table::{Table, column};
use crate::problem::{Problem, Violation, violation};

/// A value over the time of the scenario: `-50`, or `[[0, -50], [10, -60]]`, or a column of a file.
///
/// It is interpolated linearly between points, and from the last point to the first of the next
/// loop, so that a loop has no discontinuity.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    points: Vec<Point>,
    file: Option<SeriesFile>,
}

/// The file of a series that is too long for the scenario file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeriesFile {
    /// A CSV file with the column `t_s`, relative to the scenario file.
    pub file: PathBuf,
    /// Name of the column with the values.
    pub column: String,
}

/// A time stamp and the value at that time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Time since the start of the scenario, s.
    pub t_s: f64,
    /// The value, in the unit of the series.
    pub value: f64,
}

impl Series {
    /// Makes a constant series.
    pub fn constant(value: f64) -> Self {
        Self {
            points: vec![Point { t_s: 0.0, value }],
            file: None,
        }
    }

    pub(super) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        self.file.as_mut().map(|of| &mut of.file)
    }

    /// Returns whether the points are known: a series in a file has none before it is loaded.
    pub fn is_loaded(&self) -> bool {
        !self.points.is_empty()
    }

    /// Reads the file, if the points are in one that was not read yet, and checks them.
    pub(super) fn load(
        &mut self,
        rule: fn(&Self) -> Result<(), Violation>,
        duration_s: f64,
    ) -> Result<(), Problem> {
        let Some(SeriesFile { file, column: name }) =
            self.file.as_ref().filter(|_| !self.is_loaded())
        else {
            return Ok(());
        };
        let table = Table::load(file, |names| Ok(vec![column(names, name)?]))?;
        let rows = table.t_s.iter().zip(&table.values);
        let point = |(&t_s, &value)| Point {
            t_s,
            value: f64::from(value),
        };
        let file = file.clone();
        self.points = rows.map(point).collect();
        rule(self)
            .and_then(|()| self.check_end(duration_s))
            .map_err(|violation| violation.in_file(&file, None))
    }

    /// Checks that the scenario lasts longer than the series.
    pub(super) fn check_end(&self, duration_s: f64) -> Result<(), Violation> {
        match self.points.last() {
            Some(last) if last.t_s >= duration_s => Err(ends_late(last.t_s, duration_s)),
            _ => Ok(()),
        }
    }

    /// Returns the points, sorted by time; at least one after loading.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Returns the value at `t_s` in a scenario of duration `duration_s`; O(log n).
    pub fn at(&self, t_s: f64, duration_s: f64) -> f64 {
        let next = self.points.partition_point(|point| point.t_s <= t_s);
        let last = self.points.len() - 1;
        let (before, after) = match next {
            0 => (self.points[last].earlier_by(duration_s), self.points[0]),
            n if n > last => (self.points[last], self.points[0].earlier_by(-duration_s)),
            n => (self.points[n - 1], self.points[n]),
        };
        let fraction = (t_s - before.t_s) / (after.t_s - before.t_s);
        before.value + fraction * (after.value - before.value)
    }
}

impl Point {
    fn earlier_by(self, seconds: f64) -> Self {
        Self {
            t_s: self.t_s - seconds,
            ..self
        }
    }
}

impl<'de> Deserialize<'de> for Series {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeriesVisitor)
    }
}

/// Writes the points, or the file that has them.
impl Serialize for Series {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.file {
            Some(file) => file.serialize(serializer),
            None => {
                serializer.collect_seq(self.points.iter().map(|point| (point.t_s, point.value)))
            }
        }
    }
}

struct SeriesVisitor;

impl<'de> Visitor<'de> for SeriesVisitor {
    type Value = Series;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a list of [seconds, value], or a file and its column")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Series, E> {
        finite(value).map(Series::constant)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Series, E> {
        Ok(Series::constant(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Series, E> {
        Ok(Series::constant(value as f64))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<Series, A::Error> {
        let mut points: Vec<Point> = Vec::new();
        while let Some(point) = rows.next_element_seed(PointAfter(points.last().map(|p| p.t_s)))? {
            points.push(point);
        }
        if points.is_empty() {
            return Err(refused(violation!(
                "a series has no points",
                "Write at least [0, value]"
            )));
        }
        Ok(Series { points, file: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Series, A::Error> {
        let file = SeriesFile::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Series {
            points: Vec::new(),
            file: Some(file),
        })
    }
}

/// Reads one `[seconds, value]` whose time stamp must be after the one before.
struct PointAfter(Option<f64>);

impl<'de> DeserializeSeed<'de> for PointAfter {
    type Value = Point;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Point, D::Error> {
        let [t_s, value] = <[f64; 2]>::deserialize(deserializer)?;
        finite::<D::Error>(t_s)?;
        finite::<D::Error>(value)?;
        match self.0 {
            None if t_s < 0.0 => Err(refused(violation!(
                "the time {t_s} s is before the start of the scenario",
                "Count seconds from 0"
            ))),
            Some(before) if t_s <= before => Err(refused(violation!(
                "the time {t_s} s does not come after {before} s",
                "Sort the points by time, with one point for each time"
            ))),
            _ => Ok(Point { t_s, value }),
        }
    }
}

fn finite<E: Error>(value: f64) -> Result<f64, E> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(refused(violation!(
            "{value} is not a finite number",
            "Write a finite number, or leave the point out"
        )))
    }
}

fn refused<E: Error>(violation: Violation) -> E {
    E::custom(violation.as_serde_message())
}

/// Makes the violation for a series whose last point is not within the scenario.
pub(super) fn ends_late(last_s: f64, duration_s: f64) -> Violation {
    violation!(
        "the time {last_s} s is not within duration_s, which is {duration_s} s",
        "Increase duration_s, or remove the later values"
    )
}

impl schemars::JsonSchema for Series {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Series".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let file = generator.subschema_for::<SeriesFile>();
        schemars::json_schema!({
            "description": "A value over time: one number, [seconds, value] points sorted by time, or a column of a file.",
            "oneOf": [
                {"type": "number"},
                file,
                {"type": "array", "minItems": 1, "items": {
                    "type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}}}
            ]
        })
    }
}
