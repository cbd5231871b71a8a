// SPDX-License-Identifier: Apache-2.0
//! The path between server and gNB.

use super::queue;
use crate::config::broken::{Broken, nanos, within};
use crate::config::raw;
use crate::config::{Cross, LineConfig, PathConfig, QueueLimit};
use crate::scenario::MOST_MBPS;

/// A line's queue, where nothing is said: what Linux gives a network device.
const USUAL_QUEUE: QueueLimit = QueueLimit::Packets(1000);

pub(super) fn path(
    key: &str,
    raw: raw::PathDirection,
    mtu_bytes: u32,
) -> Result<PathConfig, Broken> {
    Ok(PathConfig {
        delay: nanos(&format!("{key}.delay_ms"), raw.delay_ms.get())?,
        loss_ratio: raw.loss_ratio.map_or(0.0, |ratio| ratio.get()),
        bit_error_ratio: raw.bit_error_ratio.map_or(0.0, |ratio| ratio.get()),
        line: line(key, &raw, mtu_bytes)?,
    })
}

fn line(key: &str, raw: &raw::PathDirection, mtu_bytes: u32) -> Result<Option<LineConfig>, Broken> {
    let Some(rate_mbps) = raw.rate_mbps else {
        let needs = |what| {
            let rule = "there is nothing to wait for without a rate; write rate_mbps too";
            Err(Broken::new(&format!("{key}.{what}"), rule))
        };
        return match (raw.queue, raw.cross_traffic) {
            (Some(_), _) => needs("queue"),
            (_, Some(_)) => needs("cross_traffic"),
            _ => Ok(None),
        };
    };
    let limit = match raw.queue {
        Some(raw) => queue::limit(&format!("{key}.queue"), raw.packets, raw.bytes, mtu_bytes)?,
        None => USUAL_QUEUE,
    };
    let cross = raw.cross_traffic.map(|raw| cross(key, raw));
    Ok(Some(LineConfig {
        bits_per_s: bits_per_s(&format!("{key}.rate_mbps"), rate_mbps.get())?,
        limit,
        cross: cross.transpose()?,
    }))
}

fn cross(key: &str, raw: raw::CrossTraffic) -> Result<Cross, Broken> {
    let key = format!("{key}.cross_traffic");
    Ok(Cross {
        bits_per_s: bits_per_s(&key, raw.rate_mbps.get())?,
        packet_bytes: within(
            &key,
            raw.packet_bytes,
            28..=15_000,
            "packet_bytes of 1500 is usual",
        )?,
    })
}

/// Whole bits; a thousand a second are the fewest.
fn bits_per_s(key: &str, mbps: f64) -> Result<u64, Broken> {
    let mbps = within(key, mbps, 1e-3..=MOST_MBPS, "write Mbit/s")?;
    Ok((mbps * 1e6).round() as u64)
}
