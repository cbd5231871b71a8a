// SPDX-License-Identifier: Apache-2.0
//! Complex taps over time from a file, as channel emulators and ray tracers write them.

use std::path::{Path, PathBuf};

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
        check(&table, &self.file, duration_s)?;
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

fn check(table: &Table, file: &Path, duration_s: f64) -> Result<(), Problem> {
    let last_s = table.t_s.last().copied().unwrap_or(0.0);
    if last_s >= duration_s {
        return Err(super::series::ends_late(last_s, duration_s).in_file(file, None));
    }
    for (row, taps) in table.values.chunks_exact(table.width).enumerate() {
        check_delays(taps)
            .map_err(|violation| violation.in_file(file, Some(Table::line_of(row))))?;
    }
    let power: f64 = taps_of(&table.values)
        .map(|[_, re, im]| f64::from(*re).powi(2) + f64::from(*im).powi(2))
        .sum();
    if power > 0.0 && power.is_finite() {
        Ok(())
    } else {
        Err(violation!(
            "no tap has any power",
            "Write amplitudes in the columns re_… and im_…"
        )
        .in_file(file, None))
    }
}

fn check_delays(row: &[f32]) -> Result<(), Violation> {
    match taps_of(row).find(|[delay_ns, ..]| !(0.0..=LONGEST_DELAY_NS).contains(delay_ns)) {
        None => Ok(()),
        Some([delay_ns, ..]) => Err(violation!(
            "{delay_ns} is not a delay between 0 and {LONGEST_DELAY_NS} ns",
            "Write the delay in nanoseconds"
        )),
    }
}

/// Returns the columns of each tap.
fn taps_of(values: &[f32]) -> impl Iterator<Item = &[f32; COLUMNS_OF_TAP.len()]> {
    values
        .chunks_exact(COLUMNS_OF_TAP.len())
        .map(|tap| tap.try_into().expect("of this length"))
}
