// SPDX-License-Identifier: Apache-2.0
//! The wall time of each slot, by which what others have captured meanwhile gets the radio's time.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::steps::Passage;

/// A file with a row for each slot (docs/run-directory.md).
#[derive(Debug)]
pub struct WallTimes {
    path: PathBuf,
    file: BufWriter<File>,
}

impl WallTimes {
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        let mut made = Self {
            file: BufWriter::new(file),
            path,
        };
        made.write("utc_ns,entering_wall_utc_ns,begun_wall_utc_ns,ended_wall_utc_ns\n")?;
        Ok(made)
    }

    /// Adds a slot that began at hosts' time `utc_ns`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&mut self, utc_ns: i64, slot: Passage) -> Result<()> {
        let [entering, begun, ended] = [slot.entering, slot.begun, slot.ended].map(nanoseconds);
        self.write(&format!("{utc_ns},{entering},{begun},{ended}\n"))
    }

    fn write(&mut self, row: &str) -> Result<()> {
        let written = self.file.write_all(row.as_bytes());
        let written = written.and_then(|()| self.file.flush());
        written.with_context(|| self.path.display().to_string())
    }
}

fn nanoseconds(at: SystemTime) -> u128 {
    at.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos())
}
