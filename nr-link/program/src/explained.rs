// SPDX-License-Identifier: Apache-2.0
//! The delay of each packet, `delays.npy`, as the link accounts for it. When hosts sent and received a packet stands in
//! their captures only.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nr_link_model::delays::{Captured, Row, header};
use nr_link_model::{Delivery, Part};

use crate::burst::Segment;
use crate::output::cannot_write;

/// Some hundred rows: writing delays packets.
const BUFFER_BYTES: usize = 1 << 16;

/// The file.
#[derive(Debug)]
pub struct Explained {
    file: BufWriter<File>,
    path: PathBuf,
    parts: &'static [Part],
    rows: u64,
    /// The first error of a row, which [`Explained::check`] returns: packets go first.
    failed: Option<io::Error>,
}

impl Explained {
    /// Creates the file, or truncates it, for a link whose packets can have these parts.
    pub fn create(path: &Path, parts: &'static [Part]) -> Result<Self> {
        let file = File::create(path).with_context(|| cannot_write(path))?;
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, file);
        file.write_all(&header(parts, 0))
            .with_context(|| cannot_write(path))?;
        Ok(Self {
            file,
            path: path.into(),
            parts,
            rows: 0,
            failed: None,
        })
    }

    /// Adds a packet that leaves the link.
    pub fn record(&mut self, delivery: &Delivery<Segment>, start_utc_ns: i64) {
        let Some(delays) = &delivery.packet.delays else {
            return;
        };
        let row = Row {
            received: Captured::default(),
            left: delivery.due,
            ip_bytes: delivery.packet.bytes,
            identity: delivery.packet.payload.identity(),
            ue: delivery.to.ue(),
            direction: delivery.to.direction(),
            delays,
        };
        match row.write(self.parts, start_utc_ns, &mut self.file) {
            Ok(()) => self.rows += 1,
            Err(error) => self.failed = self.failed.take().or(Some(error)),
        }
    }

    /// Returns an error if a row could not be written.
    pub fn check(&mut self) -> Result<()> {
        match self.failed.take() {
            Some(error) => Err(error).with_context(|| cannot_write(&self.path)),
            None => Ok(()),
        }
    }

    /// Completes the file.
    pub fn finish(mut self) -> Result<()> {
        self.check()?;
        self.file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.write_all(&header(self.parts, self.rows)))
            .and_then(|()| self.file.flush())
            .with_context(|| cannot_write(&self.path))
    }
}
