// SPDX-License-Identifier: Apache-2.0
//! What is wrong with a scenario file, said so that its author can mend it.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong: where, which rule it breaks, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file that was read.
    pub file: PathBuf,
    /// The line in it, from 1, when the fault has one.
    pub line: Option<u64>,
    /// The rule that is broken, then a semicolon, then the mend.
    pub complaint: String,
}

impl ScenarioError {
    pub(crate) fn new(file: &Path, line: Option<u64>, complaint: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            line,
            complaint: complaint.into(),
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.complaint)
    }
}

impl std::error::Error for ScenarioError {}
