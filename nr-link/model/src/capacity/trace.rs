// SPDX-License-Identifier: Apache-2.0
//! Files that hold capacity: Mahimahi's stamps, and tables of seconds and Mbit/s.
//!
//! A reader takes the file's content and, for its errors, the file's name.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::scenario::{MOST_MBPS, ScenarioError};

/// A second, and the Mbit/s that hold from it on.
pub type Rated = (f64, f64);

/// Six hours, as the longest scenario.
const LONGEST_MS: u32 = 21_600_000;

/// Larger files are refused before they are read.
const LARGEST_BYTES: u64 = 1 << 30;
/// Keeps a link's capacity below 50 MB, of stamps and of rates.
const MOST_STAMPS: usize = 2_000_000;
const MOST_RATES: usize = 1_000_000;

/// Opens a trace.
///
/// # Errors
/// It cannot be opened, or is too large.
pub(super) fn open(file: &Path) -> Result<impl BufRead, ScenarioError> {
    let opened = File::open(file).and_then(|opened| Ok((opened.metadata()?.len(), opened)));
    let (bytes, opened) = opened.map_err(|error| unreadable(file, &error))?;
    if bytes > LARGEST_BYTES {
        let complaint =
            format!("has {bytes} bytes, more than {LARGEST_BYTES}; cut a part out that loops");
        return Err(ScenarioError::new(file, None, complaint));
    }
    Ok(BufReader::new(opened))
}

/// Reads stamps in ms, one for each opportunity. Returns each stamp once, with the number of
/// opportunities to its end.
///
/// # Errors
/// The first line that breaks a rule, and the mend.
pub fn mahimahi(content: impl BufRead, file: &Path) -> Result<Vec<(u32, u64)>, ScenarioError> {
    let mut stamps: Vec<(u32, u64)> = Vec::new();
    each_line(content, file, |line| {
        let ms = line.parse().ok().filter(|&ms| ms <= LONGEST_MS);
        let ms = ms.ok_or_else(|| {
            format!("{line:?} is not a stamp between 0 and {LONGEST_MS} ms; write one whole number a line")
        })?;
        let (last_ms, count) = stamps.last().copied().unwrap_or((0, 0));
        if ms < last_ms {
            return Err(format!(
                "stamp {ms} ms comes after {last_ms} ms; sort the stamps"
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
        None => Err(ScenarioError::new(file, None, EMPTY)),
        Some((0, _)) => Err(ScenarioError::new(
            file,
            None,
            "all stamps are 0 ms, so that the trace has no length; its last stamp is where it repeats",
        )),
        Some(_) => Ok(stamps),
    }
}

/// Reads lines of `second Mbit/s`, with a blank or a comma between; `#` begins a comment.
///
/// # Errors
/// The first line that breaks a rule, and the mend.
pub fn seconds_mbps(
    content: impl BufRead,
    file: &Path,
    duration_s: f64,
) -> Result<Vec<Rated>, ScenarioError> {
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
        return Err(ScenarioError::new(file, None, EMPTY));
    }
    Ok(rates)
}

fn too_many(most: usize) -> String {
    format!("more than {most} different stamps; thin them, or cut a part out that loops")
}

const EMPTY: &str = "holds no capacity; write at least one line";

fn rated(line: &str) -> Result<Rated, String> {
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
        (Some(_), Some(mbps), None) => Err(format!(
            "{mbps} Mbit/s is not between 0 and {MOST_MBPS}; write 0 for an outage"
        )),
        _ => Err(format!(
            "{line:?} is not two numbers; write `second Mbit/s`"
        )),
    }
}

fn follows(last: Option<&Rated>, second: f64, duration_s: f64) -> Result<(), String> {
    match last {
        None if second != 0.0 => Err(format!(
            "the first stamp is {second} s; say what the rate is from 0 s on"
        )),
        Some(&(before, _)) if second <= before => Err(format!(
            "stamp {second} s does not come after {before} s; sort the lines and keep one each stamp"
        )),
        _ if second >= duration_s => Err(format!(
            "stamp {second} s is not within duration_s, {duration_s} s; lengthen the one or drop the other"
        )),
        _ => Ok(()),
    }
}

fn each_line(
    mut content: impl BufRead,
    file: &Path,
    mut take: impl FnMut(&str) -> Result<(), String>,
) -> Result<(), ScenarioError> {
    // One buffer for all lines: there may be ten millions.
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let read = content.read_line(&mut line);
        if read.map_err(|error| unreadable(file, &error))? == 0 {
            break;
        }
        take(line.trim()).map_err(|complaint| ScenarioError::new(file, Some(number), complaint))?;
    }
    Ok(())
}

fn unreadable(file: &Path, error: &std::io::Error) -> ScenarioError {
    ScenarioError::new(
        file,
        None,
        format!("cannot be read as text ({error}); put the trace beside the scenario"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(text: &str) -> Result<Vec<(u32, u64)>, ScenarioError> {
        mahimahi(text.as_bytes(), Path::new("a.up"))
    }

    fn rates(text: &str) -> Result<Vec<Rated>, ScenarioError> {
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
    fn what_is_wrong_names_line_rule_and_mend() {
        for (text, line, told) in [
            ("", None, "at least one line"),
            ("0\n0\n", None, "no length"),
            ("5\n4\n", Some(2), "sort the stamps"),
            ("1\n\n2\n", Some(2), "one whole number a line"),
            ("-1\n", Some(1), "one whole number a line"),
            ("99999999999\n", Some(1), "between 0 and"),
        ] {
            let error = stamps(text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}");
            assert!(error.complaint.contains(told), "{error}");
        }
        for (text, line, told) in [
            ("\n", Some(1), "second Mbit/s"),
            ("# nothing\n", None, "at least one line"),
            ("1 5\n", Some(1), "from 0 s on"),
            ("0 5\n0 6\n", Some(2), "sort the lines"),
            ("0 5\n3 6\n", Some(2), "duration_s"),
            ("0 -5\n", Some(1), "outage"),
            ("0 NaN\n", Some(1), "second Mbit/s"),
            ("0 5 5\n", Some(1), "second Mbit/s"),
        ] {
            let error = rates(text).unwrap_err();
            assert_eq!(error.line, line, "{text:?}");
            assert!(error.complaint.contains(told), "{error}");
        }
        let missing = open(Path::new("no-such.up")).map(drop).unwrap_err();
        assert!(
            missing.complaint.contains("beside the scenario"),
            "{missing}"
        );
    }
}
