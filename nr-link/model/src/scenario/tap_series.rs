// SPDX-License-Identifier: Apache-2.0
//! Complex taps over time from a file, as channel emulators and ray tracers write them.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::table::{STAMP, Table};
use crate::problem::{Problem, Violation, violation};

/// The number of taps of a hardware channel emulator (Hercules, section 3.3).
pub(super) const MOST_TAPS: usize = 4;
/// The columns of a tap: a delay and a complex gain.
const COLUMNS_OF_TAP: [&str; 3] = ["delay_ns", "re", "im"];
/// The largest delay, like that of [`super::Delay`].
const LONGEST_DELAY_NS: f32 = 1e5;

/// A CSV file of taps: `t_s`, then `delay_ns_1`, `re_1`, `im_1` and so on, for one to four taps.
/// Gains are amplitudes; powers are normalised so that their mean over the file is 1. Real part,
/// imaginary part and delay are interpolated linearly between rows.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TapSeries {
    /// Path relative to the scenario file.
    pub file: PathBuf,
    /// The content of the file.
    #[serde(skip)]
    pub(crate) rows: Option<Table>,
}

impl TapSeries {
    /// Reads and checks the file, if it was not read yet.
    pub(super) fn load(&mut self, duration_s: f64) -> Result<(), Problem> {
        if self.rows.is_some() {
            return Ok(());
        }
        let table = Table::load(&self.file, tap_columns)?;
        check(&table, duration_s).map_err(|violation| violation.in_file(&self.file, None))?;
        self.rows = Some(table);
        Ok(())
    }
}

/// Returns the columns of all taps, tap by tap.
pub(super) fn tap_columns(names: &[&str]) -> Result<Vec<usize>, Violation> {
    let taps = names
        .iter()
        .filter(|name| name.starts_with("re_") || name.starts_with("delay_ns_"))
        .filter_map(|name| name.rsplit('_').next()?.parse::<usize>().ok())
        .max()
        .unwrap_or(0);
    if taps == 0 || taps > MOST_TAPS {
        return Err(Violation::new(
            format!("{taps} taps are given, and 1 to {} are allowed", MOST_TAPS),
            format!(
                "Name the columns {STAMP}, delay_ns_1, re_1, im_1, …, and merge taps of similar delay"
            ),
        ));
    }
    (1..=taps)
        .flat_map(|tap| COLUMNS_OF_TAP.map(|name| format!("{name}_{tap}")))
        .map(|name| super::table::column(names, &name))
        .collect()
}

pub(super) fn check(table: &Table, duration_s: f64) -> Result<(), Violation> {
    let last_s = table.t_s.last().copied().unwrap_or(0.0);
    if last_s >= duration_s {
        return Err(super::series::ends_late(last_s, duration_s));
    }
    let mut taps = table.values.chunks_exact(COLUMNS_OF_TAP.len());
    if let Some(tap) = taps.find(|tap| !(0.0..=LONGEST_DELAY_NS).contains(&tap[0])) {
        return Err(Violation::new(
            format!(
                "{} is not a delay between 0 and {LONGEST_DELAY_NS} ns",
                tap[0]
            ),
            "Write the delay in nanoseconds",
        ));
    }
    let power: f64 = table
        .values
        .chunks_exact(COLUMNS_OF_TAP.len())
        .map(|tap| f64::from(tap[1]).powi(2) + f64::from(tap[2]).powi(2))
        .sum();
    if power > 0.0 && power.is_finite() {
        Ok(())
    } else {
        Err(violation!(
            "no tap has any power",
            "Write amplitudes in the columns re_… and im_…"
        ))
    }
}
