// SPDX-License-Identifier: Apache-2.0
//! The traces of congestion controls as CSV: a row for each decision of a flow (`raw/cc-NAME.csv`).

use std::io::{self, Write};
use std::path::Path;

use crate::output_file::OutputFile;

/// NR_LINK_TRACE_EMPTY.
const EMPTY: i64 = i64::MIN;

/// The trace that a congestion control of the kernel declares.
#[derive(Debug)]
pub struct Declared {
    /// The congestion control.
    pub name: String,
    /// The columns of a row, after its time.
    pub columns: Vec<Column>,
}

/// A column of a trace.
#[derive(Debug)]
pub struct Column {
    /// Its title.
    pub name: String,
    /// The form of its numbers.
    pub form: Form,
}

/// The form in which numbers are written.
#[derive(Debug)]
pub enum Form {
    /// The number itself.
    Whole,
    /// With six decimals, of a fixed-point number with so many bits behind the point.
    Fixed(u32),
    /// The text that stands for the number.
    Labels(Vec<String>),
}

/// The file.
#[derive(Debug)]
pub struct Trace {
    columns: Vec<Column>,
    file: OutputFile,
}

impl Trace {
    /// Creates `path`, or empties it.
    pub fn create(path: &Path, columns: Vec<Column>) -> Result<Self, String> {
        let mut file = OutputFile::create(path)?;
        let names = columns.iter().map(|column| column.name.as_str());
        let names: Vec<_> = ["utc_ns"].into_iter().chain(names).collect();
        file.append(|file| writeln!(file, "{}", names.join(",")));
        Ok(Self { columns, file })
    }

    /// The number of values that a row has.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Appends a row.
    pub fn record(&mut self, utc_ns: u64, values: &[i64]) {
        self.file
            .append(|file| write_row(file, &self.columns, utc_ns, values));
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        self.file.flush();
    }
}

fn write_row(
    file: &mut impl Write,
    columns: &[Column],
    utc_ns: u64,
    values: &[i64],
) -> io::Result<()> {
    write!(file, "{utc_ns}")?;
    for (column, &value) in columns.iter().zip(values) {
        write!(file, ",")?;
        match &column.form {
            _ if value == EMPTY => {}
            Form::Whole => write!(file, "{value}")?,
            Form::Fixed(bits) => {
                write!(file, "{:.6}", value as f64 / 2f64.powi(*bits as i32))?;
            }
            Form::Labels(labels) => {
                let label = usize::try_from(value)
                    .ok()
                    .and_then(|value| labels.get(value));
                write!(file, "{}", label.map_or("", String::as_str))?;
            }
        }
    }
    writeln!(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_each_number_in_the_form_of_its_column() {
        let labels = ["none", "up"].map(str::to_owned).to_vec();
        let columns = [Form::Whole, Form::Fixed(24), Form::Labels(labels)].map(|form| Column {
            name: String::new(),
            form,
        });
        let written = |values: &[i64]| {
            let mut file = Vec::new();
            write_row(&mut file, &columns, 5, values).unwrap();
            String::from_utf8(file).unwrap()
        };
        assert_eq!(written(&[-7, 3 << 23, 1]), "5,-7,1.500000,up\n");
        assert_eq!(written(&[i64::MIN, -1, 2]), "5,,-0.000000,\n");
    }
}
