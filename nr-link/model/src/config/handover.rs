// SPDX-License-Identifier: Apache-2.0
//! The configuration of measurements, handover, data forwarding and radio link failure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::problem::{Problem, violation};
use crate::range::{nanos, within};

/// The procedure by which a UE changes its cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HandoverKind {
    /// The ordinary handover on the event, A3 by default (TS 38.300 clause 9.2.3.2).
    #[default]
    A3,
    /// Conditional handover: prepared early, executed by the UE (clause 9.2.3.4).
    Cho,
    /// Dual active protocol stack: the source serves until the target does (clause 9.2.3.2.2).
    Daps,
    /// L1/L2-triggered mobility: a MAC control element switches to a prepared cell (clause 9.2.3.5).
    Ltm,
    /// None: a UE leaves its cell by radio link failure only.
    Off,
}

impl HandoverKind {
    /// Returns the name that configurations have.
    pub fn name(self) -> &'static str {
        match self {
            Self::A3 => "a3",
            Self::Cho => "cho",
            Self::Daps => "daps",
            Self::Ltm => "ltm",
            Self::Off => "off",
        }
    }
}

/// An event of TS 38.331 clauses 5.5.4.2 to 5.5.4.7. Levels are RSRP.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The serving cell becomes better than a threshold.
    A1 {
        /// The threshold, dBm.
        threshold_dbm: f64,
    },
    /// The serving cell becomes worse than a threshold.
    A2 {
        /// The threshold, dBm.
        threshold_dbm: f64,
    },
    /// A neighbour becomes better than the serving cell by an offset.
    A3 {
        /// The offset, dB.
        offset_db: f64,
    },
    /// A neighbour becomes better than a threshold.
    A4 {
        /// The threshold, dBm.
        threshold_dbm: f64,
    },
    /// The serving cell becomes worse than one threshold, and a neighbour better than another.
    A5 {
        /// The threshold of the serving cell, dBm.
        serving_dbm: f64,
        /// The threshold of the neighbour, dBm.
        neighbour_dbm: f64,
    },
    /// A neighbour becomes better than the serving cell on its frequency by an offset.
    A6 {
        /// The offset, dB.
        offset_db: f64,
    },
}

impl Event {
    /// Returns the name in the standard.
    pub fn name(self) -> &'static str {
        match self {
            Self::A1 { .. } => "A1",
            Self::A2 { .. } => "A2",
            Self::A3 { .. } => "A3",
            Self::A4 { .. } => "A4",
            Self::A5 { .. } => "A5",
            Self::A6 { .. } => "A6",
        }
    }

    /// Returns whether the event names a neighbour, to which a UE can be handed over.
    pub fn names_neighbour(self) -> bool {
        !matches!(self, Self::A1 { .. } | Self::A2 { .. })
    }

    fn levels(self) -> Vec<f64> {
        match self {
            Self::A1 { threshold_dbm }
            | Self::A2 { threshold_dbm }
            | Self::A4 { threshold_dbm } => {
                vec![threshold_dbm]
            }
            Self::A3 { offset_db } | Self::A6 { offset_db } => vec![offset_db],
            Self::A5 {
                serving_dbm,
                neighbour_dbm,
            } => vec![serving_dbm, neighbour_dbm],
        }
    }
}

/// Handover, and what happens to data.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Handover {
    /// The procedure.
    pub kind: HandoverKind,
    /// The event that starts it.
    pub event: Event,
    /// Further events that are reported and do nothing else.
    pub reports: Vec<Event>,
    /// Hysteresis of all events, dB.
    pub hysteresis_db: f64,
    /// Time to trigger of all events.
    pub time_to_trigger: Nanos,
    /// Period of measurements by layer 1.
    pub l1_period: Nanos,
    /// k of layer 3's filter.
    pub filter_coefficient: u8,
    /// The level by which a conditional handover is prepared earlier, dB.
    pub cho_margin_db: f64,
    /// The time from the report to the command: request to the target, admission, acknowledgement.
    pub preparation: Nanos,
    /// The time from the command to its execution: processing of RRC at the UE.
    pub rrc_processing: Nanos,
    /// Processing of the UE's lower layers for the new cell.
    pub ue_processing: Nanos,
    /// The UE's processing for a switch by LTM.
    pub ltm_processing: Nanos,
    /// Period of occasions of random access.
    pub random_access_period: Nanos,
    /// The time from the completion until the core sends to the target.
    pub path_switch: Nanos,
    /// Whether the source forwards data to the target.
    pub forwarding: bool,
    /// Delay of Xn.
    pub xn_delay: Nanos,
    /// Rate of Xn, bit/s.
    pub xn_bits_per_s: f64,
    /// t-Reordering of PDCP.
    pub t_reordering: Nanos,
    /// discardTimer of PDCP; `None` is infinity.
    pub discard_timer: Option<Nanos>,
    /// Radio link failure.
    pub failure: LinkFailure,
}

/// Radio link failure and re-establishment (TS 38.331 clauses 5.3.10, 5.3.7; TS 38.133 clause 8.1).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub struct LinkFailure {
    /// Out-of-sync indications in a row that start T310.
    pub n310: u32,
    /// In-sync indications in a row that stop it.
    pub n311: u32,
    /// T310.
    pub t310: Nanos,
    /// T304: the time limit of a handover's execution.
    pub t304: Nanos,
    /// T311: the time limit of a re-establishment's search for a cell.
    pub t311: Nanos,
    /// The time from a failure to the random access in the cell that is selected.
    pub reestablishment: Nanos,
    /// SINR below which PDCCH is out of sync, dB.
    pub q_out_db: f64,
    /// SINR above which it is in sync again, dB.
    pub q_in_db: f64,
}

/// `radio.handover` as it is written.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawHandover {
    pub kind: HandoverKind,
    /// The event that starts a handover: a3, a4, a5 or a6 of TS 38.331 clause 5.5.4.
    pub event: Event,
    /// Further events that are reported and do nothing else.
    pub reports: Vec<Event>,
    /// Hysteresis, dB: 0 to 15 in steps of 0.5.
    pub hysteresis_db: f64,
    /// TimeToTrigger, ms, of TS 38.331.
    pub time_to_trigger_ms: u64,
    /// Measurement period of layer 1, ms, a multiple of 20.
    pub l1_period_ms: u64,
    /// filterCoefficient k: 0 to 9, 11, 13, 15, 17 or 19.
    pub filter_coefficient: u8,
    /// The level by which a conditional handover is prepared earlier, dB.
    pub cho_margin_db: f64,
    /// The time from the report to the command, ms.
    pub preparation_ms: f64,
    /// Processing of RRC at the UE, ms.
    pub rrc_processing_ms: f64,
    /// Processing of the UE's lower layers, ms.
    pub ue_processing_ms: f64,
    /// The UE's processing for a switch by LTM, ms.
    pub ltm_processing_ms: f64,
    /// Period of occasions of random access, ms.
    pub random_access_period_ms: f64,
    /// The time from the completion until the core sends to the target, ms.
    pub path_switch_ms: f64,
    /// Whether the source forwards data to the target.
    pub forwarding: bool,
    /// Delay of Xn, ms.
    pub xn_delay_ms: f64,
    /// Rate of Xn, Mbit/s.
    pub xn_rate_mbps: f64,
    /// t-Reordering of PDCP, ms.
    pub t_reordering_ms: f64,
    /// discardTimer of PDCP, ms. Default: infinity.
    pub discard_timer_ms: Option<f64>,
    /// N310.
    pub n310: u32,
    /// N311.
    pub n311: u32,
    /// T310, ms.
    pub t310_ms: f64,
    /// T304, ms.
    pub t304_ms: f64,
    /// T311, ms.
    pub t311_ms: f64,
    /// The time from a failure to the random access in the cell that is selected, ms.
    pub reestablishment_ms: f64,
    /// SINR below which the link is out of sync, dB.
    pub q_out_db: f64,
    /// SINR above which it is in sync again, dB.
    pub q_in_db: f64,
}

impl Default for RawHandover {
    /// `docs/link-config.md` has the source of each.
    fn default() -> Self {
        Self {
            kind: HandoverKind::default(),
            event: Event::A3 { offset_db: 3.0 },
            reports: Vec::new(),
            hysteresis_db: 1.0,
            time_to_trigger_ms: 160,
            l1_period_ms: 200,
            filter_coefficient: 4,
            cho_margin_db: 3.0,
            preparation_ms: 10.0,
            rrc_processing_ms: 10.0,
            ue_processing_ms: 20.0,
            ltm_processing_ms: 5.0,
            random_access_period_ms: 10.0,
            path_switch_ms: 10.0,
            forwarding: true,
            xn_delay_ms: 2.0,
            xn_rate_mbps: 10_000.0,
            t_reordering_ms: 100.0,
            discard_timer_ms: None,
            n310: 10,
            n311: 1,
            t310_ms: 1000.0,
            t304_ms: 1000.0,
            t311_ms: 3000.0,
            reestablishment_ms: 250.0,
            q_out_db: -8.0,
            q_in_db: -6.0,
        }
    }
}

/// TimeToTrigger of TS 38.331, ms.
const TIMES_TO_TRIGGER_MS: [u64; 16] = [
    0, 40, 64, 80, 100, 128, 160, 256, 320, 480, 512, 640, 1024, 1280, 2560, 5120,
];
/// FilterCoefficient of TS 38.331.
const FILTER_COEFFICIENTS: [u8; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 17, 19];
/// The period of the SSB, which is sampled, ms.
const SSB_PERIOD_MS: u64 = 20;

impl RawHandover {
    /// Checks the values, and converts them into the model's units.
    pub(super) fn resolve(self) -> Result<Handover, Problem> {
        const EVENT: &str = "radio.handover.event";
        if !self.event.names_neighbour() {
            let name = self.event.name();
            return Err(violation!(
                "{name} names no neighbour to which a UE could be handed over",
                "Choose a3, a4, a5 or a6, and list {name} below reports"
            )
            .at_key(EVENT));
        }
        for event in self.reports.iter().chain([&self.event]) {
            for level in event.levels() {
                within(EVENT, level, -156.0..=31.0, "Write dBm, or an offset in dB")?;
            }
        }
        one_of(
            "radio.handover.time_to_trigger_ms",
            self.time_to_trigger_ms,
            &TIMES_TO_TRIGGER_MS,
            "TimeToTrigger",
        )?;
        one_of(
            "radio.handover.filter_coefficient",
            self.filter_coefficient,
            &FILTER_COEFFICIENTS,
            "FilterCoefficient",
        )?;
        let l1_period_ms = within(
            "radio.handover.l1_period_ms",
            self.l1_period_ms,
            SSB_PERIOD_MS..=1000,
            "Write 200, as in TS 38.133 clause 9.2.5",
        )?;
        if !l1_period_ms.is_multiple_of(SSB_PERIOD_MS) {
            return Err(violation!(
                "{l1_period_ms} ms are not a multiple of the SSB's period, {SSB_PERIOD_MS} ms",
                "Write 200, as in TS 38.133 clause 9.2.5"
            )
            .at_key("radio.handover.l1_period_ms"));
        }
        let time = |key: &str, ms: f64| nanos(&format!("radio.handover.{key}"), ms);
        let positive = |key: &str, ms: f64| {
            let key = format!("radio.handover.{key}");
            within(&key, ms, 1.0..=60_000.0, "Write a time in ms").and_then(|ms| nanos(&key, ms))
        };
        let count = |key: &str, count: u32| {
            let key = format!("radio.handover.{key}");
            within(&key, count, 1..=20, "Write a constant of TS 38.331")
        };
        let sinr = |key: &str, db: f64| {
            let key = format!("radio.handover.{key}");
            within(&key, db, -30.0..=30.0, "Write an SINR in dB")
        };
        let failure = LinkFailure {
            n310: count("n310", self.n310)?,
            n311: count("n311", self.n311)?,
            t310: time("t310_ms", self.t310_ms)?,
            t304: positive("t304_ms", self.t304_ms)?,
            t311: positive("t311_ms", self.t311_ms)?,
            reestablishment: time("reestablishment_ms", self.reestablishment_ms)?,
            q_out_db: sinr("q_out_db", self.q_out_db)?,
            q_in_db: sinr("q_in_db", self.q_in_db)?,
        };
        if failure.q_in_db < failure.q_out_db {
            let (q_in, q_out) = (failure.q_in_db, failure.q_out_db);
            return Err(violation!(
                "q_in_db {q_in} is below q_out_db {q_out}",
                "Write a larger one, such as -6 with -8"
            )
            .at_key("radio.handover.q_in_db"));
        }
        let xn_mbps = within(
            "radio.handover.xn_rate_mbps",
            self.xn_rate_mbps,
            1.0..=1e6,
            "Write a rate in Mbit/s",
        )?;
        let discard_timer = self.discard_timer_ms;
        let discard_timer = discard_timer.map(|ms| positive("discard_timer_ms", ms));
        Ok(Handover {
            kind: self.kind,
            event: self.event,
            reports: self.reports,
            hysteresis_db: within(
                "radio.handover.hysteresis_db",
                self.hysteresis_db,
                0.0..=15.0,
                "Write a hysteresis in dB; 1 is usual",
            )?,
            time_to_trigger: self.time_to_trigger_ms * 1_000_000,
            l1_period: l1_period_ms * 1_000_000,
            filter_coefficient: self.filter_coefficient,
            cho_margin_db: within(
                "radio.handover.cho_margin_db",
                self.cho_margin_db,
                0.0..=30.0,
                "Write a margin in dB; 3 is usual",
            )?,
            preparation: time("preparation_ms", self.preparation_ms)?,
            rrc_processing: time("rrc_processing_ms", self.rrc_processing_ms)?,
            ue_processing: time("ue_processing_ms", self.ue_processing_ms)?,
            ltm_processing: time("ltm_processing_ms", self.ltm_processing_ms)?,
            random_access_period: positive(
                "random_access_period_ms",
                self.random_access_period_ms,
            )?,
            path_switch: time("path_switch_ms", self.path_switch_ms)?,
            forwarding: self.forwarding,
            xn_delay: time("xn_delay_ms", self.xn_delay_ms)?,
            xn_bits_per_s: xn_mbps * 1e6,
            t_reordering: time("t_reordering_ms", self.t_reordering_ms)?,
            discard_timer: discard_timer.transpose()?,
            failure,
        })
    }
}

fn one_of<V: PartialEq + std::fmt::Display + std::fmt::Debug>(
    key: &str,
    value: V,
    known: &[V],
    name: &str,
) -> Result<(), Problem> {
    if known.contains(&value) {
        return Ok(());
    }
    Err(violation!(
        "{value} is not a value of {name} in TS 38.331",
        "Choose one of {known:?}"
    )
    .at_key(key))
}
