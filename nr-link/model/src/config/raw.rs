// SPDX-License-Identifier: Apache-2.0
//! The content of a configuration file, before it is checked and converted.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use crate::aqm::RawAqm;
use crate::radio::McsTable;
use crate::scenario::{NonNegative, Positive, Ratio};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Schema {
    #[serde(rename = "nr-link/1")]
    V1,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    #[serde(rename = "schema")]
    pub _schema: Schema,
    pub seed: u64,
    pub mtu_bytes: u32,
    #[serde(default)]
    pub radio: Option<Radio>,
    pub scenario: PathBuf,
    #[serde(default)]
    pub scenario_seed: Option<u64>,
    pub path: Both<PathDirection>,
    pub queue: Both<Queue>,
    pub samples: Samples,
    pub devices: Devices,
    pub output: Output,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Both<V> {
    pub dl: V,
    pub ul: V,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Radio {
    pub carrier_ghz: Positive,
    pub numerology: u8,
    pub prb: u16,
    #[serde(default)]
    pub secondary: Vec<Spanned<Secondary>>,
    pub duplex: Duplex,
    #[serde(default, deserialize_with = "scheduler")]
    pub scheduler: Scheduler,
    #[serde(default = "one_layer")]
    pub layers: Both<u8>,
    #[serde(default)]
    pub rank: Rank,
    #[serde(default)]
    pub layer_isolation_db: Option<f64>,
    #[serde(default)]
    pub mcs_table: McsTable,
    #[serde(default)]
    pub gnb_profile: GnbProfile,
    #[serde(default)]
    pub link_adaptation: Option<LinkAdaptation>,
    #[serde(default)]
    pub csi: Csi,
    #[serde(default)]
    pub rlc: Rlc,
    #[serde(default)]
    pub uplink: Uplink,
}

/// Secondary component carriers; absent keys have the value of the primary one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Secondary {
    #[serde(default)]
    pub carrier_ghz: Option<Positive>,
    #[serde(default)]
    pub prb: Option<u16>,
    #[serde(default)]
    pub numerology: Option<u8>,
    #[serde(default)]
    pub duplex: Option<Duplex>,
    #[serde(default = "yes")]
    pub uplink: bool,
    #[serde(default = "one")]
    pub count: usize,
}

fn yes() -> bool {
    true
}

fn one() -> usize {
    1
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scheduler {
    #[default]
    RoundRobin,
    ProportionalFair(ProportionalFair),
    MaxCi,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ProportionalFair {
    pub window_slots: f64,
}

/// Reads a scheduler; `proportional_fair` may be a word, too, and has its default window then.
fn scheduler<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Scheduler, D::Error> {
    struct Word;
    impl<'de> Visitor<'de> for Word {
        type Value = Scheduler;

        fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
            formatter.write_str("a scheduler")
        }

        fn visit_str<E: de::Error>(self, word: &str) -> Result<Scheduler, E> {
            match word {
                "proportional_fair" => Ok(Scheduler::ProportionalFair(ProportionalFair::default())),
                _ => Scheduler::deserialize(word.into_deserializer()),
            }
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scheduler, A::Error> {
            let scheduler = Scheduler::deserialize(MapAccessDeserializer::new(&mut map))?;
            match map.next_key::<IgnoredAny>()? {
                None => Ok(scheduler),
                Some(_) => Err(de::Error::custom("several schedulers are given")),
            }
        }
    }
    deserializer.deserialize_any(Word)
}

impl Default for ProportionalFair {
    /// The window of OAI's gNB.
    fn default() -> Self {
        Self {
            window_slots: 100.0,
        }
    }
}

/// The choice of the number of layers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rank {
    #[default]
    Adaptive,
    Fixed,
}

fn one_layer() -> Both<u8> {
    Both { dl: 1, ul: 1 }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Duplex {
    Tdd(Tdd),
    Fdd,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tdd {
    pub pattern: String,
    #[serde(default)]
    pub special: Special,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Special {
    pub dl_symbols: u8,
    pub ul_symbols: u8,
}

impl Default for Special {
    /// The CSI settings of OAI's configuration for band 78.
    fn default() -> Self {
        Self {
            dl_symbols: 6,
            ul_symbols: 4,
        }
    }
}

/// The behaviour of the gNB that the standard leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) enum GnbProfile {
    /// Every slot and symbol that the standard allows.
    #[default]
    #[serde(rename = "ideal")]
    Ideal,
    #[serde(rename = "oai-2026.w11")]
    Oai2026W11,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LinkAdaptation {
    Olla(Olla),
    Oai(Oai),
    FixedMcs(u8),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Oai {
    pub bler_lower: f64,
    pub bler_upper: f64,
}

impl Default for Oai {
    /// The bounds of OAI's gNB without configuration.
    fn default() -> Self {
        Self {
            bler_lower: 0.05,
            bler_upper: 0.15,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Olla {
    pub bler_target: f64,
}

impl Default for LinkAdaptation {
    fn default() -> Self {
        Self::Olla(Olla { bler_target: 0.1 })
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Csi {
    pub period_slots: u64,
    pub delay_slots: u64,
}

impl Default for Csi {
    fn default() -> Self {
        Self {
            period_slots: 20,
            delay_slots: 4,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rlc {
    pub mode: RlcMode,
    pub t_reassembly_ms: f64,
}

impl Default for Rlc {
    fn default() -> Self {
        Self {
            mode: RlcMode::Am,
            t_reassembly_ms: 15.0,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RlcMode {
    Am,
    Um,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Uplink {
    pub pcmax_dbm: f64,
    pub target_snr_db: Option<f64>,
}

impl Default for Uplink {
    /// Power class 3 of TS 38.101-1 table 6.2.1-1.
    fn default() -> Self {
        Self {
            pcmax_dbm: 23.0,
            target_snr_db: None,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathDirection {
    pub delay_ms: NonNegative,
    #[serde(default)]
    pub loss_ratio: Option<Ratio>,
    #[serde(default)]
    pub bit_error_ratio: Option<Ratio>,
    #[serde(default)]
    pub rate_mbps: Option<Positive>,
    #[serde(default)]
    pub queue: Option<PathQueue>,
    #[serde(default)]
    pub cross_traffic: Option<CrossTraffic>,
}

/// The queue of a path with limited rate.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathQueue {
    #[serde(default)]
    pub packets: Option<u64>,
    #[serde(default)]
    pub bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CrossTraffic {
    pub rate_mbps: Positive,
    #[serde(default = "usual_packet")]
    pub packet_bytes: u32,
}

fn usual_packet() -> u32 {
    1500
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    #[serde(default)]
    pub packets: Option<u64>,
    #[serde(default)]
    pub bytes: Option<u64>,
    #[serde(default)]
    pub aqm: Option<RawAqm>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Samples {
    pub interval_ms: Positive,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Devices {
    pub core: Device,
    pub ue: Vec<Spanned<Ue>>,
}

/// A UE's device, and the settings that differ between UEs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ue {
    pub name: String,
    #[serde(default)]
    pub netns: Option<String>,
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
    #[serde(default)]
    pub scenario: Option<PathBuf>,
    #[serde(default)]
    pub queue: Option<Both<Queue>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    pub name: String,
    #[serde(default)]
    pub netns: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    pub mac: PathBuf,
    pub link: PathBuf,
    pub summary: PathBuf,
}
