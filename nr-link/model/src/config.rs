// SPDX-License-Identifier: Apache-2.0
//! The link's configuration: the YAML of `docs/link-config.md`, checked once, here.
//!
//! The file's content becomes a [`ResolvedConfig`], in the model's units; no other module sees the
//! file's form. A [`Problem`] names file, line, key, rule and fix.

mod path;
mod queue;
mod radio;
mod range;
mod raw;
mod resolve;

use std::net::IpAddr;
use std::path::PathBuf;

pub use path::{Cross, LineConfig, PathConfig};
pub use queue::{Aqm, CoDel, DualPi2, Pie, Queue, QueueLimit};
pub use radio::{Carrier, Discipline, LinkAdaptation, RadioConfig, RlcMode, Uplink};

use crate::Nanos;
use crate::packet::Direction;
use crate::problem::{Problem, violation};

/// One value for each direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerDirection<V> {
    /// Core to UE.
    pub dl: V,
    /// UE to core.
    pub ul: V,
}

impl<V> PerDirection<V> {
    /// The value of one direction.
    pub fn of(&self, direction: Direction) -> &V {
        match direction {
            Direction::Downlink => &self.dl,
            Direction::Uplink => &self.ul,
        }
    }
}

/// The content of one configuration file, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedConfig {
    /// The file, as it was named.
    pub file: PathBuf,
    /// From which every random stream of the link is drawn.
    pub seed: u64,
    /// Largest IP packet.
    pub mtu_bytes: u32,
    /// The carrier and how it is used; means nothing where the scenario gives capacity itself.
    pub radio: Option<RadioConfig>,
    /// Between server and gNB.
    pub path: PerDirection<PathConfig>,
    /// Interval of the MAC samples.
    pub sample_interval: Nanos,
    /// The program's network device on the core network's side.
    pub core: Device,
    /// The UEs, at least one.
    pub ues: Vec<UeConfig>,
    /// The program's files, anchored at the configuration's folder.
    pub output: Output,
}

impl ResolvedConfig {
    /// The carrier, which a scenario with radio needs.
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

/// One UE: its device, and what it does not share with the others.
#[derive(Debug, Clone, PartialEq)]
pub struct UeConfig {
    /// The program's network device of this UE.
    pub device: Device,
    /// Packets to these leave the core towards this UE; the program needs them to tell several
    /// UEs apart.
    pub addresses: Vec<IpAddr>,
    /// Its scenario file, anchored at the configuration's folder.
    pub scenario: PathBuf,
    /// Its RLC buffers.
    pub queue: PerDirection<Queue>,
}

/// One network device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Interface name.
    pub name: String,
    /// Network namespace by its `ip netns` name; none: the caller's.
    pub netns: Option<String>,
}

/// The files that the program writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// MAC samples.
    pub mac: PathBuf,
    /// Timing trust.
    pub link: PathBuf,
    /// The run's account.
    pub summary: PathBuf,
}
