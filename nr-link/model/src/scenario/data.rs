// SPDX-License-Identifier: Apache-2.0
//! Values of a scenario that may be in files beside it.

use std::path::PathBuf;

use super::{Series, TapSeries};
use crate::problem::{Problem, Violation};

/// A value that may be in a file.
#[derive(Debug)]
pub(super) enum Data<'a> {
    /// A series, with the rule for its values.
    Series(&'a mut Series, fn(&Series) -> Result<(), Violation>),
    /// Taps over time.
    Taps(&'a mut TapSeries),
    /// The file of a capacity trace, which is read where the capacity is made.
    Trace(&'a mut PathBuf),
}

impl<'a> Data<'a> {
    /// Returns the file; `None`: the value is in the scenario.
    pub fn file(self) -> Option<&'a mut PathBuf> {
        match self {
            Self::Series(series, _) => series.file_mut(),
            Self::Taps(taps) => Some(&mut taps.file),
            Self::Trace(file) => Some(file),
        }
    }

    /// Checks a value in the scenario.
    pub fn check(self, duration_s: f64) -> Result<(), Violation> {
        match self {
            Self::Series(series, rule) if series.is_loaded() => {
                rule(series).and_then(|()| series.check_end(duration_s))
            }
            _ => Ok(()),
        }
    }

    /// Reads and checks the file.
    pub fn load(self, duration_s: f64) -> Result<(), Problem> {
        match self {
            Self::Series(series, rule) => series.load(rule, duration_s),
            Self::Taps(taps) => taps.load(duration_s),
            Self::Trace(_) => Ok(()),
        }
    }
}
