// SPDX-License-Identifier: Apache-2.0
//! Beam management and recovery: the key `radio.beams`, and the values that TS 38.331 has for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::problem::{Problem, violation};
use crate::range::within;

const MS: Nanos = 1_000_000;

/// beamFailureInstanceMaxCount (RadioLinkMonitoringConfig), and beamFailureDetectionTimer in Q_out,LR reporting periods.
const COUNTS: [u64; 8] = [1, 2, 3, 4, 5, 6, 8, 10];
/// beamFailureRecoveryTimer (BeamFailureRecoveryConfig), ms.
const RECOVERIES_MS: [u64; 8] = [10, 20, 40, 60, 80, 100, 150, 200];
/// preambleTransMax (RACH-ConfigGeneric).
const PREAMBLE_TRANSMISSIONS: [u64; 11] = [3, 4, 5, 6, 7, 8, 10, 20, 50, 100, 200];
/// ssb-periodicityServingCell, ms.
const SSB_PERIODS_MS: [u64; 6] = [5, 10, 20, 40, 80, 160];
/// Periods of PRACH (TS 38.211 tables 6.3.3.2-2 to -4), ms.
const PRACH_PERIODS_MS: [u64; 5] = [10, 20, 40, 80, 160];

/// Beam management and recovery, where the scenario has candidate beams.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawBeams {
    /// beamFailureInstanceMaxCount.
    instance_max_count: u64,
    /// beamFailureDetectionTimer, reporting periods.
    detection_timer_periods: u64,
    /// beamFailureRecoveryTimer, ms.
    recovery_timer_ms: u64,
    /// preambleTransMax: with several cells, the link fails when so many preambles had no answer.
    preamble_trans_max: u64,
    /// SINR of the serving beam below which a beam failure instance is indicated, dB (Q_out,LR).
    q_out_db: f64,
    /// RSRP that a candidate needs, dBm (rsrp-ThresholdSSB).
    rsrp_threshold_dbm: f64,
    /// Time between SSBs of a beam, ms.
    ssb_period_ms: u64,
    /// Time between frames with PRACH, ms.
    prach_period_ms: u64,
    /// The gNB changes to a candidate whose reported RSRP is higher by so much, dB.
    change_margin_db: f64,
    /// Time from the report to the use of the other beam, ms.
    change_ms: f64,
}

impl Default for RawBeams {
    /// Usual values; Q_out,LR is a hypothetical PDCCH of aggregation level 8 that fails one time in ten, at about −5 dB.
    fn default() -> Self {
        Self {
            instance_max_count: 3,
            detection_timer_periods: 4,
            recovery_timer_ms: 40,
            preamble_trans_max: 10,
            q_out_db: -5.0,
            rsrp_threshold_dbm: -110.0,
            ssb_period_ms: 20,
            prach_period_ms: 10,
            change_margin_db: 3.0,
            change_ms: 6.0,
        }
    }
}

/// Beam management and recovery.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BeamConfig {
    /// beamFailureInstanceMaxCount.
    pub instance_max_count: u64,
    /// beamFailureDetectionTimer.
    pub detection_timer: Nanos,
    /// beamFailureRecoveryTimer.
    pub recovery_timer: Nanos,
    /// preambleTransMax.
    pub preamble_trans_max: u64,
    /// Q_out,LR, dB.
    pub q_out_db: f64,
    /// rsrp-ThresholdSSB, dBm.
    pub rsrp_threshold_dbm: f64,
    /// Time between SSBs of a beam: the UE measures beams and reports on them.
    pub ssb_period: Nanos,
    /// Time between frames with PRACH.
    pub prach_period: Nanos,
    /// The margin by which a candidate is better, for the gNB to change to it, dB.
    pub change_margin_db: f64,
    /// Time from the report to the use of the other beam.
    pub change: Nanos,
}

pub(super) fn beams(raw: RawBeams) -> Result<BeamConfig, Problem> {
    let decibel = |key: &str, value, range| {
        within(
            &format!("radio.beams.{key}"),
            value,
            range,
            "Write a value in that range",
        )
    };
    let ssb_period = one_of("ssb_period_ms", raw.ssb_period_ms, &SSB_PERIODS_MS)? * MS;
    let periods = one_of(
        "detection_timer_periods",
        raw.detection_timer_periods,
        &COUNTS,
    )?;
    Ok(BeamConfig {
        instance_max_count: one_of("instance_max_count", raw.instance_max_count, &COUNTS)?,
        detection_timer: periods * ssb_period,
        recovery_timer: one_of("recovery_timer_ms", raw.recovery_timer_ms, &RECOVERIES_MS)? * MS,
        preamble_trans_max: one_of(
            "preamble_trans_max",
            raw.preamble_trans_max,
            &PREAMBLE_TRANSMISSIONS,
        )?,
        q_out_db: decibel("q_out_db", raw.q_out_db, -20.0..=20.0)?,
        rsrp_threshold_dbm: decibel("rsrp_threshold_dbm", raw.rsrp_threshold_dbm, -156.0..=-31.0)?,
        ssb_period,
        prach_period: one_of("prach_period_ms", raw.prach_period_ms, &PRACH_PERIODS_MS)? * MS,
        change_margin_db: decibel("change_margin_db", raw.change_margin_db, 0.0..=30.0)?,
        change: (decibel("change_ms", raw.change_ms, 0.0..=1000.0)? * 1e6).round() as Nanos,
    })
}

fn one_of(key: &str, value: u64, values: &[u64]) -> Result<u64, Problem> {
    if values.contains(&value) {
        return Ok(value);
    }
    Err(violation!(
        "{value} is not a value that TS 38.331 or 38.211 has",
        "Choose one of {values:?}"
    )
    .at_key(format!("radio.beams.{key}")))
}
