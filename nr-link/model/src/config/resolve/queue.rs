// SPDX-License-Identifier: Apache-2.0
//! Buffers and what manages them.

use crate::config::broken::{Broken, nanos, within};
use crate::config::raw;
use crate::config::{Aqm, CoDel, DualPi2, PerDirection, Pie, Queue, QueueLimit};

/// Below a microsecond no time of queue management means anything.
const LEAST_MS: f64 = 1e-3;
/// An hour is more than any.
const MS: std::ops::RangeInclusive<f64> = LEAST_MS..=3.6e6;

/// The buffers of both directions, under a key that holds `dl` and `ul`.
pub(super) fn both(
    key: &str,
    raw: raw::Both<raw::Queue>,
    mtu_bytes: u32,
) -> Result<PerDirection<Queue>, Broken> {
    Ok(PerDirection {
        dl: queue(&format!("{key}.dl"), raw.dl, mtu_bytes)?,
        ul: queue(&format!("{key}.ul"), raw.ul, mtu_bytes)?,
    })
}

fn queue(key: &str, raw: raw::Queue, mtu_bytes: u32) -> Result<Queue, Broken> {
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

/// The limit that is in packets or in bytes, and holds at least one packet.
pub(super) fn limit(
    key: &str,
    packets: Option<u64>,
    bytes: Option<u64>,
    mtu_bytes: u32,
) -> Result<QueueLimit, Broken> {
    let complaint = match (packets, bytes) {
        (Some(0), None) => "a queue of 0 packets passes none; write at least 1".into(),
        (None, Some(bytes)) if bytes < u64::from(mtu_bytes) => format!(
            "a queue of {bytes} bytes is smaller than one packet of mtu_bytes, {mtu_bytes}; enlarge it"
        ),
        (Some(packets), None) => return Ok(QueueLimit::Packets(packets)),
        (None, Some(bytes)) => return Ok(QueueLimit::Bytes(bytes)),
        _ => "a queue is limited in packets or in bytes; write one of both".into(),
    };
    Err(Broken::new(key, complaint))
}

fn codel(key: &str, raw: raw::CoDel) -> Result<Aqm, Broken> {
    let interval_ms = within(key, raw.interval_ms, MS, "an interval_ms of 100 is usual")?;
    let below = LEAST_MS..=interval_ms;
    let mend = "write a target_ms up to interval_ms, of which a twentieth is usual";
    Ok(Aqm::CoDel(CoDel {
        target: nanos(key, within(key, raw.target_ms, below, mend)?)?,
        interval: nanos(key, interval_ms)?,
        ecn: raw.ecn,
    }))
}

fn dual_pi2(key: &str, raw: raw::DualPi2) -> Result<Aqm, Broken> {
    let (target_ms, update_ms) = steering(key, raw.target_ms, raw.update_ms)?;
    let coupling = within(key, raw.coupling, 0.1..=100.0, "a coupling of 2 is usual")?;
    Ok(Aqm::DualPi2(DualPi2 {
        target: nanos(key, target_ms)?,
        update: nanos(key, update_ms)?,
        coupling,
        l4s_min: nanos(key, raw.l4s_min_ms)?,
        l4s_range: nanos(key, raw.l4s_range_ms)?,
    }))
}

/// What PIE and DualPI2 steer to, and how often.
fn steering(key: &str, target_ms: f64, update_ms: f64) -> Result<(f64, f64), Broken> {
    Ok((
        within(key, target_ms, MS, "a target_ms of 15 is usual")?,
        within(key, update_ms, MS, "an update_ms of 15 is usual")?,
    ))
}

fn pie(key: &str, raw: raw::Pie) -> Result<Aqm, Broken> {
    let (target_ms, update_ms) = steering(key, raw.target_ms, raw.update_ms)?;
    Ok(Aqm::Pie(Pie {
        target: nanos(key, target_ms)?,
        update: nanos(key, update_ms)?,
        ecn: raw.ecn,
        on_off: raw.on_off,
        derandomise: raw.derandomise,
    }))
}
