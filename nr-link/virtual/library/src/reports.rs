// SPDX-License-Identifier: Apache-2.0
//! Reports to the launcher while the kernel runs: the guest's reports and the link's time.

use std::fs::File;
use std::io::Write;
use std::num::NonZero;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use nr_link_virtual_plan::{CLOCK_VARIABLE, REPORT_VARIABLE};

use crate::fail;

/// Both ways to the launcher.
#[derive(Debug)]
pub struct Reports {
    file: File,
    clock: &'static AtomicU64,
}

impl Reports {
    /// Opens the descriptors that the launcher has passed.
    pub fn open() -> Result<Self, String> {
        let clock = inherited(CLOCK_VARIABLE)?;
        let length = NonZero::new(size_of::<u64>()).expect("not zero");
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: a new mapping of a file that the launcher made large enough.
        let mapped = unsafe { mmap(None, length, access, MapFlags::MAP_SHARED, &clock, 0) };
        let mapped = mapped.map_err(|error| format!("mapping {CLOCK_VARIABLE}: {error}"))?;
        Ok(Self {
            file: inherited(REPORT_VARIABLE)?.into(),
            // SAFETY: it is page-aligned, and stays to the end of the process.
            clock: unsafe { mapped.cast::<AtomicU64>().as_ref() },
        })
    }

    /// Passes on a line of the guest's.
    pub fn pass_on(&mut self, text: &[u8]) {
        if let Err(error) = self.file.write_all(text) {
            fail(format_args!("passing on a report: {error}"));
        }
    }

    /// Says how far the link is.
    pub fn clock(&self, now: u64) {
        self.clock.store(now, Ordering::Relaxed);
    }
}

fn inherited(variable: &str) -> Result<OwnedFd, String> {
    let number: Option<RawFd> = std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok());
    match number {
        // SAFETY: the launcher passed it for this one use.
        Some(number) => Ok(unsafe { OwnedFd::from_raw_fd(number) }),
        None => Err(format!(
            "{variable} is not set. Start this kernel with nr-link virtual run."
        )),
    }
}
