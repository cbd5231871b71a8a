// SPDX-License-Identifier: Apache-2.0
//! Resolves buffers and their queue management.

use crate::config::raw;
use crate::config::{PerDirection, Queue, QueueLimit};
use crate::problem::{Problem, violation};

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
    let aqm = raw.aqm.map(|aqm| aqm.resolve(key));
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
