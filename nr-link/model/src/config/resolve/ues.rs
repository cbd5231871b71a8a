// SPDX-License-Identifier: Apache-2.0
//! Resolves devices and the UEs behind them.

use std::path::{Path, PathBuf};

use super::queue;
use crate::config::raw;
use crate::config::{Device, PerDirection, Queue, UeConfig};
use crate::problem::{Problem, Violation, violation};
use crate::yaml::Lined;

const KEY: &str = "devices.ue";

/// The settings of UEs that do not set their own.
pub(super) struct Shared<'a> {
    pub scenario: PathBuf,
    pub queue: PerDirection<Queue>,
    pub mtu_bytes: u32,
    pub folder: &'a Path,
}

/// Resolves the UEs, of which no two may share an address.
pub(super) fn ues(raw: Vec<Lined<raw::Ue>>, shared: &Shared) -> Result<Vec<UeConfig>, Problem> {
    if raw.is_empty() {
        return Err(violation!("there is no UE", "List at least one device").at_key(KEY));
    }
    let mut ues: Vec<UeConfig> = Vec::with_capacity(raw.len());
    for Lined(line, value) in raw {
        let resolved = ue(value, shared).and_then(|ue| own_addresses(&ues, ue));
        ues.push(resolved.map_err(|problem| problem.or_in_line(Some(line)))?);
    }
    Ok(ues)
}

fn ue(raw: raw::Ue, shared: &Shared) -> Result<UeConfig, Problem> {
    let queue = match raw.queue {
        Some(queue) => queue::both("devices.ue.queue", queue, shared.mtu_bytes)?,
        None => shared.queue,
    };
    let scenario = match raw.scenario {
        Some(file) => shared.folder.join(file),
        None => shared.scenario.clone(),
    };
    Ok(UeConfig {
        device: device(KEY, raw.name, raw.netns)?,
        addresses: raw.addresses,
        scenario,
        queue,
    })
}

/// Checks that no UE before this one has its addresses.
fn own_addresses(before: &[UeConfig], ue: UeConfig) -> Result<UeConfig, Problem> {
    let taken = |address| {
        before
            .iter()
            .find(|other| other.addresses.contains(address))
    };
    for address in &ue.addresses {
        if let Some(other) = taken(address) {
            return Err(Violation::new(
                format!("{address} is also an address of {}", other.device.name),
                "Give each UE its own addresses",
            )
            .at_key("devices.ue.addresses"));
        }
    }
    Ok(ue)
}

/// Resolves a device, whose name must be valid in Linux.
pub(super) fn device(key: &str, name: String, netns: Option<String>) -> Result<Device, Problem> {
    // IFNAMSIZ of linux/if.h is 16 with the terminating zero.
    let valid = !name.is_empty()
        && name.len() <= 15
        && !name.contains(|c: char| c == '/' || c.is_whitespace());
    if valid {
        return Ok(Device { name, netns });
    }
    Err(violation!(
        "{name:?} is not an interface name",
        "Write 1 to 15 characters without / and spaces"
    )
    .at_key(key))
}
