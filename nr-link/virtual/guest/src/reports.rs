// SPDX-License-Identifier: Apache-2.0
//! Reports to the launcher.

use std::fs::OpenOptions;
use std::io::Write;

use anyhow::{Context, Result};
use nr_link_virtual_plan::{GUEST_REPORT, Report};

/// Sends one.
pub fn send(report: &Report) -> Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    let mut file = OpenOptions::new()
        .write(true)
        .open(GUEST_REPORT)
        .context(GUEST_REPORT)?;
    file.write_all(&line).context(GUEST_REPORT)
}
