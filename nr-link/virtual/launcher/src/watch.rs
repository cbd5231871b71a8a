// SPDX-License-Identifier: Apache-2.0
//! Watches a running kernel: a program that polls the clock, or computes, holds virtual time still.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::process::Child;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signalfd::SignalFd;

use crate::{Interrupted, failed};

const LOOK_MS: u16 = 250;
const SECOND: u64 = 1_000_000_000;

/// The state of a watched kernel.
#[derive(Debug)]
pub struct Watch<'a> {
    ended: OwnedFd,
    clock: &'a File,
    limit: Duration,
    signals: Option<&'a SignalFd>,
}

impl<'a> Watch<'a> {
    /// Over a kernel that writes its time into `clock`; a virtual second may take `limit_s` of CPU.
    /// A signal of `signals` ends it.
    pub fn over(
        kernel: &Child,
        clock: &'a File,
        limit_s: f64,
        signals: Option<&'a SignalFd>,
    ) -> Result<Self> {
        // SAFETY: a new descriptor, or −1.
        let number = unsafe { libc::syscall(libc::SYS_pidfd_open, kernel.id(), 0) };
        let number = Errno::result(number).context("pidfd_open")?;
        Ok(Self {
            // SAFETY: as above.
            ended: unsafe { OwnedFd::from_raw_fd(number as i32) },
            clock,
            limit: Duration::from_secs_f64(limit_s),
            signals,
        })
    }

    /// Returns when the kernel has ended, but not yet been waited for.
    ///
    /// # Errors
    /// It took more CPU than it may, and was killed.
    pub fn wait(&self, kernel: &mut Child) -> Result<()> {
        let (mut second, mut cpu_then) = (0, Duration::ZERO);
        loop {
            let ready = |descriptor| PollFd::new(descriptor, PollFlags::POLLIN);
            let mut awaited = vec![ready(self.ended.as_fd())];
            awaited.extend(self.signals.map(|signals| ready(signals.as_fd())));
            match poll(&mut awaited, PollTimeout::from(LOOK_MS)) {
                Ok(0) | Err(Errno::EINTR) => {}
                Ok(_) if awaited[0].any() == Some(true) => return Ok(()),
                Ok(_) => {
                    kernel.kill().context("ending the kernel")?;
                    return Err(Interrupted.into());
                }
                Err(error) => return Err(error).context("waiting for the kernel"),
            }
            let cpu = cpu_time(kernel);
            let now = self.virtual_time()? / SECOND;
            if now != second {
                (second, cpu_then) = (now, cpu);
            } else if cpu.saturating_sub(cpu_then) > self.limit {
                kernel.kill().context("ending the kernel")?;
                return Err(failed(format!(
                    "second {second} of virtual time took more than {} s of CPU: a program computes, or asks for the time \
                     again and again. Let it sleep or wait for its sockets, or raise cpu_limit_s.",
                    self.limit.as_secs_f64()
                )));
            }
        }
    }

    fn virtual_time(&self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.clock.read_exact_at(&mut bytes, 0).context("clock")?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

/// CPU time of the kernel and of its processes, which are its children, those that have ended included.
pub fn cpu_time(kernel: &Child) -> Duration {
    let pid = kernel.id();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let own = ticks(pid.to_string().as_str(), 4);
    let theirs: u64 = children
        .split_whitespace()
        .map(|child| ticks(child, 2))
        .sum();
    // SAFETY: asks for a constant.
    let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    Duration::from_secs_f64((own + theirs) as f64 / hertz)
}

/// The sum of a process's first `count` of utime, stime, cutime and cstime (proc(5)).
fn ticks(pid: &str, count: usize) -> u64 {
    let mut text = String::new();
    let read = File::open(format!("/proc/{pid}/stat"));
    let Ok(_) = read.and_then(|mut file| file.read_to_string(&mut text)) else {
        return 0; // it has ended
    };
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(11).take(count);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}
