// SPDX-License-Identifier: Apache-2.0
//! From a file to a scenario, and the rules that span several keys.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{
    AtEnd, Capacity, Decibel, Fading, Level, MOST_MBPS, Mobility, Noise, Radio, Rate, Route,
    Scenario, ScenarioError, Series, TapSeries,
};

/// What the values of a series must be.
type SeriesRule = fn(&Series) -> Result<(), String>;

/// Larger files are not scenarios: series belong into compact traces.
const LARGEST_BYTES: u64 = 16 << 20;
/// Six hours: the channel's tables then take 9 MB a UE.
const LONGEST_S: f64 = 21_600.0;

impl Scenario {
    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// The first rule that the file breaks, with its line and how to mend it.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let refuse = |complaint: String| ScenarioError::new(path, None, complaint);
        let file = File::open(path).map_err(|error| {
            refuse(format!(
                "cannot be opened ({error}); `ccu list scenarios` lists what there is"
            ))
        })?;
        let mut text = String::new();
        let read = file.take(LARGEST_BYTES + 1).read_to_string(&mut text);
        read.map_err(|error| {
            refuse(format!(
                "cannot be read as text ({error}); save it as UTF-8"
            ))
        })?;
        if text.len() as u64 > LARGEST_BYTES {
            return Err(refuse(format!(
                "has more than {LARGEST_BYTES} bytes; thin the series, or put them into a trace file"
            )));
        }
        let mut scenario = Self::parse(&text, path)?;
        scenario.load_files()?;
        Ok(scenario)
    }

    /// Reads and checks a scenario's text; `path` names it in errors and is where its files lie,
    /// which are not read here: series in files stay without points.
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
        if self.sources.is_empty() {
            return Err((
                "sources",
                "no source is given; say where the numbers come from, or that they are chosen"
                    .into(),
            ));
        }
        match (&self.radio, &self.capacity) {
            (Some(radio), None) => radio.check(duration_s, self.at_end),
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
        for (_, series) in self.all_series() {
            if let Some(within) = series.file_mut() {
                within.file = folder.join(&within.file);
            }
        }
        if let Some(taps) = self.tap_series() {
            taps.file = folder.join(&taps.file);
        }
    }

    /// Reads the series and taps that lie in files, and checks them.
    fn load_files(&mut self) -> Result<(), ScenarioError> {
        let duration_s = self.duration_s.get();
        for (check, series) in self.all_series() {
            let Some(within_file) = series.file().map(|within| within.file.clone()) else {
                continue;
            };
            series.load()?;
            check(series)
                .and_then(|()| within(series, duration_s))
                .map_err(|complaint| ScenarioError::new(&within_file, None, complaint))?;
        }
        match self.tap_series() {
            Some(taps) => taps.load(duration_s),
            None => Ok(()),
        }
    }

    /// Every series, with what its values must be.
    fn all_series(&mut self) -> Vec<(SeriesRule, &mut Series)> {
        let mut found: Vec<(SeriesRule, &mut Series)> = Vec::new();
        if let Some(radio) = &mut self.radio {
            let series = [
                radio.level.series_mut(),
                radio.noise.series_mut(),
                radio.noise_ul.as_mut().and_then(Noise::series_mut),
            ];
            found.extend(
                series
                    .into_iter()
                    .flatten()
                    .map(|one| (levels as SeriesRule, one)),
            );
        }
        if let Some(Capacity { dl, ul }) = &mut self.capacity {
            for rate in [dl, ul] {
                if let Rate::StepsMbps(steps) = rate {
                    found.push((rates, steps));
                }
            }
        }
        found
    }

    fn tap_series(&mut self) -> Option<&mut TapSeries> {
        match self.radio.as_mut()?.fading.as_mut()? {
            Fading::TapSeries(taps) => Some(taps),
            _ => None,
        }
    }
}

impl Radio {
    /// Whether every series has its points: those in files come by [`Scenario::load`].
    pub(crate) fn is_loaded(&self) -> bool {
        let noise_ul = self.noise_ul.as_ref().and_then(Noise::series);
        [self.level.series(), self.noise.series(), noise_ul]
            .into_iter()
            .flatten()
            .all(Series::is_loaded)
    }

    fn check(&self, duration_s: f64, at_end: AtEnd) -> Result<(), (&'static str, String)> {
        let noise_ul = self.noise_ul.as_ref().and_then(Noise::series);
        let series = [
            ("level", self.level.series()),
            ("noise", self.noise.series()),
            ("noise_ul", noise_ul),
        ];
        for (key, series) in series {
            let Some(series) = series.filter(|series| series.is_loaded()) else {
                continue;
            };
            let sound = levels(series).and_then(|()| within(series, duration_s));
            sound.map_err(|complaint| (key, complaint))?;
        }
        for blocker in &self.blockage {
            blocker
                .check(duration_s)
                .map_err(|complaint| ("blockage", complaint))?;
        }
        self.check_route(duration_s, at_end)
            .map_err(|complaint| ("mobility", complaint))
    }

    fn check_route(&self, duration_s: f64, at_end: AtEnd) -> Result<(), String> {
        match (&self.level, &self.mobility) {
            (_, Some(Mobility::Route(route))) => route.check(duration_s, at_end),
            (Level::Tr38901(geometry), _) if geometry.distance_m.is_none() => {
                Err("path loss by TR 38.901 needs a place; write a route, or distance_m beside the environment".into())
            }
            _ => Ok(()),
        }
    }
}

impl Route {
    fn check(&self, duration_s: f64, at_end: AtEnd) -> Result<(), String> {
        let (first, last) = (self.points()[0], self.points()[self.points().len() - 1]);
        if last.t_s.get() > duration_s {
            Err(ends_late(last.t_s.get(), duration_s))
        } else if at_end == AtEnd::Loop && (first.x_m, first.y_m) != (last.x_m, last.y_m) {
            Err("a route that loops does not end where it begins; lead it back, or write at_end: stop".into())
        } else {
            Ok(())
        }
    }
}

impl Capacity {
    fn check(&self, duration_s: f64) -> Result<(), (&'static str, String)> {
        for (key, rate) in [("dl", &self.dl), ("ul", &self.ul)] {
            let sound = match rate {
                Rate::ConstantMbps(mbps) => possible(mbps.get(), 0.0),
                Rate::StepsMbps(steps) if !steps.is_loaded() => Ok(()),
                Rate::StepsMbps(steps) => rates(steps).and_then(|()| within(steps, duration_s)),
                Rate::Drawn(drawn) => drawn.check(duration_s),
                Rate::Trace(_) => Ok(()),
            };
            sound.map_err(|complaint| (key, complaint))?;
        }
        Ok(())
    }
}

fn rates(steps: &Series) -> Result<(), String> {
    let points = steps.points();
    if points[0].t_s != 0.0 {
        return Err("the first step is not at 0 s; say what the rate is from the beginning".into());
    }
    points
        .iter()
        .try_for_each(|point| possible(point.value, point.t_s))
}

fn possible(mbps: f64, t_s: f64) -> Result<(), String> {
    if mbps < 0.0 {
        Err(format!(
            "{mbps} Mbit/s at {t_s} s is negative; write 0 for an outage"
        ))
    } else if mbps > MOST_MBPS {
        Err(format!(
            "{mbps} Mbit/s at {t_s} s is more than {MOST_MBPS}; write a rate that an interface has"
        ))
    } else {
        Ok(())
    }
}

/// Of a series of dB or dBm.
fn levels(series: &Series) -> Result<(), String> {
    series
        .points()
        .iter()
        .try_for_each(|point| Decibel::try_from(point.value).map(|_| ()))
}

fn within(series: &Series, duration_s: f64) -> Result<(), String> {
    let last_s = series.points()[series.points().len() - 1].t_s;
    if last_s < duration_s {
        Ok(())
    } else {
        Err(ends_late(last_s, duration_s))
    }
}

pub(super) fn ends_late(last_s: f64, duration_s: f64) -> String {
    format!(
        "stamp {last_s} s is not within duration_s, {duration_s} s; lengthen the one or drop the other"
    )
}

fn from_yaml(error: serde_saphyr::Error, path: &Path) -> ScenarioError {
    let error = error.without_snippet();
    let line = error.location().map(|location| location.line());
    let told = error.to_string();
    // The library repeats the place at the end of its message.
    let told = told
        .rsplit_once(" at line ")
        .map_or(told.as_str(), |(rule, _)| rule);
    ScenarioError::new(path, line, with_mend(told))
}

/// The library's message, in the words of somebody who writes a file and not a program.
fn with_mend(told: &str) -> String {
    let starts = |prefix| told.starts_with(prefix);
    if told.contains("; ") {
        told.to_owned() // one of our own rules
    } else if starts("unknown ") {
        format!("{told}; correct its spelling or remove it")
    } else if starts("missing field") {
        format!("{told}; add it to this group of keys")
    } else if starts("non-finite float") {
        "a value is not a finite number; write a number, or leave it out".to_owned()
    } else if starts("duplicate mapping key") {
        format!(
            "{}; keep one",
            told.split_once(", ").map_or(told, |(rule, _)| rule)
        )
    } else if starts("expected end of mapping after enum variant") {
        "two alternatives are given where one is meant; keep one".to_owned()
    } else {
        format!("{told}; docs/scenarios.md shows the form of every key")
    }
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
