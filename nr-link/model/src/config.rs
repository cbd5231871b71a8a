// SPDX-License-Identifier: Apache-2.0
//! The link's configuration: the YAML of `docs/link-config.md`, checked once, here.
//!
//! What the file says becomes a [`ResolvedConfig`], in the model's units; nothing beyond sees the
//! file's form. What is refused names file, place, rule and mend.

mod error;
mod radio;
mod raw;
mod resolve;

use std::path::PathBuf;

pub use error::ConfigError;
pub use radio::{LinkAdaptation, RadioConfig, RlcMode, Uplink};

use crate::Nanos;
use crate::packet::Direction;

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

/// Everything that one configuration file says, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedConfig {
    /// From which every random stream of the link is drawn.
    pub seed: u64,
    /// Largest IP packet.
    pub mtu_bytes: u32,
    /// The carrier and how it is used; means nothing where the scenario gives capacity itself.
    pub radio: Option<RadioConfig>,
    /// The scenario file, anchored at the configuration's folder.
    pub scenario: PathBuf,
    /// Between server and gNB.
    pub path: PerDirection<PathConfig>,
    /// RLC's buffer, of each UE.
    pub queue: PerDirection<Queue>,
    /// Interval of the MAC samples.
    pub sample_interval: Nanos,
    /// The program's network devices.
    pub devices: Devices,
    /// The program's files, anchored at the configuration's folder.
    pub output: Output,
}

impl ResolvedConfig {
    /// The carrier, which a scenario with radio needs.
    ///
    /// # Errors
    /// There is none.
    pub fn radio(&self) -> Result<&RadioConfig, &'static str> {
        self.radio.as_ref().ok_or(
            "radio is missing, and the scenario is one of radio; describe the carrier, or take a scenario of capacity",
        )
    }
}

/// The path between server and gNB, one direction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PathConfig {
    /// Delay of every packet.
    pub delay: Nanos,
    /// Share of packets that are lost at random, each for itself.
    pub loss_ratio: f64,
}

/// One RLC buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// How much it holds.
    pub limit: QueueLimit,
    /// What manages it before it is full; none: nothing does (drop-tail).
    pub aqm: Option<Aqm>,
}

impl From<QueueLimit> for Queue {
    fn from(limit: QueueLimit) -> Self {
        Self { limit, aqm: None }
    }
}

/// Active queue management.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aqm {
    /// RFC 8289.
    CoDel(CoDel),
    /// RFC 8033.
    Pie(Pie),
}

/// Parameters of PIE (RFC 8033 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pie {
    /// The wait that it steers to.
    pub target: Nanos,
    /// Between two updates of the probability.
    pub update: Nanos,
    /// ECN-capable packets are marked, not dropped, while few are.
    pub ecn: bool,
}

/// Parameters of CoDel (RFC 8289 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoDel {
    /// The wait that is acceptable for ever.
    pub target: Nanos,
    /// How long it may be longer; a round-trip time of those that are usual.
    pub interval: Nanos,
    /// ECN-capable packets are marked, not dropped.
    pub ecn: bool,
}

/// How much one RLC buffer holds; what comes beyond is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// IP packets not yet wholly sent.
    Packets(u64),
    /// IP bytes not yet sent.
    Bytes(u64),
}

/// The devices that the program opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Devices {
    /// The core network's side.
    pub core: Device,
    /// One for each UE; their number is the number of UEs.
    pub ue: Vec<Device>,
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
