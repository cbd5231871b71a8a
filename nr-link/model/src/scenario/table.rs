// SPDX-License-Identifier: Apache-2.0
//! CSV files beside a scenario: a line of column names, then rows of numbers sorted by the column
//! `t_s`.

use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;

use crate::input_file;
use crate::problem::{Problem, Violation, violation};

/// A larger file is not read.
const LARGEST_BYTES: u64 = 256 << 20;
/// Limits the memory of a table to 40 MB.
const MOST_VALUES: usize = 5_000_000;
/// The column that every table must have.
pub(super) const STAMP: &str = "t_s";

/// The chosen columns of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Time stamps in seconds, ascending.
    pub t_s: Vec<f64>,
    /// The chosen columns of all rows, row by row.
    pub values: Vec<f32>,
    /// Number of chosen columns.
    pub width: usize,
}

impl Table {
    /// Reads a file; `choose` gets the column names and returns the indices of the chosen ones.
    ///
    /// # Errors
    /// The file cannot be read or is too large; also the errors of [`Table::read`].
    pub fn load(
        file: &Path,
        choose: impl FnOnce(&[&str]) -> Result<Vec<usize>, Violation>,
    ) -> Result<Self, Problem> {
        let refuse = |violation: Violation| violation.in_file(file, None);
        let opened = input_file::open(file, LARGEST_BYTES).map_err(|error| {
            let fix = match error.kind() {
                ErrorKind::Other => "Keep fewer rows, or split the file",
                _ => "Put the file beside the scenario",
            };
            refuse(Violation::unreadable(&error, fix))
        })?;
        Self::read(BufReader::with_capacity(1 << 16, opened), file, choose)
    }

    /// Reads the content of a file; `file` is its name for errors.
    ///
    /// # Errors
    /// A line breaks a rule.
    pub fn read(
        mut content: impl BufRead,
        file: &Path,
        choose: impl FnOnce(&[&str]) -> Result<Vec<usize>, Violation>,
    ) -> Result<Self, Problem> {
        let refuse = |line: u64, violation: Violation| {
            Err(violation.in_file(file, (line > 0).then_some(line)))
        };
        let mut line = String::new();
        let mut number = 0;
        let mut next = |line: &mut String| -> Result<u64, Problem> {
            line.clear();
            let read = content.read_line(line).map_err(|error| {
                Violation::unreadable(&error, "Save the file as UTF-8 text")
                    .in_file(file, Some(number + 1))
            })?;
            number += u64::from(read > 0);
            Ok(if read > 0 { number } else { 0 })
        };
        next(&mut line)?;
        let names: Vec<&str> = line.trim().split(',').map(str::trim).collect();
        let Some(stamp) = names.iter().position(|name| *name == STAMP) else {
            return refuse(
                1,
                violation!(
                    "there is no column {STAMP}",
                    "Name the columns in the first line, with {STAMP} for the time in seconds"
                ),
            );
        };
        let chosen = match choose(&names) {
            Ok(chosen) => chosen,
            Err(violation) => return refuse(1, violation),
        };
        let columns = names.len();
        let mut table = Self {
            t_s: Vec::new(),
            values: Vec::new(),
            width: chosen.len(),
        };
        let mut fields: Vec<f64> = Vec::with_capacity(columns);
        loop {
            let number = next(&mut line)?;
            if number == 0 {
                break;
            }
            if let Err(violation) = numbers(line.trim(), columns, &mut fields)
                .and_then(|()| table.take(fields[stamp], chosen.iter().map(|&of| fields[of])))
            {
                return refuse(number, violation);
            }
        }
        if table.t_s.is_empty() {
            return refuse(
                0,
                violation!(
                    "has no rows",
                    "Write at least one row below the column names"
                ),
            );
        }
        Ok(table)
    }

    /// Returns the line of the row of this index, counted from 1, where the column names are.
    pub(super) const fn line_of(row: usize) -> u64 {
        row as u64 + 2
    }

    fn take(&mut self, t_s: f64, values: impl Iterator<Item = f64>) -> Result<(), Violation> {
        match self.t_s.last() {
            None if t_s < 0.0 => {
                return Err(violation!(
                    "the time {t_s} s is before the start of the scenario",
                    "Count seconds from 0"
                ));
            }
            Some(&before) if t_s <= before => {
                return Err(violation!(
                    "the time {t_s} s does not come after {before} s",
                    "Sort the rows by time, with one row for each time"
                ));
            }
            _ => {}
        }
        if self.values.len() + self.width > MOST_VALUES {
            return Err(violation!(
                "has more than {MOST_VALUES} values",
                "Keep fewer rows, or a shorter part that loops"
            ));
        }
        self.t_s.push(t_s);
        self.values.extend(values.map(|value| value as f32));
        Ok(())
    }
}

fn numbers(line: &str, columns: usize, fields: &mut Vec<f64>) -> Result<(), Violation> {
    fields.clear();
    for field in line.split(',') {
        let value = field.trim().parse::<f64>().ok();
        let value = value.filter(|value| value.is_finite()).ok_or_else(|| {
            Violation::new(
                format!("{:?} is not a finite number", field.trim()),
                "Write a finite number, or leave the row out",
            )
        })?;
        fields.push(value);
    }
    if fields.len() == columns {
        Ok(())
    } else {
        Err(Violation::new(
            format!(
                "the row has {} fields, and there are {columns} columns",
                fields.len()
            ),
            "Write one number for each column",
        ))
    }
}

/// Returns the index of the column `name`.
pub(super) fn column(names: &[&str], name: &str) -> Result<usize, Violation> {
    names
        .iter()
        .position(|known| *known == name)
        .ok_or_else(|| {
            Violation::new(
                format!("there is no column {name:?}"),
                format!("Name one of {} in the scenario", names.join(", ")),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Table, Problem> {
        Table::read(text.as_bytes(), Path::new("x.csv"), |names| {
            Ok(vec![column(names, "rsrp_dbm")?])
        })
    }

    #[test]
    fn a_column_is_read_by_its_name() {
        let table = read("t_s,cqi,rsrp_dbm\n0,5,-80\n0.5,6,-81.5\n").unwrap();
        assert_eq!(table.t_s, [0.0, 0.5]);
        assert_eq!(table.values, [-80.0, -81.5]);
    }

    #[test]
    fn problems_name_file_line_rule_and_fix() {
        for (text, expected) in [
            ("", "x.csv:1: there is no column t_s. Name"),
            (
                "seconds,rsrp_dbm\n0,1\n",
                "x.csv:1: there is no column t_s. Name",
            ),
            (
                "t_s,RSRP\n0,1\n",
                "x.csv:1: there is no column \"rsrp_dbm\". Name one of t_s, RSRP",
            ),
            ("t_s,rsrp_dbm\n", "x.csv: has no rows. Write"),
            (
                "t_s,rsrp_dbm\n0,-80\n1,NaN\n",
                "x.csv:3: \"NaN\" is not a finite number. Write",
            ),
            (
                "t_s,rsrp_dbm\n0,-80 dBm\n",
                "x.csv:2: \"-80 dBm\" is not a finite number. Write",
            ),
            (
                "t_s,rsrp_dbm\n0,-80,7\n",
                "x.csv:2: the row has 3 fields, and there are 2 columns. Write",
            ),
            (
                "t_s,rsrp_dbm\n1,-80\n1,-80\n",
                "x.csv:3: the time 1 s does not come after 1 s. Sort",
            ),
            (
                "t_s,rsrp_dbm\n-1,-80\n",
                "x.csv:2: the time -1 s is before the start of the scenario. Count",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}\nis not\n{expected}");
        }
    }
}
