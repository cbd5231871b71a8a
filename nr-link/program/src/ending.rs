// SPDX-License-Identifier: Apache-2.0
//! How a command ends: in words on standard error, and with an exit code (docs/errors.md).

use std::io;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::signal::{SigHandler, Signal, signal};

/// Begun, and failed.
const FAILED: u8 = 1;
/// Asked for what cannot be: nothing was started.
const REFUSED: u8 = 2;

/// `nr-link: error: message`; further lines of it are indented, so that they are seen to be.
#[must_use]
pub fn told(message: &str) -> String {
    let mut lines = message.trim_end().lines();
    let mut text = format!("nr-link: error: {}", lines.next().unwrap_or_default());
    for line in lines.filter(|line| !line.trim().is_empty()) {
        text.push_str("\n  ");
        text.push_str(line.trim_start());
    }
    text
}

/// The exit code: what the kernel or a disk refused has failed; the rest was wrong before.
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
    fn further_lines_are_indented_and_empty_ones_left_out() {
        assert_eq!(told("one"), "nr-link: error: one");
        assert_eq!(
            told("one\n\n  two\nthree\n"),
            "nr-link: error: one\n  two\n  three"
        );
    }

    #[test]
    fn what_the_machine_refused_is_told_apart_from_wrong_input() {
        let input = anyhow::anyhow!("--seconds: -1 is not above 0");
        let disk =
            anyhow::Error::from(io::Error::other("no space")).context("cannot write mac.csv");
        let kernel = anyhow::Error::from(Errno::EPERM).context("making a device");
        assert_eq!([code(&input), code(&disk), code(&kernel)], [2, 1, 1]);
    }
}
