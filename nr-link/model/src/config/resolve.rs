// SPDX-License-Identifier: Apache-2.0
//! Conversion of a configuration file's content into the model's configuration, with the rules that
//! concern several values.

mod changes;
mod path;
mod queue;
mod radio;
mod ues;

use std::path::Path;

use super::raw::Raw;
use super::{Output, PerDirection, RadioConfig, ResolvedConfig};
use crate::Nanos;
use crate::input_file;
use crate::problem::{Problem, Violation};
use crate::range::{nanos, within};
use crate::yaml;

/// Range of the MTU: the smallest reassembly buffer of RFC 791, and jumbo frames.
const MTU_BYTES: std::ops::RangeInclusive<u32> = 576..=15_000;

/// The slot length of numerology 3.
const SHORTEST_SLOT: Nanos = 125_000;

impl ResolvedConfig {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// The file breaks a rule.
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let text = input_file::read_text(path).map_err(|error| {
            Violation::unreadable(&error, "Name a file of schema nr-link/1").in_file(path, None)
        })?;
        Self::parse(&text, path)
    }

    /// Reads and checks a configuration's text. Problems have `path` as their file, and relative
    /// paths start at its folder.
    ///
    /// # Errors
    /// As [`ResolvedConfig::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, Problem> {
        let raw: Raw = yaml::read(text, path, "docs/link-config.md")?;
        resolve(raw, path).map_err(|problem| yaml::located(problem, text, path))
    }
}

fn resolve(raw: Raw, file: &Path) -> Result<ResolvedConfig, Problem> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let mtu_bytes = within(
        "mtu_bytes",
        raw.mtu_bytes,
        MTU_BYTES,
        "Write, for example, 1500",
    )?;
    let radio = raw.radio.map(radio::radio).transpose()?;
    let sample_interval = sample_interval(raw.samples.interval_ms.get(), radio.as_ref())?;
    let queue = queue::both("queue", raw.queue, mtu_bytes)?;
    let path = PerDirection {
        dl: path::path("path.dl", raw.path.dl, mtu_bytes)?,
        ul: path::path("path.ul", raw.path.ul, mtu_bytes)?,
    };
    Ok(ResolvedConfig {
        changes: changes::changes(raw.changes, &path, radio.as_ref(), mtu_bytes)?,
        file: file.to_owned(),
        seed: raw.seed,
        scenario_seed: raw.scenario_seed,
        mtu_bytes,
        radio,
        path,
        sample_interval,
        gro: raw.devices.gro,
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
            delays: raw.output.delays.map(|delays| folder.join(delays)),
            mac_pcap: raw.output.mac_pcap.map(|pcap| folder.join(pcap)),
        },
    })
}

/// Checks that samples are at least one slot long.
fn sample_interval(ms: f64, radio: Option<&RadioConfig>) -> Result<Nanos, Problem> {
    const KEY: &str = "samples.interval_ms";
    let interval = nanos(KEY, ms)?;
    let shortest = radio.map_or(SHORTEST_SLOT, RadioConfig::shortest_slot_ns);
    if interval >= shortest {
        return Ok(interval);
    }
    let shortest_ms = shortest as f64 / 1e6;
    Err(Violation::new(
        format!("{ms} ms is shorter than a slot, which lasts {shortest_ms} ms"),
        format!("Write at least {shortest_ms}"),
    )
    .at_key(KEY))
}
