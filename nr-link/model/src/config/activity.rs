// SPDX-License-Identifier: Apache-2.0
//! DRX and RRC states of UEs: the keys `radio.drx` and `radio.rrc`, and the values that the standard has for them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PerDirection;
use super::both::Both;
use crate::Nanos;
use crate::problem::{Problem, violation};
use crate::range::within;

const MS: Nanos = 1_000_000;

/// drx-onDurationTimer of TS 38.331 DRX-Config, ms; shorter ones are multiples of 1/32 ms.
const ON_DURATIONS_MS: [u64; 24] = [
    1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, 200, 300, 400, 500, 600, 800, 1000, 1200,
    1600,
];
/// drx-InactivityTimer, ms.
const INACTIVITIES_MS: [u64; 23] = [
    0, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 40, 50, 60, 80, 100, 200, 300, 500, 750, 1280, 1920, 2560,
];
/// drx-LongCycleStartOffset, ms.
const LONG_CYCLES_MS: [u64; 20] = [
    10, 20, 32, 40, 60, 64, 70, 80, 128, 160, 256, 320, 512, 640, 1024, 1280, 2048, 2560, 5120,
    10240,
];
/// drx-ShortCycle, ms.
const SHORT_CYCLES_MS: [u64; 23] = [
    2, 3, 4, 5, 6, 7, 8, 10, 14, 16, 20, 30, 32, 35, 40, 64, 80, 128, 160, 256, 320, 512, 640,
];
/// drx-RetransmissionTimerDL and -UL, slots.
const RETRANSMISSIONS_SLOTS: [u64; 17] = [
    0, 1, 2, 4, 6, 8, 16, 24, 33, 40, 64, 80, 96, 112, 128, 160, 320,
];
/// PagingCycle, radio frames.
const PAGING_CYCLES: [u64; 4] = [32, 64, 128, 256];
/// Periods of PRACH: x radio frames of TS 38.211 tables 6.3.3.2-2 to -4, ms.
const PRACH_PERIODS_MS: [u64; 5] = [10, 20, 40, 80, 160];

/// Discontinuous reception (TS 38.321 clause 5.7), with the values of TS 38.331 DRX-Config.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDrx {
    /// drx-onDurationTimer, ms.
    on_duration_ms: f64,
    /// drx-InactivityTimer, ms.
    inactivity_ms: u64,
    /// drx-LongCycle, ms.
    long_cycle_ms: u64,
    /// drx-StartOffset, ms.
    #[serde(default)]
    start_offset_ms: u64,
    /// drx-SlotOffset, 1/32 ms.
    #[serde(default)]
    slot_offset_32nds: u64,
    /// The short cycle. Default: none.
    short: Option<RawShortCycle>,
    /// drx-HARQ-RTT-TimerDL and -UL, symbols.
    #[serde(default = "harq_rtt_symbols")]
    harq_rtt_symbols: Both<u64>,
    /// drx-RetransmissionTimerDL and -UL, slots.
    #[serde(default = "retransmission_slots")]
    retransmission_slots: Both<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawShortCycle {
    /// drx-ShortCycle, ms.
    cycle_ms: u64,
    /// drx-ShortCycleTimer, short cycles.
    cycles: u64,
}

fn harq_rtt_symbols() -> Both<u64> {
    Both { dl: 56, ul: 56 }
}

fn retransmission_slots() -> Both<u64> {
    Both { dl: 16, ul: 16 }
}

/// The RRC states of UEs without data (TS 38.331 clause 4.2.1).
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRrc {
    /// RRC_INACTIVE. Default: never.
    inactive: Option<RawInactive>,
    /// RRC_IDLE. Default: never.
    idle: Option<RawIdle>,
    /// PagingCycle, radio frames.
    #[serde(default = "paging_cycle_frames")]
    paging_cycle_frames: u64,
    /// Time between frames with PRACH, ms.
    #[serde(default = "prach_period_ms")]
    prach_period_ms: u64,
    /// Time from the preamble to the end of contention resolution, ms.
    #[serde(default = "random_access_ms")]
    random_access_ms: f64,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawInactive {
    /// Time without data, s.
    after_s: f64,
    /// Time from the end of random access to the first grant, ms.
    #[serde(default = "resume_ms")]
    resume_ms: f64,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawIdle {
    /// Time without data, s.
    after_s: f64,
    /// Time from the end of random access to the first grant, ms.
    setup_ms: f64,
}

fn paging_cycle_frames() -> u64 {
    128
}

fn prach_period_ms() -> u64 {
    20
}

/// Response window, Msg3 and Msg4 of four-step random access: about 15 ms in TDD.
fn random_access_ms() -> f64 {
    15.0
}

/// RRCResume is processed in 10 ms (TS 38.331 table 12.1-1).
fn resume_ms() -> f64 {
    10.0
}

/// Discontinuous reception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DrxConfig {
    /// drx-onDurationTimer.
    pub on_duration: Nanos,
    /// drx-InactivityTimer.
    pub inactivity: Nanos,
    /// drx-LongCycle.
    pub long_cycle: Nanos,
    /// drx-StartOffset.
    pub start_offset: Nanos,
    /// drx-SlotOffset.
    pub slot_offset: Nanos,
    /// The short cycle, if it is used.
    pub short: Option<ShortCycle>,
    /// drx-HARQ-RTT-TimerDL and -UL, symbols.
    pub harq_rtt_symbols: PerDirection<u64>,
    /// drx-RetransmissionTimerDL and -UL, slots.
    pub retransmission_slots: PerDirection<u64>,
}

/// The short cycle of DRX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortCycle {
    /// drx-ShortCycle.
    pub cycle: Nanos,
    /// drx-ShortCycleTimer, short cycles.
    pub cycles: u64,
}

/// RRC states of UEs without data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RrcConfig {
    /// RRC_INACTIVE, if it is used.
    pub inactive: Option<InactiveConfig>,
    /// RRC_IDLE, if it is used.
    pub idle: Option<IdleConfig>,
    /// PagingCycle, radio frames.
    pub paging_cycle_frames: u64,
    /// Time between frames with PRACH.
    pub prach_period: Nanos,
    /// Time from the preamble to the end of contention resolution.
    pub random_access: Nanos,
}

/// RRC_INACTIVE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InactiveConfig {
    /// Time without data after which the gNB suspends the connection.
    pub after: Nanos,
    /// Time from the end of random access to the first grant.
    pub resume: Nanos,
}

/// RRC_IDLE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleConfig {
    /// Time without data after which the gNB releases the connection.
    pub after: Nanos,
    /// Time from the end of random access to the first grant.
    pub setup: Nanos,
}

pub(super) fn drx(raw: RawDrx) -> Result<DrxConfig, Problem> {
    let long_cycle = one_of(
        "radio.drx.long_cycle_ms",
        "drx-LongCycle",
        raw.long_cycle_ms,
        &LONG_CYCLES_MS,
    )? * MS;
    let on_duration = on_duration(raw.on_duration_ms)?;
    if on_duration >= long_cycle {
        let (on_ms, cycle_ms) = (raw.on_duration_ms, raw.long_cycle_ms);
        return Err(violation!(
            "an on-duration of {on_ms} ms fills the long cycle of {cycle_ms} ms, and the UE never sleeps",
            "Write a shorter on-duration, or leave radio.drx out"
        )
        .at_key("radio.drx.on_duration_ms"));
    }
    let last = raw.long_cycle_ms - 1;
    let start_offset_ms = within(
        "radio.drx.start_offset_ms",
        raw.start_offset_ms,
        0..=last,
        "Write an offset within the long cycle (TS 38.331 drx-LongCycleStartOffset)",
    )?;
    let slot_offset_32nds = within(
        "radio.drx.slot_offset_32nds",
        raw.slot_offset_32nds,
        0..=31,
        "Write a drx-SlotOffset of TS 38.331, in 1/32 ms",
    )?;
    let inactivity = one_of(
        "radio.drx.inactivity_ms",
        "drx-InactivityTimer",
        raw.inactivity_ms,
        &INACTIVITIES_MS,
    )? * MS;
    Ok(DrxConfig {
        on_duration,
        inactivity,
        long_cycle,
        start_offset: start_offset_ms * MS,
        slot_offset: slot_offset_32nds * MS / 32,
        short: raw
            .short
            .map(|short| short_cycle(short, raw.long_cycle_ms))
            .transpose()?,
        harq_rtt_symbols: PerDirection {
            dl: harq_rtt("radio.drx.harq_rtt_symbols.dl", raw.harq_rtt_symbols.dl)?,
            ul: harq_rtt("radio.drx.harq_rtt_symbols.ul", raw.harq_rtt_symbols.ul)?,
        },
        retransmission_slots: PerDirection {
            dl: retransmission(
                "radio.drx.retransmission_slots.dl",
                raw.retransmission_slots.dl,
            )?,
            ul: retransmission(
                "radio.drx.retransmission_slots.ul",
                raw.retransmission_slots.ul,
            )?,
        },
    })
}

/// Returns drx-onDurationTimer: subMilliSeconds (1..31) in 1/32 ms, or milliSeconds.
fn on_duration(ms: f64) -> Result<Nanos, Problem> {
    let fraction = (1..32).any(|part| ms == f64::from(part) / 32.0);
    let whole = ON_DURATIONS_MS.iter().any(|&value| ms == value as f64);
    if fraction || whole {
        return Ok((ms * 1e6).round() as Nanos);
    }
    Err(violation!(
        "{ms} ms is not a drx-onDurationTimer of TS 38.331 (DRX-Config)",
        "Choose one of {ON_DURATIONS_MS:?}, or 1/32 to 31/32"
    )
    .at_key("radio.drx.on_duration_ms"))
}

fn short_cycle(raw: RawShortCycle, long_ms: u64) -> Result<ShortCycle, Problem> {
    const KEY: &str = "radio.drx.short.cycle_ms";
    let short_ms = one_of(KEY, "drx-ShortCycle", raw.cycle_ms, &SHORT_CYCLES_MS)?;
    // "the value of drx-LongCycle shall be a multiple of the drx-ShortCycle value" (DRX-Config).
    if !long_ms.is_multiple_of(short_ms) {
        return Err(violation!(
            "the long cycle of {long_ms} ms is not a multiple of the short cycle of {short_ms} ms (TS 38.331 DRX-Config)",
            "Choose a short cycle that divides it"
        )
        .at_key(KEY));
    }
    Ok(ShortCycle {
        cycle: short_ms * MS,
        cycles: within(
            "radio.drx.short.cycles",
            raw.cycles,
            1..=16,
            "Write a drx-ShortCycleTimer of TS 38.331",
        )?,
    })
}

fn harq_rtt(key: &str, symbols: u64) -> Result<u64, Problem> {
    within(
        key,
        symbols,
        0..=56,
        "Write a drx-HARQ-RTT-Timer of TS 38.331, in symbols",
    )
}

fn retransmission(key: &str, slots: u64) -> Result<u64, Problem> {
    one_of(
        key,
        "drx-RetransmissionTimer",
        slots,
        &RETRANSMISSIONS_SLOTS,
    )
}

pub(super) fn rrc(raw: RawRrc) -> Result<RrcConfig, Problem> {
    let inactive = raw.inactive.map(|inactive| {
        Ok::<_, Problem>(InactiveConfig {
            after: after("radio.rrc.inactive.after_s", inactive.after_s)?,
            resume: procedure("radio.rrc.inactive.resume_ms", inactive.resume_ms)?,
        })
    });
    let idle = raw.idle.map(|idle| {
        Ok::<_, Problem>(IdleConfig {
            after: after("radio.rrc.idle.after_s", idle.after_s)?,
            setup: procedure("radio.rrc.idle.setup_ms", idle.setup_ms)?,
        })
    });
    let (inactive, idle) = (inactive.transpose()?, idle.transpose()?);
    if let (Some(inactive), Some(idle)) = (inactive, idle)
        && idle.after <= inactive.after
    {
        return Err(violation!(
            "RRC_IDLE begins before RRC_INACTIVE, which then never does",
            "Write a longer time for idle than for inactive, or leave one of them out"
        )
        .at_key("radio.rrc.idle.after_s"));
    }
    let paging = one_of(
        "radio.rrc.paging_cycle_frames",
        "PagingCycle",
        raw.paging_cycle_frames,
        &PAGING_CYCLES,
    )?;
    if !PRACH_PERIODS_MS.contains(&raw.prach_period_ms) {
        let ms = raw.prach_period_ms;
        return Err(violation!(
            "{ms} ms is not a period of PRACH (TS 38.211 tables 6.3.3.2-2 to -4)",
            "Choose one of {PRACH_PERIODS_MS:?}"
        )
        .at_key("radio.rrc.prach_period_ms"));
    }
    Ok(RrcConfig {
        inactive,
        idle,
        paging_cycle_frames: paging,
        prach_period: raw.prach_period_ms * MS,
        random_access: procedure("radio.rrc.random_access_ms", raw.random_access_ms)?,
    })
}

fn after(key: &str, s: f64) -> Result<Nanos, Problem> {
    let s = within(key, s, 0.01..=3600.0, "Write the time without data, s")?;
    Ok((s * 1e9).round() as Nanos)
}

fn procedure(key: &str, ms: f64) -> Result<Nanos, Problem> {
    let ms = within(
        key,
        ms,
        0.0..=10_000.0,
        "Write the time that the procedure takes, ms",
    )?;
    Ok((ms * 1e6).round() as Nanos)
}

/// Returns a value that the standard has.
fn one_of(key: &str, name: &str, value: u64, values: &[u64]) -> Result<u64, Problem> {
    if values.contains(&value) {
        return Ok(value);
    }
    Err(violation!(
        "{value} is not a value of {name} (TS 38.331)",
        "Choose one of {values:?}"
    )
    .at_key(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers in the ENUMERATED and CHOICE lists of TS 38.331 clause 6.3.2, as ASN.1 has them.
    fn asn1(list: &str) -> Vec<u64> {
        list.split([',', ' '])
            .filter_map(|name| name.trim_start_matches(char::is_alphabetic).parse().ok())
            .collect()
    }

    #[test]
    fn the_values_are_those_of_the_standards_asn1() {
        for (values, list) in [
            (
                &ON_DURATIONS_MS[..],
                "ms1, ms2, ms3, ms4, ms5, ms6, ms8, ms10, ms20, ms30, ms40, ms50, ms60, ms80, ms100, ms200, \
                 ms300, ms400, ms500, ms600, ms800, ms1000, ms1200, ms1600",
            ),
            (
                &INACTIVITIES_MS[..],
                "ms0, ms1, ms2, ms3, ms4, ms5, ms6, ms8, ms10, ms20, ms30, ms40, ms50, ms60, ms80, ms100, \
                 ms200, ms300, ms500, ms750, ms1280, ms1920, ms2560",
            ),
            (
                &LONG_CYCLES_MS[..],
                "ms10, ms20, ms32, ms40, ms60, ms64, ms70, ms80, ms128, ms160, ms256, ms320, ms512, ms640, \
                 ms1024, ms1280, ms2048, ms2560, ms5120, ms10240",
            ),
            (
                &SHORT_CYCLES_MS[..],
                "ms2, ms3, ms4, ms5, ms6, ms7, ms8, ms10, ms14, ms16, ms20, ms30, ms32, ms35, ms40, ms64, \
                 ms80, ms128, ms160, ms256, ms320, ms512, ms640",
            ),
            (
                &RETRANSMISSIONS_SLOTS[..],
                "sl0, sl1, sl2, sl4, sl6, sl8, sl16, sl24, sl33, sl40, sl64, sl80, sl96, sl112, sl128, \
                 sl160, sl320",
            ),
            (&PAGING_CYCLES[..], "rf32, rf64, rf128, rf256"),
        ] {
            assert_eq!(values, asn1(list));
        }
    }
}
