// SPDX-License-Identifier: Apache-2.0
//! Devices and the UEs behind them.

use std::path::{Path, PathBuf};

use serde_saphyr::Spanned;

use super::queue;
use crate::config::broken::Broken;
use crate::config::raw;
use crate::config::{Device, PerDirection, Queue, UeConfig};

const KEY: &str = "devices.ue";

/// What UEs have that say nothing else.
pub(super) struct Shared<'a> {
    pub scenario: PathBuf,
    pub queue: PerDirection<Queue>,
    pub mtu_bytes: u32,
    pub folder: &'a Path,
}

/// The UEs, of which no two may have one address.
pub(super) fn ues(raw: Vec<Spanned<raw::Ue>>, shared: &Shared) -> Result<Vec<UeConfig>, Broken> {
    if raw.is_empty() {
        return Err(Broken::new(KEY, "there is no UE; list at least one device"));
    }
    let mut ues: Vec<UeConfig> = Vec::with_capacity(raw.len());
    for Spanned {
        value, referenced, ..
    } in raw
    {
        let resolved = ue(value, shared).and_then(|ue| own_addresses(&ues, ue));
        ues.push(resolved.map_err(|broken| broken.in_entry(referenced.line()))?);
    }
    Ok(ues)
}

fn ue(raw: raw::Ue, shared: &Shared) -> Result<UeConfig, Broken> {
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

/// The UE, if none before it has its addresses.
fn own_addresses(before: &[UeConfig], ue: UeConfig) -> Result<UeConfig, Broken> {
    let taken = |address| {
        before
            .iter()
            .find(|other| other.addresses.contains(address))
    };
    for address in &ue.addresses {
        if let Some(other) = taken(address) {
            let complaint = format!(
                "{address} is an address of {} already; give each UE its own",
                other.device.name
            );
            return Err(Broken::new("devices.ue.addresses", complaint));
        }
    }
    Ok(ue)
}

/// A device whose name Linux takes.
pub(super) fn device(key: &str, name: String, netns: Option<String>) -> Result<Device, Broken> {
    // IFNAMSIZ of linux/if.h is 16 with the terminating zero.
    let valid = !name.is_empty()
        && name.len() <= 15
        && !name.contains(|c: char| c == '/' || c.is_whitespace());
    if valid {
        return Ok(Device { name, netns });
    }
    Err(Broken::new(
        key,
        format!("{name:?} is no interface name; write 1 to 15 characters without / or blanks"),
    ))
}
