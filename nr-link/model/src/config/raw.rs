// SPDX-License-Identifier: Apache-2.0
//! The content of a configuration file, before it is checked and converted.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::activity::{RawDrx, RawRrc};
use super::beams::RawBeams;
pub(super) use super::both::Both;
use super::handover::RawHandover;
use super::polling::RawPolling;
use super::{GnbProfile, Grants};
use crate::aqm::RawAqm;
use crate::radio::McsTable;
use crate::scenario::{LinkDuplex as Duplex, PathDirection, Positive, Ratio};
use crate::yaml::Lined;

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
    pub radio: Option<Radio>,
    pub scenario: PathBuf,
    pub scenario_seed: Option<u64>,
    pub path: Both<PathDirection>,
    pub queue: Both<Queue>,
    pub samples: Samples,
    pub devices: Devices,
    pub output: Output,
    #[serde(default)]
    pub changes: Vec<Lined<Change>>,
}

/// A change at an instant; absent keys stay as they are.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub at_s: f64,
    pub prb: Option<u16>,
    pub path: Option<Both<PathDirection>>,
    pub queue: Option<Both<Queue>>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Radio {
    /// Centre frequency of the primary carrier, GHz.
    pub carrier_ghz: Positive,
    /// µ of TS 38.211 table 4.2-1: the subcarrier spacing is 15·2^µ kHz.
    #[schemars(range(min = 0, max = 3))]
    pub numerology: u8,
    /// Carrier width, PRBs: one that TS 38.101-1 or 38.101-2 has for the numerology.
    pub prb: u16,
    /// Secondary component carriers, at most 15.
    #[serde(default)]
    #[schemars(with = "Vec<Secondary>")]
    pub secondary: Vec<Lined<Secondary>>,
    pub duplex: Duplex,
    #[serde(default, deserialize_with = "scheduler")]
    #[schemars(schema_with = "scheduler_schema")]
    pub scheduler: Scheduler,
    /// Largest number of MIMO layers in each direction, 1 to 4.
    #[serde(default = "one_layer")]
    pub layers: Both<u8>,
    #[serde(default)]
    pub rank: Rank,
    /// Attenuation of each other layer in the signal of a layer, dB. Default: no interference
    /// between layers.
    pub layer_isolation_db: Option<f64>,
    #[serde(default)]
    pub mcs_table: McsTable,
    #[serde(default)]
    pub gnb_profile: GnbProfile,
    pub link_adaptation: Option<LinkAdaptation>,
    #[serde(default)]
    pub csi: Csi,
    #[serde(default)]
    pub rlc: Rlc,
    #[serde(default)]
    pub pdcp: Pdcp,
    #[serde(default)]
    pub uplink: Uplink,
    /// Handover between the cells of the scenario.
    pub handover: Option<RawHandover>,
    /// The share of resources in which each cell that does not serve a UE transmits. Default: 0.
    pub neighbour_load: Option<Ratio>,
    /// Default: UEs always monitor the PDCCH.
    pub drx: Option<RawDrx>,
    /// Beam management and recovery, where the scenario has candidate beams.
    #[serde(default)]
    pub beams: RawBeams,
    /// Default: UEs stay in RRC_CONNECTED.
    pub rrc: Option<RawRrc>,
}

/// Secondary component carriers, all alike; absent keys have the value of the primary one.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Secondary {
    pub carrier_ghz: Option<Positive>,
    pub prb: Option<u16>,
    pub numerology: Option<u8>,
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

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scheduler {
    #[default]
    RoundRobin,
    ProportionalFair(ProportionalFair),
    MaxCi,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ProportionalFair {
    /// Window of the average rate, slots.
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

fn scheduler_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
    let settings = generator.subschema_for::<ProportionalFair>();
    json_schema!({
        "description": "The scheduler of each carrier.",
        "default": "round_robin",
        "anyOf": [
            {"enum": ["round_robin", "proportional_fair", "max_ci"]},
            {"type": "object", "properties": {"proportional_fair": settings},
             "required": ["proportional_fair"], "additionalProperties": false},
        ],
    })
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Rank {
    /// The number of layers follows the channel.
    #[default]
    Adaptive,
    /// All layers are always in use.
    Fixed,
}

fn one_layer() -> Both<u8> {
    Both { dl: 1, ul: 1 }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LinkAdaptation {
    /// An outer loop that controls the ratio of failed first transmissions.
    Olla(Olla),
    /// OpenAirInterface's rule: one MCS up or down per window.
    Oai(Oai),
    /// A constant MCS.
    FixedMcs(u8),
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Oai {
    /// The MCS increases by one below this ratio.
    pub bler_lower: f64,
    /// The MCS decreases by one above this ratio.
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

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Olla {
    /// The target of that ratio.
    pub bler_target: f64,
}

impl Default for LinkAdaptation {
    fn default() -> Self {
        Self::Olla(Olla { bler_target: 0.1 })
    }
}

/// Channel state information.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Csi {
    /// Slots between two reports, a period of TS 38.331.
    pub period_slots: u64,
    /// Slots from a measurement to the use of its report.
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

/// The RLC mode (TS 38.322).
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Rlc {
    pub mode: RlcMode,
    /// t-Reassembly, ms.
    pub t_reassembly_ms: f64,
    /// Polling and status PDUs of acknowledged mode. Default: the gNB profile's; of `ideal`, losses are known without.
    pub polling: Option<RawPolling>,
}

impl Default for Rlc {
    fn default() -> Self {
        Self {
            mode: RlcMode::Am,
            t_reassembly_ms: 15.0,
            polling: None,
        }
    }
}

/// PDCP (TS 38.323).
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pdcp {
    /// t-Reordering over RLC in unacknowledged mode, ms. Default: as long as t-Reassembly, or that of the gNB's profile.
    pub t_reordering_ms: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum RlcMode {
    /// Acknowledged mode.
    Am,
    /// Unacknowledged mode.
    Um,
}

/// Uplink power control and grants.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Uplink {
    /// Largest power of the UE, dBm.
    pub pcmax_dbm: f64,
    /// Target SNR at the gNB, dB. Default: 20.
    pub target_snr_db: Option<f64>,
    pub grants: Grants,
}

impl Default for Uplink {
    /// Power class 3 of TS 38.101-1 table 6.2.1-1.
    fn default() -> Self {
        Self {
            pcmax_dbm: 23.0,
            target_snr_db: None,
            grants: Grants::default(),
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Queue {
    pub packets: Option<u64>,
    pub bytes: Option<u64>,
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
    #[serde(default = "yes")]
    pub gro: bool,
    pub core: Device,
    pub ue: Vec<Lined<Ue>>,
}

/// A UE's device, and the settings that differ between UEs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ue {
    pub name: String,
    pub netns: Option<String>,
    #[serde(default)]
    pub addresses: Vec<IpAddr>,
    pub scenario: Option<PathBuf>,
    pub queue: Option<Both<Queue>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Device {
    pub name: String,
    pub netns: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    pub mac: PathBuf,
    pub link: PathBuf,
    pub summary: PathBuf,
    pub delays: Option<PathBuf>,
    pub mac_pcap: Option<PathBuf>,
}
