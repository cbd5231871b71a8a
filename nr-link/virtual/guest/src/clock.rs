// SPDX-License-Identifier: Apache-2.0
//! Virtual time.

use std::time::Duration;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};

/// Nanoseconds.
pub type Nanos = u64;

/// A second.
pub const SECOND: Nanos = 1_000_000_000;

/// To multiples of this the link's start and the traffic wait. Each reading of the clock takes some time, and how
/// many a program needs to load depends on the host's libraries and folders.
const ALIGNMENT: Nanos = SECOND / 10;

/// CLOCK_MONOTONIC.
pub fn now() -> Result<Nanos> {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME: UTC, since 1970.
pub fn utc() -> Result<Nanos> {
    read(ClockId::CLOCK_REALTIME)
}

/// Sleeps until CLOCK_MONOTONIC shows a whole multiple of 0.1 s.
///
/// # Errors
/// The kernel refuses to sleep.
pub fn wait_for_whole_period() -> Result<()> {
    let until = now()?.next_multiple_of(ALIGNMENT);
    let time = TimeSpec::from_duration(Duration::from_nanos(until));
    while let Err(error) = clock_nanosleep(
        ClockId::CLOCK_MONOTONIC,
        ClockNanosleepFlags::TIMER_ABSTIME,
        &time,
    ) {
        if error != Errno::EINTR {
            return Err(error).context("clock_nanosleep");
        }
    }
    Ok(())
}

/// A time in seconds.
pub fn seconds(time: Nanos) -> f64 {
    time as f64 / SECOND as f64
}

/// Seconds as a time.
pub fn nanos(seconds: f64) -> Nanos {
    (seconds * SECOND as f64).round() as Nanos
}

fn read(clock: ClockId) -> Result<Nanos> {
    let time = clock_gettime(clock).context("reading the clock")?;
    Ok(Duration::from(time).as_nanos() as Nanos)
}
