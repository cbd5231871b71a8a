// SPDX-License-Identifier: Apache-2.0
//! Reading of scenario files, and the rules that concern several keys.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::data::Data;
use super::series::ends_late;
use super::{
    AtEnd, Capacity, Decibel, Fading, Level, LteLeg, Mobility, Noise, Radio, Route, Scenario,
    Series,
};
use crate::input_file;
use crate::problem::{Problem, Violation, violation};
use crate::yaml;

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
        let text = input_file::read_text(path).map_err(|error| {
            let fix = match error.kind() {
                ErrorKind::InvalidData => "Save the file as UTF-8 text",
                ErrorKind::Other => "Move long series into CSV files, and name a regular file",
                _ => "Choose a scenario that exists",
            };
            unreadable(error, fix)
        })?;
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
        let folder = path.parent().unwrap_or(Path::new(""));
        for file in scenario.files() {
            *file = folder.join(&file);
        }
        Ok(scenario)
    }

    /// Checks the rules that concern several keys.
    fn check(&mut self) -> Result<(), Problem> {
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
            (Some(_), Some(_)) => {
                return Err(violation!(
                    "a scenario has either radio or capacity, and this one has both",
                    "Remove one of them"
                )
                .at_key("capacity"));
            }
            (None, None) => {
                return Err(violation!(
                    "a scenario has either radio or capacity, and this one has neither",
                    "Add one of them"
                )
                .at_key("schema"));
            }
            _ => {}
        }
        for (key, data) in self.data() {
            data.check(duration_s)
                .map_err(|violation| violation.at_key(key))?;
        }
        if let Some(radio) = &self.radio {
            radio.check(duration_s, self.at_end)?;
        }
        if let Some(lte) = &self.lte {
            if self.radio.is_none() {
                return Err(violation!(
                    "LTE serves in place of a radio channel, and the scenario has none",
                    "Add radio, or remove lte"
                )
                .at_key("lte"));
            }
            lte.check(duration_s, self.at_end == AtEnd::Loop)
                .map_err(|violation| violation.at_key("lte.changes"))?;
            lte.capacity.check(duration_s)?;
        }
        let capacity = self.capacity.as_ref();
        capacity.map_or(Ok(()), |capacity| capacity.check(duration_s))
    }

    /// Returns the files that the scenario names, with its folder before relative paths.
    pub fn files(&mut self) -> Vec<&mut PathBuf> {
        let data = self.data().into_iter();
        data.filter_map(|(_, data)| data.file()).collect()
    }

    /// Reads and checks the files that were not read yet, except for traces.
    pub(crate) fn load_files(&mut self) -> Result<(), Problem> {
        let duration_s = self.duration_s.get();
        let mut data = self.data().into_iter();
        data.try_for_each(|(_, data)| data.load(duration_s))
    }

    /// Returns the values that may be in files, each with its key.
    fn data(&mut self) -> Vec<(&'static str, Data<'_>)> {
        let mut all = Vec::new();
        if let Some(radio) = &mut self.radio {
            let series = [
                ("radio.level", radio.level.series_mut()),
                ("radio.noise", radio.noise.series_mut()),
                (
                    "radio.noise_ul",
                    radio.noise_ul.as_mut().and_then(Noise::series_mut),
                ),
            ];
            for (key, series) in series {
                all.extend(series.map(|series| (key, Data::Series(series, levels))));
            }
            for cell in &mut radio.cells {
                let series = cell.level.as_mut().and_then(Level::series_mut);
                all.extend(series.map(|series| ("radio.cells", Data::Series(series, levels))));
            }
            if let Some(Fading::TapSeries(taps)) = &mut radio.fading {
                all.push(("radio.fading", Data::Taps(taps)));
            }
        }
        if let Some(LteLeg { capacity, .. }) = &mut self.lte {
            all.extend(capacity.dl.data().map(|data| ("lte.capacity.dl", data)));
            all.extend(capacity.ul.data().map(|data| ("lte.capacity.ul", data)));
        }
        if let Some(Capacity { dl, ul }) = &mut self.capacity {
            all.extend(dl.data().map(|data| ("capacity.dl", data)));
            all.extend(ul.data().map(|data| ("capacity.ul", data)));
        }
        all
    }
}

impl Radio {
    /// Returns whether every series and tap has its values; [`Scenario::load`] reads those in
    /// files.
    pub(crate) fn is_loaded(&self) -> bool {
        let noise_ul = self.noise_ul.as_ref().and_then(Noise::series);
        let mut series = [self.level.series(), self.noise.series(), noise_ul]
            .into_iter()
            .flatten();
        let cells = self.cells.iter().filter_map(|cell| cell.level.as_ref());
        let mut cells = cells.filter_map(Level::series);
        let taps = match &self.fading {
            Some(Fading::TapSeries(taps)) => taps.rows.is_some(),
            _ => true,
        };
        taps && series.all(Series::is_loaded) && cells.all(Series::is_loaded)
    }

    fn check(&self, duration_s: f64, at_end: AtEnd) -> Result<(), Problem> {
        for blocker in &self.blockage {
            blocker
                .check(duration_s)
                .map_err(|violation| violation.at_key("radio.blockage"))?;
        }
        self.check_cells(duration_s)?;
        for blocker in self.beams.iter().flat_map(|beam| &beam.blockage) {
            blocker
                .check(duration_s)
                .map_err(|violation| violation.at_key("radio.beams"))?;
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

/// Checks a series of dB or dBm.
fn levels(series: &Series) -> Result<(), Violation> {
    series
        .points()
        .iter()
        .try_for_each(|point| Decibel::new(point.value).map(|_| ()))
}
