// SPDX-License-Identifier: Apache-2.0
//! How a command ends: its exit code (docs/errors.md), and its end by SIGPIPE.

use std::io;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::signal::{SigHandler, Signal, signal};

/// Begun, and failed.
const FAILED: u8 = 1;
/// Asked for what cannot be: nothing was started.
const REFUSED: u8 = 2;

/// The exit code: 1 if the kernel or a disk refused something, else 2, as the input was wrong.
#[must_use]
pub fn code(error: &anyhow::Error) -> u8 {
    let by_the_machine =
        |cause: &(dyn std::error::Error + 'static)| cause.is::<io::Error>() || cause.is::<Errno>();
    if error.chain().any(by_the_machine) {
        FAILED
    } else {
        REFUSED
    }
}

/// From now on this process ends silently when nobody reads its output, as others do in `… | head`.
///
/// Not for a process that has something to clear away.
///
/// # Errors
/// The kernel's.
pub fn end_when_unread() -> Result<()> {
    // SAFETY: the default action runs no code of ours.
    unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }.context("SIGPIPE")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_machine_have_another_code_than_wrong_input() {
        let input = anyhow::anyhow!("--seconds: -1 is not above 0");
        let disk =
            anyhow::Error::from(io::Error::other("no space")).context("cannot write mac.csv");
        let kernel = anyhow::Error::from(Errno::EPERM).context("making a device");
        assert_eq!([code(&input), code(&disk), code(&kernel)], [2, 1, 1]);
    }
}
