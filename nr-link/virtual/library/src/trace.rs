// SPDX-License-Identifier: Apache-2.0
//! The trace of Reminis: one row for each sampling interval of a flow (`raw/cc-reminis.csv`).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::fail;
use crate::interface::Decision;
use crate::pcap::cannot_write;

const HEADER: &str = "utc_ns,sport,dport,zone,action,delay_us,min_rtt_us,dtt_us,gradient,mu,draw,\
                      cwnd_before,cwnd_after,si_us,samples";
/// enum reminis_action of kmod/reminis_core.h.
const ACTIONS: [&str; 4] = ["none", "nde", "ps", "cm"];
const ACTION_NDE: u8 = 1;

/// The file.
#[derive(Debug)]
pub struct Trace {
    file: BufWriter<File>,
    path: PathBuf,
}

impl Trace {
    /// Creates `path`, or empties it.
    pub fn create(path: &Path) -> Result<Self, String> {
        let create = || -> io::Result<_> {
            let mut file = BufWriter::new(File::create(path)?);
            writeln!(file, "{HEADER}")?;
            Ok(file)
        };
        Ok(Self {
            file: create().map_err(|error| cannot_write(path, &error))?,
            path: path.into(),
        })
    }

    /// Appends a row.
    pub fn record(&mut self, decision: &Decision, utc_ns: u64) {
        self.checked(|file| write_row(decision, utc_ns, file));
    }

    /// Passes everything to the disk.
    pub fn flush(&mut self) {
        self.checked(Write::flush);
    }

    fn checked(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) {
        if let Err(error) = write(&mut self.file) {
            fail(cannot_write(&self.path, &error));
        }
    }
}

fn write_row(d: &Decision, utc_ns: u64, file: &mut impl Write) -> io::Result<()> {
    let one = f64::from(1 << 24);
    let action = ACTIONS.get(usize::from(d.action)).unwrap_or(&"");
    write!(
        file,
        "{utc_ns},{},{},{},{action},{},{},{},{:.6},{:.6},",
        d.local_port,
        d.remote_port,
        d.zone,
        d.delay_us,
        d.min_rtt_us,
        d.dtt_us,
        d.gradient_q24 as f64 / one,
        f64::from(d.mu_q24) / one,
    )?;
    if d.action == ACTION_NDE {
        write!(file, "{:.6}", f64::from(d.draw_q24) / one)?;
    }
    writeln!(
        file,
        ",{},{},{},{}",
        d.cwnd_before, d.cwnd_after, d.si_us, d.samples
    )
}
