// SPDX-License-Identifier: Apache-2.0
//! A rule that the file breaks, and where in the file that is.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

use super::ConfigError;
use crate::Nanos;

/// A broken rule: the key's path (`radio.prb`), and the rule with its mend.
#[derive(Debug)]
pub(super) struct Broken {
    key: String,
    complaint: String,
    /// Where a list's entry stands, whose keys occur several times.
    line: Option<u64>,
}

impl Broken {
    pub fn new(key: &str, complaint: impl Into<String>) -> Self {
        Self {
            key: key.to_owned(),
            complaint: complaint.into(),
            line: None,
        }
    }

    /// The same, in the entry of a list that begins in this line.
    pub fn in_entry(self, line: u64) -> Self {
        Self {
            line: self.line.or(Some(line)),
            ..self
        }
    }

    /// As its author reads it.
    pub fn told(self, text: &str, file: &Path) -> ConfigError {
        let line = self.line.or_else(|| line_of(text, &self.key));
        ConfigError::new(file, line, format!("{}: {}", self.key, self.complaint))
    }
}

/// The value, if the range has it; NaN is in none.
pub(super) fn within<V: PartialOrd + Display>(
    key: &str,
    value: V,
    range: RangeInclusive<V>,
    mend: &str,
) -> Result<V, Broken> {
    if range.contains(&value) {
        return Ok(value);
    }
    let (least, most) = (range.start(), range.end());
    Err(Broken::new(
        key,
        format!("{value} is not between {least} and {most}; {mend}"),
    ))
}

/// A time: an hour is more than any path, timer or sample interval has.
pub(super) fn nanos(key: &str, ms: f64) -> Result<Nanos, Broken> {
    let ms = within(key, ms, 0.0..=3.6e6, "write a time in ms, up to an hour")?;
    Ok((ms * 1e6).round() as Nanos)
}

/// What the YAML library found wrong.
pub(super) fn from_yaml(error: &serde_saphyr::Error, path: &Path) -> ConfigError {
    let error = error.without_snippet();
    let told = error.to_string();
    // The library repeats the place at the end of its message.
    let rule = told
        .rsplit_once(" at line ")
        .map_or(told.as_str(), |(rule, _)| rule);
    let mend = if rule.contains("; ") {
        ""
    } else {
        "; docs/link-config.md lists keys and their form"
    };
    ConfigError::new(
        path,
        error.location().map(|place| place.line()),
        format!("{rule}{mend}"),
    )
}

/// The line of the key with this path: each step is sought after the one before it.
fn line_of(text: &str, key: &str) -> Option<u64> {
    let mut at = 0;
    for step in key.split('.') {
        at += find_key(&text[at..], step)?;
    }
    Some(text[..at].matches('\n').count() as u64 + 1)
}

/// Where `key:` begins as a whole word.
fn find_key(text: &str, key: &str) -> Option<usize> {
    let wanted = format!("{key}:");
    text.match_indices(&wanted)
        .map(|(at, _)| at)
        .find(|&at| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}
