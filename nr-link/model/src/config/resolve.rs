// SPDX-License-Identifier: Apache-2.0
//! From what the author wrote to what the model uses, by the rules that span more than one value.

mod path;
mod queue;
mod radio;
mod ues;

use std::fs;
use std::path::Path;

use super::broken::{Broken, from_yaml, nanos, within};
use super::raw::Raw;
use super::{ConfigError, Output, PerDirection, RadioConfig, ResolvedConfig};
use crate::Nanos;

/// Shortest and longest IP packet: RFC 791's smallest reassembly, and jumbo frames.
const MTU_BYTES: std::ops::RangeInclusive<u32> = 576..=15_000;

/// That of numerology 3.
const SHORTEST_SLOT: Nanos = 125_000;

impl ResolvedConfig {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// The first rule that the file breaks, with its place and how to mend it.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path).map_err(|error| {
            ConfigError::new(
                path,
                None,
                format!("cannot be read ({error}); name a file of schema nr-link/1"),
            )
        })?;
        Self::parse(&text, path)
    }

    /// Reads and checks a configuration's text; `path` names it in errors, and its folder is where
    /// relative paths begin.
    ///
    /// # Errors
    /// As [`ResolvedConfig::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let raw: Raw = serde_saphyr::from_str(text).map_err(|error| from_yaml(&error, path))?;
        resolve(raw, path.parent().unwrap_or(Path::new("")))
            .map_err(|broken| broken.told(text, path))
    }
}

fn resolve(raw: Raw, folder: &Path) -> Result<ResolvedConfig, Broken> {
    let mtu_bytes = within("mtu_bytes", raw.mtu_bytes, MTU_BYTES, "1500 is usual")?;
    let radio = raw.radio.map(radio::radio).transpose()?;
    let sample_interval = sample_interval(raw.samples.interval_ms.get(), radio.as_ref())?;
    let queue = queue::both("queue", raw.queue, mtu_bytes)?;
    Ok(ResolvedConfig {
        seed: raw.seed,
        mtu_bytes,
        radio,
        path: PerDirection {
            dl: path::path("path.dl", raw.path.dl, mtu_bytes)?,
            ul: path::path("path.ul", raw.path.ul, mtu_bytes)?,
        },
        sample_interval,
        core: ues::device(
            "devices.core",
            raw.devices.core.name,
            raw.devices.core.netns,
        )?,
        ues: ues::ues(
            raw.devices.ue,
            &ues::Shared {
                scenario: folder.join(raw.scenario),
                queue,
                mtu_bytes,
                folder,
            },
        )?,
        output: Output {
            mac: folder.join(raw.output.mac),
            link: folder.join(raw.output.link),
            summary: folder.join(raw.output.summary),
        },
    })
}

/// Samples are no shorter than what they count.
fn sample_interval(ms: f64, radio: Option<&RadioConfig>) -> Result<Nanos, Broken> {
    const KEY: &str = "samples.interval_ms";
    let interval = nanos(KEY, ms)?;
    let shortest = radio.map_or(SHORTEST_SLOT, RadioConfig::shortest_slot_ns);
    if interval >= shortest {
        return Ok(interval);
    }
    Err(Broken::new(
        KEY,
        format!(
            "{ms} ms is shorter than a slot, {} ms; write at least that",
            shortest as f64 / 1e6
        ),
    ))
}
