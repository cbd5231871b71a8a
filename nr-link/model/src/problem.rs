// SPDX-License-Identifier: Apache-2.0
//! A problem with what the user wrote: where it is, which rule it breaks, and how to fix it.
//!
//! Problems are values. A program renders them once, where it ends: as text by [`Problem`]'s `Display`, or field
//! by field for another program.

use std::fmt;
use std::path::{Path, PathBuf};

/// The place of a problem; `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Option<PathBuf>,
    /// The line in the file, from 1.
    pub line: Option<u64>,
    /// The key's path in the file (`radio.prb`), or the command line's option (`--seconds`).
    pub key: Option<String>,
}

/// A rule that a value breaks, and how to fix it; where the value stands is not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The problem, without a full stop.
    pub rule: String,
    /// The fix: an imperative sentence without a full stop.
    pub fix: String,
}

/// A problem with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place.
    pub place: Place,
    /// The problem, without a full stop.
    pub rule: String,
    /// The fix: an imperative sentence without a full stop.
    pub fix: String,
}

/// Makes a [`Violation`] from two format strings: the rule and the fix.
macro_rules! violation {
    ($rule:literal, $fix:literal $(,)?) => {
        $crate::problem::Violation::new(format!($rule), format!($fix))
    };
}
pub(crate) use violation;

/// Stands between rule and fix in [`Violation::as_serde_message`].
const SEPARATOR: char = '\u{1f}';

impl Violation {
    /// Makes a violation of `rule`, with the `fix`.
    pub fn new(rule: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            fix: fix.into(),
        }
    }

    /// Makes the problem that a key breaks this rule.
    pub fn at_key(self, key: impl Into<String>) -> Problem {
        self.at(Place {
            key: Some(key.into()),
            ..Place::default()
        })
    }

    /// Makes the problem that a file breaks this rule, in a line if known.
    pub fn in_file(self, file: &Path, line: Option<u64>) -> Problem {
        self.at(Place {
            file: Some(file.to_owned()),
            line,
            key: None,
        })
    }

    /// Makes the violation for a file that cannot be read.
    pub(crate) fn unreadable(error: &std::io::Error, fix: &str) -> Self {
        Self::new(format!("cannot be read ({error})"), fix)
    }

    fn at(self, place: Place) -> Problem {
        Problem {
            place,
            rule: self.rule,
            fix: self.fix,
        }
    }

    /// Encodes the violation as the text of a serde error; [`Violation::from_serde_message`]
    /// decodes it.
    pub(crate) fn as_serde_message(&self) -> String {
        format!("{}{SEPARATOR}{}", self.rule, self.fix)
    }

    /// Decodes the text of [`Violation::as_serde_message`]; `None` for any other message.
    pub(crate) fn from_serde_message(message: &str) -> Option<Self> {
        let (rule, fix) = message.split_once(SEPARATOR)?;
        Some(Self::new(rule, fix))
    }
}

impl Problem {
    /// Sets the file if it is not known yet.
    pub fn or_in_file(mut self, file: &Path) -> Self {
        self.place.file.get_or_insert_with(|| file.to_owned());
        self
    }

    /// Sets the line if it is not known yet.
    pub(crate) fn or_in_line(mut self, line: Option<u64>) -> Self {
        self.place.line = self.place.line.or(line);
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.rule, self.fix)
    }
}

/// `file:line: key: rule. Fix`, without what is unknown.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Place { file, line, key } = &self.place;
        if let Some(file) = file {
            write!(f, "{}", file.display())?;
            if let Some(line) = line {
                write!(f, ":{line}")?;
            }
            write!(f, ": ")?;
        }
        if let Some(key) = key {
            write!(f, "{key}: ")?;
        }
        write!(f, "{}. {}", self.rule, self.fix)
    }
}

impl std::error::Error for Violation {}
impl std::error::Error for Problem {}
