// SPDX-License-Identifier: Apache-2.0
//! The one place where the program reads time.

use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use nr_link_model::Nanos;

/// A shift of UTC below this is the measurement's own noise, and rows stay evenly spaced.
const SETTLED_NS: i64 = 10_000;

/// Counts the model's time, from 0 at its start, on CLOCK_MONOTONIC; knows where that is in UTC.
#[derive(Debug)]
pub struct Clock {
    start_ns: Nanos,
    start_utc_ns: i64,
}

impl Clock {
    /// Time 0 is now.
    pub fn start() -> Result<Self> {
        let start_ns = read(ClockId::CLOCK_MONOTONIC)?;
        let utc_offset_ns = measure_utc_offset()?;
        Ok(Self {
            start_ns,
            start_utc_ns: start_ns as i64 + utc_offset_ns,
        })
    }

    /// Nanoseconds since the start.
    pub fn now(&self) -> Nanos {
        let now = read(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC was there at the start");
        now - self.start_ns
    }

    /// The same instant for the kernel's timers.
    pub fn deadline(&self, at: Nanos) -> TimeSpec {
        TimeSpec::from_duration(Duration::from_nanos(self.start_ns.saturating_add(at)))
    }

    /// UTC at time 0, nanoseconds since 1970, as the system's clock has it at present.
    pub fn start_utc_ns(&self) -> i64 {
        self.start_utc_ns
    }

    /// Measures UTC again, for NTP slews it and people set it. Gives the shift since it was measured last, ns.
    pub fn follow_utc(&mut self) -> Result<i64> {
        let shift_ns = self.start_ns as i64 + measure_utc_offset()? - self.start_utc_ns;
        if shift_ns.abs() < SETTLED_NS {
            return Ok(0);
        }
        self.start_utc_ns += shift_ns;
        Ok(shift_ns)
    }
}

/// CPU time of this process.
pub fn cpu_time() -> Result<Nanos> {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// CLOCK_REALTIME − CLOCK_MONOTONIC, ns: of three readings the one that was interrupted least.
fn measure_utc_offset() -> Result<i64> {
    let reading = || -> Result<(Nanos, i64)> {
        let before = read(ClockId::CLOCK_MONOTONIC)?;
        let utc = read(ClockId::CLOCK_REALTIME)?;
        let after = read(ClockId::CLOCK_MONOTONIC)?;
        Ok((after - before, utc as i64 - before.midpoint(after) as i64))
    };
    let readings = [reading()?, reading()?, reading()?];
    let best = readings.iter().min().expect("three readings");
    Ok(best.1)
}

fn read(clock: ClockId) -> Result<Nanos> {
    let time = clock_gettime(clock).with_context(|| format!("reading clock {clock}"))?;
    Ok(Duration::from(time).as_nanos() as Nanos)
}
