// SPDX-License-Identifier: Apache-2.0
//! A file that the run writes. What the disk refuses ends the run.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::fail;

const BUFFER_BYTES: usize = 1 << 16;

/// A file that is being written, and its path for errors.
#[derive(Debug)]
pub struct OutputFile {
    file: BufWriter<File>,
    path: PathBuf,
}

impl OutputFile {
    /// Creates `path`, or empties it.
    pub fn create(path: &Path) -> Result<Self, String> {
        let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
        Ok(Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            path: path.into(),
        })
    }

    /// Appends what `write` writes.
    pub fn append(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Err(error) = write(&mut self.file) {
            fail(cannot_write(&self.path, &error));
        }
    }

    /// Writes `content` over the start of the file, and passes everything to the disk. Nothing can be appended after it.
    pub fn replace_start(&mut self, content: &[u8]) {
        self.append(|file| {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(content)?;
            file.flush()
        });
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        self.append(Write::flush);
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!(
        "{}: cannot be written: {error}. Check the folder, its permissions and the free space.",
        path.display()
    )
}
