// SPDX-License-Identifier: Apache-2.0
//! Resolves the path between server and gNB.

use super::queue;
use crate::config::{Cross, LineConfig, PathConfig, QueueLimit};
use crate::problem::{Problem, violation};
use crate::range::{nanos, within};
use crate::scenario::{CrossTraffic, MOST_MBPS, PathDirection};

/// The default queue of a path with limited rate, which is Linux's for a network device.
const DEFAULT_QUEUE: QueueLimit = QueueLimit::Packets(1000);

pub(super) fn path(key: &str, raw: PathDirection, mtu_bytes: u32) -> Result<PathConfig, Problem> {
    Ok(PathConfig {
        delay: nanos(&format!("{key}.delay_ms"), raw.delay_ms.get())?,
        loss_ratio: raw.loss_ratio.map_or(0.0, |ratio| ratio.get()),
        bit_error_ratio: raw.bit_error_ratio.map_or(0.0, |ratio| ratio.get()),
        line: line(key, &raw, mtu_bytes)?,
    })
}

fn line(key: &str, raw: &PathDirection, mtu_bytes: u32) -> Result<Option<LineConfig>, Problem> {
    let Some(rate_mbps) = raw.rate_mbps else {
        let needs = |what| {
            Err(violation!(
                "the path has no limited rate, which {what} needs",
                "Write rate_mbps too, or remove {what}"
            )
            .at_key(format!("{key}.{what}")))
        };
        return match (raw.queue, raw.cross_traffic) {
            (Some(_), _) => needs("queue"),
            (_, Some(_)) => needs("cross_traffic"),
            _ => Ok(None),
        };
    };
    let limit = match raw.queue {
        Some(limit) => queue::checked(&format!("{key}.queue"), limit, mtu_bytes)?,
        None => DEFAULT_QUEUE,
    };
    let cross = raw.cross_traffic.map(|raw| cross(key, raw));
    Ok(Some(LineConfig {
        bits_per_s: bits_per_s(&format!("{key}.rate_mbps"), rate_mbps.get())?,
        limit,
        cross: cross.transpose()?,
    }))
}

fn cross(key: &str, raw: CrossTraffic) -> Result<Cross, Problem> {
    let key = format!("{key}.cross_traffic");
    Ok(Cross {
        bits_per_s: bits_per_s(&key, raw.rate_mbps.get())?,
        packet_bytes: within(
            &key,
            raw.packet_bytes.unwrap_or(1500),
            28..=15_000,
            "Write packet_bytes in that range; 1500 is usual",
        )?,
    })
}

/// Converts Mbit/s to bit/s, at least 1000.
fn bits_per_s(key: &str, mbps: f64) -> Result<u64, Problem> {
    let mbps = within(key, mbps, 1e-3..=MOST_MBPS, "Write a rate in Mbit/s")?;
    Ok((mbps * 1e6).round() as u64)
}
