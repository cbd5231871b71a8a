// SPDX-License-Identifier: Apache-2.0
//! The speed of a call in the processor's time, for benchmarks: others may use the machine.

use std::time::{Duration, Instant};

const LEAST: Duration = Duration::from_secs(2);

/// Returns how many calls of `work` take a second of the processor's time.
pub fn calls_per_s(mut work: impl FnMut()) -> f64 {
    let began = Instant::now();
    let began_s = processor_s();
    let mut calls = 0_u32;
    while began.elapsed() < LEAST {
        work();
        calls += 1;
    }
    f64::from(calls) / (processor_s() - began_s)
}

/// Returns the processor's time of this thread.
fn processor_s() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux has it");
    let running_ns = text
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    running_ns.map_or(f64::NAN, |ns: f64| ns * 1e-9)
}
