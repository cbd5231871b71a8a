// SPDX-License-Identifier: Apache-2.0
//! CSV files beside a scenario: a line of column names, then numbers, sorted by the column `t_s`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::ScenarioError;

/// Larger files are refused before they are read.
const LARGEST_BYTES: u64 = 256 << 20;
/// Keeps a table below 40 MB.
const MOST_VALUES: usize = 5_000_000;
/// The column that every table has.
pub(super) const STAMP: &str = "t_s";

/// Chosen columns of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Seconds, rising.
    pub t_s: Vec<f64>,
    /// The chosen columns of each row, one row after the other.
    pub values: Vec<f32>,
    /// How many columns were chosen.
    pub width: usize,
}

impl Table {
    /// Reads a file; `choose` is told the column names and picks some by their index.
    ///
    /// # Errors
    /// The file is none, or too large; as [`Table::read`].
    pub fn load(
        file: &Path,
        choose: impl FnOnce(&[&str]) -> Result<Vec<usize>, String>,
    ) -> Result<Self, ScenarioError> {
        let refuse = |complaint: String| ScenarioError::new(file, None, complaint);
        let opened = File::open(file).and_then(|opened| Ok((opened.metadata()?, opened)));
        let (about, opened) = opened.map_err(|error| {
            refuse(format!(
                "cannot be opened ({error}); put the file beside the scenario"
            ))
        })?;
        if !about.is_file() || about.len() > LARGEST_BYTES {
            return Err(refuse(format!(
                "is no file of at most {LARGEST_BYTES} bytes; thin it, or cut it into parts"
            )));
        }
        Self::read(
            BufReader::with_capacity(1 << 16, opened.take(LARGEST_BYTES)),
            file,
            choose,
        )
    }

    /// Reads content; `file` names it in errors.
    ///
    /// # Errors
    /// The first line that breaks a rule, and the mend.
    pub fn read(
        mut content: impl BufRead,
        file: &Path,
        choose: impl FnOnce(&[&str]) -> Result<Vec<usize>, String>,
    ) -> Result<Self, ScenarioError> {
        let refuse = |line: u64, complaint: String| {
            Err(ScenarioError::new(
                file,
                (line > 0).then_some(line),
                complaint,
            ))
        };
        let mut line = String::new();
        let mut number = 0;
        let mut next = |line: &mut String| -> Result<u64, ScenarioError> {
            line.clear();
            let read = content.read_line(line).map_err(|error| {
                ScenarioError::new(
                    file,
                    Some(number + 1),
                    format!("cannot be read as text ({error}); save it as UTF-8"),
                )
            })?;
            number += u64::from(read > 0);
            Ok(if read > 0 { number } else { 0 })
        };
        next(&mut line)?;
        let names: Vec<&str> = line.trim().split(',').map(str::trim).collect();
        let Some(stamp) = names.iter().position(|name| *name == STAMP) else {
            return refuse(
                1,
                format!(
                    "no column {STAMP}; name the columns in the first line, {STAMP} for seconds"
                ),
            );
        };
        let chosen = match choose(&names) {
            Ok(chosen) => chosen,
            Err(complaint) => return refuse(1, complaint),
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
            if let Err(complaint) = numbers(line.trim(), columns, &mut fields)
                .and_then(|()| table.take(fields[stamp], chosen.iter().map(|&of| fields[of])))
            {
                return refuse(number, complaint);
            }
        }
        if table.t_s.is_empty() {
            return refuse(0, "has no rows; write at least one below the names".into());
        }
        Ok(table)
    }

    fn take(&mut self, t_s: f64, values: impl Iterator<Item = f64>) -> Result<(), String> {
        match self.t_s.last() {
            None if t_s < 0.0 => {
                return Err(format!(
                    "stamp {t_s} s is before the scenario begins; count seconds from 0"
                ));
            }
            Some(&before) if t_s <= before => {
                return Err(format!(
                    "stamp {t_s} s does not come after {before} s; sort the rows and keep one each stamp"
                ));
            }
            _ => {}
        }
        if self.values.len() + self.width > MOST_VALUES {
            return Err(format!(
                "has more than {MOST_VALUES} values; thin the rows, or let a shorter part loop"
            ));
        }
        self.t_s.push(t_s);
        self.values.extend(values.map(|value| value as f32));
        Ok(())
    }
}

fn numbers(line: &str, columns: usize, fields: &mut Vec<f64>) -> Result<(), String> {
    fields.clear();
    for field in line.split(',') {
        let value = field.trim().parse::<f64>().ok();
        let value = value.filter(|value| value.is_finite()).ok_or_else(|| {
            format!(
                "{:?} is not a finite number; write one, or leave the row out",
                field.trim()
            )
        })?;
        fields.push(value);
    }
    if fields.len() == columns {
        Ok(())
    } else {
        Err(format!(
            "{} fields stand under {columns} names; write one number for each column",
            fields.len()
        ))
    }
}

/// The index of the column `name`.
pub(super) fn column(names: &[&str], name: &str) -> Result<usize, String> {
    names
        .iter()
        .position(|known| *known == name)
        .ok_or_else(|| {
            format!(
                "no column {name:?} among {}; correct the name in the scenario",
                names.join(", ")
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Table, ScenarioError> {
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
    fn what_is_wrong_names_line_rule_and_mend() {
        for (text, told) in [
            ("", "x.csv:1: no column t_s; name"),
            ("seconds,rsrp_dbm\n0,1\n", "x.csv:1: no column t_s; name"),
            (
                "t_s,RSRP\n0,1\n",
                "x.csv:1: no column \"rsrp_dbm\" among t_s, RSRP; correct",
            ),
            ("t_s,rsrp_dbm\n", "x.csv: has no rows; write"),
            (
                "t_s,rsrp_dbm\n0,-80\n1,NaN\n",
                "x.csv:3: \"NaN\" is not a finite number; write",
            ),
            (
                "t_s,rsrp_dbm\n0,-80 dBm\n",
                "x.csv:2: \"-80 dBm\" is not a finite number; write",
            ),
            (
                "t_s,rsrp_dbm\n0,-80,7\n",
                "x.csv:2: 3 fields stand under 2 names; write",
            ),
            (
                "t_s,rsrp_dbm\n1,-80\n1,-80\n",
                "x.csv:3: stamp 1 s does not come after 1 s; sort",
            ),
            (
                "t_s,rsrp_dbm\n-1,-80\n",
                "x.csv:2: stamp -1 s is before the scenario begins; count",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}\nis not\n{told}");
        }
    }
}
