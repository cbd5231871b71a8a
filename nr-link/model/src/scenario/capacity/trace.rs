// SPDX-License-Identifier: Apache-2.0
//! Files with capacity: Mahimahi's time stamps, and tables of seconds and Mbit/s.
//!
//! A reader takes the content of the file, and the file's name for errors.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Curve, Generator};
use crate::Direction;
use crate::problem::{Problem, Violation, violation};
use crate::scenario::MOST_MBPS;
use crate::scenario::data::Data;

/// A file with the capacity of one direction.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CapacityTrace {
    /// Path relative to the scenario file.
    pub file: PathBuf,
    /// Format of the file.
    pub format: TraceFormat,
}

/// The formats of capacity traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceFormat {
    /// Mahimahi: each line is a time stamp in ms and an opportunity of 1504 bytes. Repeats from the
    /// last time stamp.
    Mahimahi,
    /// Lines of `second Mbit/s`, separated by a blank or a comma; each rate holds until the next
    /// one.
    SecondsMbps,
}

impl Generator for CapacityTrace {
    fn data(&mut self) -> Option<Data<'_>> {
        Some(Data::Trace(&mut self.file))
    }

    fn curve(&self, duration_s: f64, _seed: u64, _direction: Direction) -> Result<Curve, Problem> {
        let (file, content) = (&self.file, open(&self.file)?);
        Ok(match self.format {
            TraceFormat::Mahimahi => Curve::Opportunities(mahimahi(content, file)?),
            TraceFormat::SecondsMbps => Curve::Rates(seconds_mbps(content, file, duration_s)?),
        })
    }
}

/// A time in seconds, and the rate in Mbit/s from then on.
pub type Rated = (f64, f64);

/// Six hours, like the longest scenario.
const LONGEST_MS: u32 = 21_600_000;

/// Larger files are refused before they are read.
const LARGEST_BYTES: u64 = 1 << 30;
/// Limits the memory of a link's capacity to 50 MB, for stamps and for rates.
const MOST_STAMPS: usize = 2_000_000;
const MOST_RATES: usize = 1_000_000;

/// Opens a trace file.
///
/// # Errors
/// The file cannot be opened or is too large.
fn open(file: &Path) -> Result<impl BufRead, Problem> {
    let about = std::fs::metadata(file).map_err(|error| unreadable(file, &error))?;
    if !about.is_file() {
        return Err(violation!("is not a file", "Name a trace").in_file(file, None));
    }
    let bytes = about.len();
    let opened = File::open(file).map_err(|error| unreadable(file, &error))?;
    if bytes > LARGEST_BYTES {
        return Err(violation!(
            "has {bytes} bytes, which is more than {LARGEST_BYTES}",
            "Cut out a part that loops"
        )
        .in_file(file, None));
    }
    Ok(BufReader::new(opened))
}

/// Reads time stamps in ms, one per opportunity. Returns each stamp once, with the number of
/// opportunities until then.
///
/// # Errors
/// A line breaks a rule.
pub fn mahimahi(content: impl BufRead, file: &Path) -> Result<Vec<(u32, u64)>, Problem> {
    let mut stamps: Vec<(u32, u64)> = Vec::new();
    each_line(content, file, |line| {
        let ms = line.parse().ok().filter(|&ms| ms <= LONGEST_MS);
        let ms = ms.ok_or_else(|| {
            violation!(
                "{line:?} is not a time between 0 and {LONGEST_MS} ms",
                "Write one whole number on each line"
            )
        })?;
        let (last_ms, count) = stamps.last().copied().unwrap_or((0, 0));
        if ms < last_ms {
            return Err(violation!(
                "the time {ms} ms comes after {last_ms} ms",
                "Sort the lines by time"
            ));
        }
        let so_far = stamps.len();
        match stamps.last_mut().filter(|last| last.0 == ms) {
            Some(last) => last.1 += 1,
            None if so_far == MOST_STAMPS => return Err(too_many(MOST_STAMPS)),
            None => stamps.push((ms, count + 1)),
        }
        Ok(())
    })?;
    match stamps.last() {
        None => Err(empty(file)),
        Some((0, _)) => Err(violation!(
            "all times are 0 ms, so that the trace has no length",
            "End it with the time at which it repeats"
        )
        .in_file(file, None)),
        Some(_) => Ok(stamps),
    }
}

/// Reads lines of `second Mbit/s`, separated by a blank or a comma; `#` begins a comment.
///
/// # Errors
/// A line breaks a rule.
pub fn seconds_mbps(
    content: impl BufRead,
    file: &Path,
    duration_s: f64,
) -> Result<Vec<Rated>, Problem> {
    let mut rates: Vec<Rated> = Vec::new();
    each_line(content, file, |line| {
        if line.starts_with('#') {
            return Ok(());
        }
        let rated = rated(line)?;
        follows(rates.last(), rated.0, duration_s)?;
        if rates.len() == MOST_RATES {
            return Err(too_many(MOST_RATES));
        }
        rates.push(rated);
        Ok(())
    })?;
    if rates.is_empty() {
        return Err(empty(file));
    }
    Ok(rates)
}

fn too_many(most: usize) -> Violation {
    violation!(
        "has more than {most} different times",
        "Keep fewer lines, or cut out a part that loops"
    )
}

fn empty(file: &Path) -> Problem {
    violation!("holds no capacity", "Write at least one line").in_file(file, None)
}

fn rated(line: &str) -> Result<Rated, Violation> {
    let mut fields = line
        .split([' ', '\t', ','])
        .filter(|field| !field.is_empty())
        .map(|field| field.parse::<f64>().ok().filter(|value| value.is_finite()));
    match (
        fields.next().flatten(),
        fields.next().flatten(),
        fields.next(),
    ) {
        (Some(second), Some(mbps), None) if (0.0..=MOST_MBPS).contains(&mbps) => Ok((second, mbps)),
        (Some(_), Some(mbps), None) => Err(violation!(
            "{mbps} Mbit/s is not between 0 and {MOST_MBPS}",
            "Write 0 for an outage"
        )),
        _ => Err(violation!(
            "{line:?} is not two numbers",
            "Write `second Mbit/s` on each line"
        )),
    }
}

fn follows(last: Option<&Rated>, second: f64, duration_s: f64) -> Result<(), Violation> {
    match last {
        None if second != 0.0 => Err(violation!(
            "the first time is {second} s",
            "Begin with the rate at 0 s"
        )),
        Some(&(before, _)) if second <= before => Err(violation!(
            "the time {second} s does not come after {before} s",
            "Sort the lines by time, with one line for each time"
        )),
        _ if second >= duration_s => Err(violation!(
            "the time {second} s is not within duration_s, which is {duration_s} s",
            "Increase duration_s, or remove the later lines"
        )),
        _ => Ok(()),
    }
}

fn each_line(
    mut content: impl BufRead,
    file: &Path,
    mut take: impl FnMut(&str) -> Result<(), Violation>,
) -> Result<(), Problem> {
    // One buffer for all lines, since a file may have ten million.
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let read = content.read_line(&mut line);
        if read.map_err(|error| unreadable(file, &error))? == 0 {
            break;
        }
        take(line.trim()).map_err(|violation| violation.in_file(file, Some(number)))?;
    }
    Ok(())
}

fn unreadable(file: &Path, error: &std::io::Error) -> Problem {
    Violation::unreadable(error, "Put the trace beside the scenario, as text").in_file(file, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(text: &str) -> Result<Vec<(u32, u64)>, Problem> {
        mahimahi(text.as_bytes(), Path::new("a.up"))
    }

    fn rates(text: &str) -> Result<Vec<Rated>, Problem> {
        seconds_mbps(text.as_bytes(), Path::new("a.csv"), 2.0)
    }

    #[test]
    fn stamps_are_counted() {
        assert_eq!(stamps("0\n1\n1\n7\n").unwrap(), [(0, 1), (1, 3), (7, 4)]);
    }

    #[test]
    fn tables_are_read_with_blanks_or_commas() {
        assert_eq!(
            rates("# s Mbit/s\n0 100\n1.5,0\n").unwrap(),
            [(0.0, 100.0), (1.5, 0.0)]
        );
    }

    #[test]
    fn problems_name_line_rule_and_fix() {
        for (text, line, expected) in [
            ("", None, "at least one line"),
            ("0\n0\n", None, "no length"),
            ("5\n4\n", Some(2), "Sort the lines"),
            ("1\n\n2\n", Some(2), "one whole number on each line"),
            ("-1\n", Some(1), "one whole number on each line"),
            ("99999999999\n", Some(1), "between 0 and"),
        ] {
            let error = stamps(text).unwrap_err();
            assert_eq!(error.place.line, line, "{text:?}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        for (text, line, expected) in [
            ("\n", Some(1), "second Mbit/s"),
            ("# nothing\n", None, "at least one line"),
            ("1 5\n", Some(1), "rate at 0 s"),
            ("0 5\n0 6\n", Some(2), "Sort the lines"),
            ("0 5\n3 6\n", Some(2), "duration_s"),
            ("0 -5\n", Some(1), "outage"),
            ("0 NaN\n", Some(1), "second Mbit/s"),
            ("0 5 5\n", Some(1), "second Mbit/s"),
        ] {
            let error = rates(text).unwrap_err();
            assert_eq!(error.place.line, line, "{text:?}");
            assert!(error.to_string().contains(expected), "{error}");
        }
        let missing = open(Path::new("no-such.up")).map(drop).unwrap_err();
        assert!(missing.fix.contains("beside the scenario"), "{missing}");
    }
}
