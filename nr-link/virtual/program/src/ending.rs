// SPDX-License-Identifier: Apache-2.0
//! How the program ends: 0, 1 (began, and failed), 2 (bad input: nothing was started).

use std::fmt;

/// An error that is not the input's.
#[derive(Debug)]
pub enum Ending {
    /// The machine or the run failed, for this reason.
    Failed(String),
}

impl fmt::Display for Ending {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        let Self::Failed(reason) = self;
        to.write_str(reason)
    }
}

impl std::error::Error for Ending {}

/// The exit code.
pub fn code(error: &anyhow::Error) -> u8 {
    let failed = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<Ending>() || cause.is::<std::io::Error>() || cause.is::<nix::errno::Errno>()
    };
    if error.chain().any(failed) { 1 } else { 2 }
}
