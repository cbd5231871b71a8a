// SPDX-License-Identifier: Apache-2.0
//! From a file to a scenario, and the rules that span several keys.

use std::fs;
use std::path::Path;

use super::{Capacity, Level, Mobility, Noise, Radio, Rate, Scenario, ScenarioError, Series};

/// Larger files are not scenarios: series belong into compact traces.
const LARGEST_BYTES: u64 = 16 << 20;
/// A day; the longest that the channel's tables are made for.
const LONGEST_S: f64 = 86_400.0;

impl Scenario {
    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// The first rule that the file breaks, with its line and how to mend it.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let refuse = |complaint: String| ScenarioError::new(path, None, complaint);
        let size = fs::metadata(path)
            .map_err(|error| {
                refuse(format!(
                    "cannot be read ({error}); `ccu list scenarios` lists those that can"
                ))
            })?
            .len();
        if size > LARGEST_BYTES {
            return Err(refuse(format!(
                "{size} bytes are not at most {LARGEST_BYTES}; thin the series or generate it from a model"
            )));
        }
        let text = fs::read_to_string(path)
            .map_err(|error| refuse(format!("is not UTF-8 text ({error}); save it as YAML")))?;
        Self::parse(&text, path)
    }

    /// Reads and checks a scenario's text; `path` names it in errors and is where its traces lie.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ScenarioError> {
        let mut scenario: Self =
            serde_saphyr::from_str(text).map_err(|error| from_yaml(error, path))?;
        let line_of = |key: &str| line_of(text, key);
        scenario
            .check()
            .map_err(|(key, complaint)| ScenarioError::new(path, line_of(key), complaint))?;
        scenario.anchor_traces(path.parent().unwrap_or(Path::new("")));
        Ok(scenario)
    }
}

impl Scenario {
    /// The rules that span several keys: the key that breaks one, the rule and the mend.
    fn check(&self) -> Result<(), (&'static str, String)> {
        let duration_s = self.duration_s.get();
        if duration_s > LONGEST_S {
            return Err((
                "duration_s",
                format!("{duration_s} s is not at most {LONGEST_S} s; let a shorter part loop"),
            ));
        }
        match (&self.radio, &self.capacity) {
            (Some(radio), None) => radio.check(duration_s),
            (None, Some(capacity)) => capacity.check(duration_s),
            (Some(_), Some(_)) => Err((
                "capacity",
                "a scenario has both radio and capacity; remove one".into(),
            )),
            (None, None) => Err((
                "schema",
                "a scenario has neither radio nor capacity; add one".into(),
            )),
        }
    }

    fn anchor_traces(&mut self, folder: &Path) {
        let rates = self.capacity.as_mut().map(|Capacity { dl, ul }| [dl, ul]);
        for rate in rates.into_iter().flatten() {
            if let Rate::Trace(trace) = rate {
                trace.file = folder.join(&trace.file);
            }
        }
    }
}

impl Radio {
    fn check(&self, duration_s: f64) -> Result<(), (&'static str, String)> {
        let series = [
            self.level.series(),
            self.noise.series(),
            self.noise_ul.as_ref().and_then(Noise::series),
        ];
        for (key, series) in ["level", "noise", "noise_ul"].into_iter().zip(series) {
            series
                .map_or(Ok(()), |series| within(series, duration_s))
                .map_err(|complaint| (key, complaint))?;
        }
        if let Some(late) = self
            .blockage
            .iter()
            .find(|blocker| blocker.to_s.get() > duration_s)
        {
            return Err(("blockage", ends_late(late.to_s.get(), duration_s)));
        }
        self.check_route(duration_s)
            .map_err(|complaint| ("mobility", complaint))
    }

    fn check_route(&self, duration_s: f64) -> Result<(), String> {
        let route = match &self.mobility {
            Some(Mobility::Route(route)) => Some(route.points()),
            _ => None,
        };
        match (&self.level, route) {
            (Level::Tr38901(geometry), None) if geometry.distance_m.is_none() => {
                Err("path loss by TR 38.901 needs a distance; write a route, or distance_m beside the environment".into())
            }
            (_, Some(points)) if points[points.len() - 1].t_s.get() > duration_s => {
                Err(ends_late(points[points.len() - 1].t_s.get(), duration_s))
            }
            _ => Ok(()),
        }
    }
}

impl Capacity {
    fn check(&self, duration_s: f64) -> Result<(), (&'static str, String)> {
        for (key, rate) in [("dl", &self.dl), ("ul", &self.ul)] {
            if let Rate::StepsMbps(steps) = rate {
                rates(steps)
                    .and_then(|()| within(steps, duration_s))
                    .map_err(|complaint| (key, complaint))?;
            }
        }
        Ok(())
    }
}

fn rates(steps: &Series) -> Result<(), String> {
    let points = steps.points();
    if points[0].t_s != 0.0 {
        return Err("the first step is not at 0 s; say what the rate is from the beginning".into());
    }
    match points.iter().find(|point| point.value < 0.0) {
        Some(point) => Err(format!(
            "{} Mbit/s at {} s is negative; write 0 for an outage",
            point.value, point.t_s
        )),
        None => Ok(()),
    }
}

fn within(series: &Series, duration_s: f64) -> Result<(), String> {
    let last_s = series.points()[series.points().len() - 1].t_s;
    if last_s < duration_s {
        Ok(())
    } else {
        Err(ends_late(last_s, duration_s))
    }
}

fn ends_late(last_s: f64, duration_s: f64) -> String {
    format!(
        "stamp {last_s} s is not within duration_s, {duration_s} s; lengthen the one or drop the other"
    )
}

fn from_yaml(error: serde_saphyr::Error, path: &Path) -> ScenarioError {
    let error = error.without_snippet();
    let line = error.location().map(|location| location.line());
    let told = error.to_string();
    // The library repeats the place at the end of its message.
    let rule = told
        .rsplit_once(" at line ")
        .map_or(told.as_str(), |(rule, _)| rule);
    let mend = if rule.contains("; ") {
        ""
    } else {
        "; docs/scenarios.md lists keys and their form"
    };
    ScenarioError::new(path, line, format!("{rule}{mend}"))
}

/// The line that opens `key`, in block or flow style.
fn line_of(text: &str, key: &str) -> Option<u64> {
    let opens = |line: &str| {
        line.trim_start_matches([' ', '-'])
            .starts_with(&format!("{key}:"))
            || [format!("{{{key}:"), format!(", {key}:")]
                .iter()
                .any(|flow| line.contains(flow))
    };
    text.lines().position(opens).map(|index| index as u64 + 1)
}
