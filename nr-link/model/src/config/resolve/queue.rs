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
    let limit = match (raw.packets, raw.bytes) {
        (Some(packets), None) => QueueLimit::Packets(packets),
        (None, Some(bytes)) => QueueLimit::Bytes(bytes),
        _ => {
            return Err(violation!(
                "a queue is limited either in packets or in bytes",
                "Write one of packets and bytes"
            )
            .at_key(key));
        }
    };
    let aqm = raw.aqm.map(|aqm| aqm.resolve(key));
    Ok(Queue {
        limit: checked(key, limit, mtu_bytes)?,
        aqm: aqm.transpose()?,
    })
}

/// Checks that a limit holds at least one packet.
pub(super) fn checked(key: &str, limit: QueueLimit, mtu_bytes: u32) -> Result<QueueLimit, Problem> {
    let violation = match limit {
        QueueLimit::Packets(0) => {
            violation!("a queue of 0 packets holds none", "Write at least 1")
        }
        QueueLimit::Bytes(bytes) if bytes < u64::from(mtu_bytes) => violation!(
            "a queue of {bytes} bytes is smaller than one packet of mtu_bytes, which is {mtu_bytes}",
            "Write at least {mtu_bytes}"
        ),
        _ => return Ok(limit),
    };
    Err(violation.at_key(key))
}
