// SPDX-License-Identifier: Apache-2.0
//! Virtual time.

use std::time::Duration;

use anyhow::{Context, Result};
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds.
pub type Nanos = u64;

/// A second.
pub const SECOND: Nanos = 1_000_000_000;

/// CLOCK_MONOTONIC.
pub fn now() -> Result<Nanos> {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME: UTC, since 1970.
pub fn utc() -> Result<Nanos> {
    read(ClockId::CLOCK_REALTIME)
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
