// SPDX-License-Identifier: Apache-2.0
//! MAC samples: one row of `mac.csv` for each UE and interval.

use std::io;

use crate::Nanos;

/// The header of `mac.csv`, without a line end.
pub const CSV_HEADER: &str = "utc_ns";

/// What the MAC saw of one UE in one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct MacSample {
    /// Start of the interval.
    pub start: Nanos,
}

impl MacSample {
    /// Writes the row, with its line end. `start_utc_ns` is UTC at the link's time 0, in ns since 1970.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_csv(&self, _start_utc_ns: i64, _to: &mut impl io::Write) -> io::Result<()> {
        unimplemented!()
    }
}
