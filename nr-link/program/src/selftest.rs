// SPDX-License-Identifier: Apache-2.0
//! Measures this machine as a link would use it: wake-up latency and packet throughput.

mod throughput;

use std::time::Duration;

use anyhow::Result;
use nr_link_model::Nanos;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::output::us;
use crate::priority;
use crate::trust::Trust;
use crate::verdict::assess;
use crate::wake::{Event, STOPPED, Waker};
use throughput::Throughput;

/// A slot of numerology 1.
const SLOT_NS: Nanos = 500_000;

/// Wakes up for every slot of `duration`, then measures the throughput of the kernel and of a link
/// for a second each.
pub fn run(duration: Duration) -> Result<Value> {
    let granted = priority::raise();
    let (slots, trust) = wake_for_slots(duration)?;
    let (lateness, counted) = trust.whole_run();
    let (verdict, reasons) = assess(slots, SLOT_NS, lateness, counted);
    let crossing = Throughput::measure()?;
    Ok(json!({
        "event": "selftest",
        "verdict": verdict.name(),
        "verdict_reasons": reasons,
        "slot_us": us(SLOT_NS),
        "slots": slots,
        "overrun_count": counted.overruns,
        "lateness_p50_us": lateness.map(|lateness| us(lateness.p50_ns)),
        "lateness_p99_us": lateness.map(|lateness| us(lateness.p99_ns)),
        "lateness_max_us": lateness.map(|lateness| us(lateness.max_ns)),
        "crossing_gbps_per_core": tenths(crossing.raw_gbps_per_core),
        "link_gbps_per_core": tenths(crossing.link_gbps_per_core),
        "scheduling": granted.scheduling,
        "memory_locked": granted.memory_locked,
    }))
}

fn wake_for_slots(duration: Duration) -> Result<(u64, Trust)> {
    let mut waker = Waker::new(&STOPPED)?;
    let clock = Clock::start()?;
    let mut trust = Trust::new(SLOT_NS);
    let last = duration.as_nanos() as Nanos / SLOT_NS;
    let (mut slot, mut ended) = (1, false);
    while slot <= last && !ended {
        let deadline = slot * SLOT_NS;
        waker.sleep(clock.deadline(deadline), |event| {
            ended |= matches!(event, Event::Signal(_))
        })?;
        let now = clock.now();
        trust.ran(deadline, now);
        slot = (now / SLOT_NS).max(slot) + 1; // the model catches up on missed slots at once
    }
    trust.end_interval();
    Ok((slot - 1, trust))
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
