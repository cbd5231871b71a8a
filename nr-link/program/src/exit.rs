// SPDX-License-Identifier: Apache-2.0
//! The end of a command: its exit code (docs/errors.md), and SIGPIPE.

use std::io;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::signal::{SigHandler, Signal, signal};
use nr_link_virtual_launcher::Interrupted;

/// The command started and failed.
const FAILED: u8 = 1;
/// The input is wrong; nothing was started.
const WRONG_INPUT: u8 = 2;
/// A signal ended the command.
const INTERRUPTED: u8 = 130;

/// Returns the exit code of an error: 130 if a signal caused it, 1 if the kernel or a disk did, else 2, for wrong input.
#[must_use]
pub fn code(error: &anyhow::Error) -> u8 {
    let from_system =
        |cause: &(dyn std::error::Error + 'static)| cause.is::<io::Error>() || cause.is::<Errno>();
    if error.is::<Interrupted>() {
        INTERRUPTED
    } else if error.chain().any(from_system) {
        FAILED
    } else {
        WRONG_INPUT
    }
}

/// Restores the default action of SIGPIPE, so that the process ends silently when nobody reads its
/// output, like other programs in `… | head`.
///
/// Not for a process that has to clean up.
///
/// # Errors
/// The kernel refuses the change.
pub fn restore_sigpipe() -> Result<()> {
    // SAFETY: the default action runs no code of this program.
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
        let signal = anyhow::Error::from(Interrupted);
        let codes = [&input, &disk, &kernel, &signal].map(code);
        assert_eq!(codes, [2, 1, 1, 130]);
    }
}
