// SPDX-License-Identifier: Apache-2.0
//! Reading of scenario files, and the rules that concern several keys.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::series::ends_late;
use super::{
    AtEnd, Capacity, Decibel, Fading, Level, MOST_MBPS, Mobility, Noise, Radio, Rate, Route,
    Scenario, Series, TapSeries,
};
use crate::problem::{Problem, Violation, violation};
use crate::yaml;

/// A rule for the values of a series.
type SeriesRule = fn(&Series) -> Result<(), Violation>;

/// A larger file is not read: long series should be in CSV files beside the scenario.
const LARGEST_BYTES: u64 = 16 << 20;
/// Shorter than any step of a model; the capacity repeats after it.
const SHORTEST_S: f64 = 1e-3;
/// Six hours, for which the channel's tables take 9 MB per UE.
const LONGEST_S: f64 = 21_600.0;

impl Scenario {
    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// The file breaks a rule.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let refuse = |violation: Violation| violation.in_file(path, None);
        let unreadable = |error, fix| refuse(Violation::unreadable(&error, fix));
        let file =
            File::open(path).map_err(|error| unreadable(error, "Choose a scenario that exists"))?;
        let mut text = String::new();
        file.take(LARGEST_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(|error| unreadable(error, "Save the file as UTF-8 text"))?;
        if text.len() as u64 > LARGEST_BYTES {
            return Err(refuse(violation!(
                "has more than {LARGEST_BYTES} bytes",
                "Move long series into CSV files"
            )));
        }
        let mut scenario = Self::parse(&text, path)?;
        scenario.load_files()?;
        Ok(scenario)
    }

    /// Reads and checks a scenario's text. Problems have `path` as their file, and relative paths
    /// start at its folder. Files that the scenario names are not read: series in files stay
    /// without points.
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, Problem> {
        let mut scenario: Self = yaml::read(text, path, "docs/scenarios.md")?;
        scenario
            .check()
            .map_err(|problem| yaml::located(problem, text, path))?;
        scenario.anchor_traces(path.parent().unwrap_or(Path::new("")));
        Ok(scenario)
    }
}

impl Scenario {
    /// Checks the rules that concern several keys.
    fn check(&self) -> Result<(), Problem> {
        let duration_s = self.duration_s.get();
        if !(SHORTEST_S..=LONGEST_S).contains(&duration_s) {
            return Err(violation!(
                "{duration_s} s is not between {SHORTEST_S} and {LONGEST_S} s",
                "Use a part that loops"
            )
            .at_key("duration_s"));
        }
        if self.sources.is_empty() {
            return Err(violation!(
                "there is no source",
                "State where the numbers come from, or that they are chosen"
            )
            .at_key("sources"));
        }
        match (&self.radio, &self.capacity) {
            (Some(radio), None) => radio.check(duration_s, self.at_end),
            (None, Some(capacity)) => capacity.check(duration_s),
            (Some(_), Some(_)) => Err(violation!(
                "a scenario has either radio or capacity, and this one has both",
                "Remove one of them"
            )
            .at_key("capacity")),
            (None, None) => Err(violation!(
                "a scenario has either radio or capacity, and this one has neither",
                "Add one of them"
            )
            .at_key("schema")),
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

    /// Reads and checks the series and taps in files.
    fn load_files(&mut self) -> Result<(), Problem> {
        let duration_s = self.duration_s.get();
        for (check, series) in self.all_series() {
            let Some(within_file) = series.file().map(|within| within.file.clone()) else {
                continue;
            };
            series.load()?;
            check(series)
                .and_then(|()| within(series, duration_s))
                .map_err(|violation| violation.in_file(&within_file, None))?;
        }
        match self.tap_series() {
            Some(taps) => taps.load(duration_s),
            None => Ok(()),
        }
    }

    /// Returns every series with the rule for its values.
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

    /// Returns the files that the scenario names, with its folder before relative paths.
    pub fn files(&self) -> Vec<&Path> {
        let radio = self.radio.iter().flat_map(|radio| {
            let noise_ul = radio.noise_ul.as_ref().and_then(Noise::series);
            [radio.level.series(), radio.noise.series(), noise_ul]
        });
        let rates = self.capacity.iter().flat_map(|both| [&both.dl, &both.ul]);
        let steps = rates.clone().map(|rate| match rate {
            Rate::StepsMbps(steps) => Some(steps),
            _ => None,
        });
        let series = radio.chain(steps).flatten().filter_map(Series::file);
        let traces = rates.filter_map(|rate| match rate {
            Rate::Trace(trace) => Some(trace.file.as_path()),
            _ => None,
        });
        let taps = self.radio.iter().filter_map(|radio| match &radio.fading {
            Some(Fading::TapSeries(taps)) => Some(taps.file.as_path()),
            _ => None,
        });
        series
            .map(|within| within.file.as_path())
            .chain(traces)
            .chain(taps)
            .collect()
    }

    fn tap_series(&mut self) -> Option<&mut TapSeries> {
        match self.radio.as_mut()?.fading.as_mut()? {
            Fading::TapSeries(taps) => Some(taps),
            _ => None,
        }
    }
}

impl Radio {
    /// Returns whether every series has its points; [`Scenario::load`] reads those in files.
    pub(crate) fn is_loaded(&self) -> bool {
        let noise_ul = self.noise_ul.as_ref().and_then(Noise::series);
        [self.level.series(), self.noise.series(), noise_ul]
            .into_iter()
            .flatten()
            .all(Series::is_loaded)
    }

    fn check(&self, duration_s: f64, at_end: AtEnd) -> Result<(), Problem> {
        let noise_ul = self.noise_ul.as_ref().and_then(Noise::series);
        let series = [
            ("radio.level", self.level.series()),
            ("radio.noise", self.noise.series()),
            ("radio.noise_ul", noise_ul),
        ];
        for (key, series) in series {
            let Some(series) = series.filter(|series| series.is_loaded()) else {
                continue;
            };
            levels(series)
                .and_then(|()| within(series, duration_s))
                .map_err(|violation| violation.at_key(key))?;
        }
        for blocker in &self.blockage {
            blocker
                .check(duration_s)
                .map_err(|violation| violation.at_key("radio.blockage"))?;
        }
        match (&self.level, &self.mobility) {
            (_, Some(Mobility::Route(route))) => route
                .check(duration_s, at_end)
                .map_err(|violation| violation.at_key("radio.mobility")),
            (Level::Tr38901(geometry), _) if geometry.distance_m.is_none() => Err(violation!(
                "path loss by TR 38.901 needs the UE's position",
                "Write a route below mobility, or distance_m beside the environment"
            )
            .at_key("radio.level")),
            _ => Ok(()),
        }
    }
}

impl Route {
    fn check(&self, duration_s: f64, at_end: AtEnd) -> Result<(), Violation> {
        let (first, last) = (self.points()[0], self.points()[self.points().len() - 1]);
        if last.t_s.get() > duration_s {
            Err(ends_late(last.t_s.get(), duration_s))
        } else if at_end == AtEnd::Loop && (first.x_m, first.y_m) != (last.x_m, last.y_m) {
            Err(violation!(
                "the scenario loops, and the route does not end where it begins",
                "End it at its first point, or write at_end: stop"
            ))
        } else {
            Ok(())
        }
    }
}

impl Capacity {
    fn check(&self, duration_s: f64) -> Result<(), Problem> {
        for (key, rate) in [("capacity.dl", &self.dl), ("capacity.ul", &self.ul)] {
            let checked = match rate {
                Rate::ConstantMbps(mbps) => check_rate(mbps.get(), 0.0),
                Rate::StepsMbps(steps) if !steps.is_loaded() => Ok(()),
                Rate::StepsMbps(steps) => rates(steps).and_then(|()| within(steps, duration_s)),
                Rate::Drawn(drawn) => drawn.check(duration_s),
                Rate::Trace(_) => Ok(()),
            };
            checked.map_err(|violation| violation.at_key(key))?;
        }
        Ok(())
    }
}

/// Checks a series of rates, Mbit/s.
fn rates(steps: &Series) -> Result<(), Violation> {
    let points = steps.points();
    if points[0].t_s != 0.0 {
        return Err(violation!(
            "the first step is not at 0 s",
            "Begin with the rate at 0 s"
        ));
    }
    points
        .iter()
        .try_for_each(|point| check_rate(point.value, point.t_s))
}

/// Checks a rate that holds from `t_s` on.
fn check_rate(mbps: f64, t_s: f64) -> Result<(), Violation> {
    if mbps < 0.0 {
        Err(violation!(
            "{mbps} Mbit/s at {t_s} s is negative",
            "Write 0 for an outage"
        ))
    } else if mbps > MOST_MBPS {
        Err(violation!(
            "{mbps} Mbit/s at {t_s} s is more than {MOST_MBPS}",
            "Write a rate in Mbit/s"
        ))
    } else {
        Ok(())
    }
}

/// Checks a series of dB or dBm.
fn levels(series: &Series) -> Result<(), Violation> {
    series
        .points()
        .iter()
        .try_for_each(|point| Decibel::new(point.value).map(|_| ()))
}

/// Checks that the scenario lasts longer than a series.
fn within(series: &Series, duration_s: f64) -> Result<(), Violation> {
    let last_s = series.points()[series.points().len() - 1].t_s;
    if last_s < duration_s {
        Ok(())
    } else {
        Err(ends_late(last_s, duration_s))
    }
}
