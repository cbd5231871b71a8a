// SPDX-License-Identifier: Apache-2.0
//! Resolves buffers and their queue management.

use crate::config::range::{nanos, within};
use crate::config::raw;
use crate::config::{Aqm, CoDel, DualPi2, PerDirection, Pie, Queue, QueueLimit};
use crate::problem::{Problem, violation};

/// One microsecond: shorter times have no effect in queue management.
const LEAST_MS: f64 = 1e-3;
/// Range of times in queue management, ms: up to one hour.
const MS: std::ops::RangeInclusive<f64> = LEAST_MS..=3.6e6;

/// Resolves the buffers of both directions below `key`.
pub(super) fn both(
    key: &str,
    raw: raw::Both<raw::Queue>,
    mtu_bytes: u32,
) -> Result<PerDirection<Queue>, Problem> {
    Ok(PerDirection {
        dl: queue(&format!("{key}.dl"), raw.dl, mtu_bytes)?,
        ul: queue(&format!("{key}.ul"), raw.ul, mtu_bytes)?,
    })
}

fn queue(key: &str, raw: raw::Queue, mtu_bytes: u32) -> Result<Queue, Problem> {
    let limit = limit(key, raw.packets, raw.bytes, mtu_bytes)?;
    let aqm = raw.aqm.map(|aqm| match aqm {
        raw::Aqm::CoDel(raw) => codel(key, raw),
        raw::Aqm::Pie(raw) => pie(key, raw),
        raw::Aqm::DualPi2(raw) => dual_pi2(key, raw),
    });
    Ok(Queue {
        limit,
        aqm: aqm.transpose()?,
    })
}

/// Resolves a limit in packets or in bytes, which must hold at least one packet.
pub(super) fn limit(
    key: &str,
    packets: Option<u64>,
    bytes: Option<u64>,
    mtu_bytes: u32,
) -> Result<QueueLimit, Problem> {
    let violation = match (packets, bytes) {
        (Some(0), None) => violation!("a queue of 0 packets holds none", "Write at least 1"),
        (None, Some(bytes)) if bytes < u64::from(mtu_bytes) => violation!(
            "a queue of {bytes} bytes is smaller than one packet of mtu_bytes, which is {mtu_bytes}",
            "Write at least {mtu_bytes}"
        ),
        (Some(packets), None) => return Ok(QueueLimit::Packets(packets)),
        (None, Some(bytes)) => return Ok(QueueLimit::Bytes(bytes)),
        _ => violation!(
            "a queue is limited either in packets or in bytes",
            "Write one of packets and bytes"
        ),
    };
    Err(violation.at_key(key))
}

fn codel(key: &str, raw: raw::CoDel) -> Result<Aqm, Problem> {
    let interval_ms = within(
        key,
        raw.interval_ms,
        MS,
        "Write an interval_ms in that range; 100 is usual",
    )?;
    let below = LEAST_MS..=interval_ms;
    let fix = "Write a target_ms in that range; a twentieth of interval_ms is usual";
    Ok(Aqm::CoDel(CoDel {
        target: nanos(key, within(key, raw.target_ms, below, fix)?)?,
        interval: nanos(key, interval_ms)?,
        ecn: raw.ecn,
    }))
}

fn dual_pi2(key: &str, raw: raw::DualPi2) -> Result<Aqm, Problem> {
    let (target_ms, update_ms) = steering(key, raw.target_ms, raw.update_ms)?;
    let coupling = within(
        key,
        raw.coupling,
        0.1..=100.0,
        "Write a coupling in that range; 2 is usual",
    )?;
    Ok(Aqm::DualPi2(DualPi2 {
        target: nanos(key, target_ms)?,
        update: nanos(key, update_ms)?,
        coupling,
        l4s_min: nanos(key, raw.l4s_min_ms)?,
        l4s_range: nanos(key, raw.l4s_range_ms)?,
    }))
}

/// Checks the target and the update interval of PIE and DualPI2.
fn steering(key: &str, target_ms: f64, update_ms: f64) -> Result<(f64, f64), Problem> {
    Ok((
        within(
            key,
            target_ms,
            MS,
            "Write a target_ms in that range; 15 is usual",
        )?,
        within(
            key,
            update_ms,
            MS,
            "Write an update_ms in that range; 15 is usual",
        )?,
    ))
}

fn pie(key: &str, raw: raw::Pie) -> Result<Aqm, Problem> {
    let (target_ms, update_ms) = steering(key, raw.target_ms, raw.update_ms)?;
    Ok(Aqm::Pie(Pie {
        target: nanos(key, target_ms)?,
        update: nanos(key, update_ms)?,
        ecn: raw.ecn,
        on_off: raw.on_off,
        derandomise: raw.derandomise,
    }))
}
