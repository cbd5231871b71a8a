// SPDX-License-Identifier: Apache-2.0
//! The program's clock; no other module reads the time.

use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use nr_link_model::Nanos;

/// A smaller shift of UTC is noise of the measurement; it is ignored, so that rows stay evenly
/// spaced.
const SETTLED_NS: i64 = 10_000;

/// The model's time, from 0 at the start, on CLOCK_MONOTONIC, and its relation to UTC.
#[derive(Debug)]
pub struct Clock {
    start_ns: Nanos,
    start_utc_ns: i64,
}

impl Clock {
    /// Starts a clock; time 0 is now.
    pub fn start() -> Result<Self> {
        let start_ns = read(ClockId::CLOCK_MONOTONIC)?;
        let utc_offset_ns = measure_utc_offset()?;
        Ok(Self {
            start_ns,
            start_utc_ns: start_ns as i64 + utc_offset_ns,
        })
    }

    /// Returns the nanoseconds since the start.
    pub fn now(&self) -> Nanos {
        let now = read(ClockId::CLOCK_MONOTONIC).expect("CLOCK_MONOTONIC was there at the start");
        now - self.start_ns
    }

    /// Converts a time to that of the kernel's timers.
    pub fn deadline(&self, at: Nanos) -> TimeSpec {
        TimeSpec::from_duration(Duration::from_nanos(self.start_ns.saturating_add(at)))
    }

    /// Returns UTC at time 0 by the last measurement, ns since 1970.
    pub fn start_utc_ns(&self) -> i64 {
        self.start_utc_ns
    }

    /// Measures UTC again, since NTP slews it and users set it. Returns the shift since the last
    /// measurement, ns.
    pub fn follow_utc(&mut self) -> Result<i64> {
        let shift_ns = self.start_ns as i64 + measure_utc_offset()? - self.start_utc_ns;
        if shift_ns.abs() < SETTLED_NS {
            return Ok(0);
        }
        self.start_utc_ns += shift_ns;
        Ok(shift_ns)
    }
}

/// Returns the CPU time of this process.
pub fn cpu_time() -> Result<Nanos> {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Measures CLOCK_REALTIME − CLOCK_MONOTONIC, ns: the most precise of three readings.
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
