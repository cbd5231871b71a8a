// SPDX-License-Identifier: Apache-2.0
//! The configuration of a link: YAML, as documented in `docs/link-config.md`, and checked here.
//!
//! The content of a file becomes a [`ResolvedConfig`] in the model's units; other modules do not
//! depend on the file format. A [`Problem`] has file, line, key, rule and fix.

mod activity;
mod beams;
mod both;
mod change;
mod gnb;
mod handover;
mod path;
mod polling;
mod queue;
mod radio;
mod raw;
mod resolve;

use std::net::IpAddr;
use std::path::PathBuf;

use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};

pub use crate::scenario::QueueLimit;
pub use activity::{DrxConfig, IdleConfig, InactiveConfig, RrcConfig, ShortCycle};
pub use beams::BeamConfig;
pub use change::Change;
pub use gnb::{FeedbackRule, Gnb, GnbProfile, OAI_2025_W36, OAI_2026_W11, Receiver, Reserved};
pub use handover::{Event, Handover, HandoverKind, LinkFailure};
pub use path::{Cross, LineConfig, PathConfig};
pub use polling::Polling;
pub use queue::Queue;
pub use radio::{
    Carrier, Discipline, Grants, LinkAdaptation, RadioConfig, RlcMode, ThresholdRule, Uplink,
};

use crate::Nanos;
use crate::packet::Direction;
use crate::problem::{Problem, violation};

/// Returns the JSON Schema of the key `radio`, without references, to be part of other schemas.
pub fn radio_schema() -> schemars::Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings
        .into_generator()
        .into_root_schema_for::<raw::Radio>()
}

/// One value for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PerDirection<V> {
    /// The downlink, core to UE.
    pub dl: V,
    /// The uplink, UE to core.
    pub ul: V,
}

impl<V> PerDirection<V> {
    /// Returns the value of one direction.
    pub fn of(&self, direction: Direction) -> &V {
        match direction {
            Direction::Downlink => &self.dl,
            Direction::Uplink => &self.ul,
        }
    }
}

/// A checked configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedConfig {
    /// Path of the file.
    pub file: PathBuf,
    /// Seed of all random number streams of the link.
    pub seed: u64,
    /// Seed of the channel or capacity, in place of that of the scenario or of `seed`.
    pub scenario_seed: Option<u64>,
    /// Largest IP packet, bytes.
    pub mtu_bytes: u32,
    /// The carrier and its use; has no effect if the scenario has capacity.
    pub radio: Option<RadioConfig>,
    /// The path between server and gNB.
    pub path: PerDirection<PathConfig>,
    /// Length of a sample interval.
    pub sample_interval: Nanos,
    /// Whether the devices deliver adjacent segments of one burst as one packet (generic receive offload).
    pub gro: bool,
    /// The program's network device on the side of the core network.
    pub core: Device,
    /// The UEs, at least one.
    pub ues: Vec<UeConfig>,
    /// The program's output files; relative paths start at the configuration's folder.
    pub output: Output,
    /// The changes while the link runs, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

impl ResolvedConfig {
    /// Returns the carrier, which a scenario with a radio channel needs.
    ///
    /// # Errors
    /// The configuration has no carrier.
    pub fn radio(&self) -> Result<&RadioConfig, Problem> {
        self.radio.as_ref().ok_or_else(|| {
            violation!(
                "the scenario has a radio channel, and the configuration no carrier",
                "Describe the carrier below radio, or choose a scenario with capacity"
            )
            .at_key("radio")
            .or_in_file(&self.file)
        })
    }
}

/// One UE: its device, and the settings that differ between UEs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UeConfig {
    /// The program's network device for this UE.
    pub device: Device,
    /// Destination addresses of packets from the core to this UE, needed with several UEs.
    pub addresses: Vec<IpAddr>,
    /// Scenario file; a relative path starts at the configuration's folder.
    pub scenario: PathBuf,
    /// The RLC buffers.
    pub queue: PerDirection<Queue>,
}

/// A network device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Interface name.
    pub name: String,
    /// The `ip netns` name of its network namespace; `None` is the namespace of the process.
    pub netns: Option<String>,
}

/// The output files of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// File of MAC samples.
    pub mac: PathBuf,
    /// File of the program's punctuality.
    pub link: PathBuf,
    /// File of the run's summary.
    pub summary: PathBuf,
    /// File of the delay of each packet; `None`: delays are not explained.
    pub delays: Option<PathBuf>,
    /// File of transport blocks; `None`: they are not recorded.
    pub mac_pcap: Option<PathBuf>,
}

impl Output {
    /// Returns the file of events of the UEs' connections, beside that of MAC samples.
    pub fn radio_events(&self) -> PathBuf {
        self.mac.with_file_name("radio-events.jsonl")
    }
}
