// SPDX-License-Identifier: Apache-2.0
//! Reports to the launcher.

use std::fs::OpenOptions;
use std::io::Write;

use anyhow::{Context, Result};
use nr_link_virtual_plan::{GUEST_REPORT, Report};

/// The kernel takes no more at once (REPORT_BYTES_MAX of ../../driver/proc_files.c).
const PIECE_BYTES: usize = 1 << 20;

/// Sends one.
pub fn send(report: &Report) -> Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    let mut file = OpenOptions::new()
        .write(true)
        .open(GUEST_REPORT)
        .context(GUEST_REPORT)?;
    let mut pieces = line.chunks(PIECE_BYTES);
    pieces
        .try_for_each(|piece| file.write_all(piece))
        .context(GUEST_REPORT)
}
