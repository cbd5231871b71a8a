// SPDX-License-Identifier: Apache-2.0
//! Resolves the carrier and its use.

use crate::config::raw;
use crate::config::{
    Carrier, Discipline, Gnb, GnbProfile, LinkAdaptation, PerDirection, RadioConfig, RlcMode,
    ThresholdRule, Uplink,
};
use crate::config::{activity, beams, polling};
use crate::problem::{Problem, violation};
use crate::radio::{Duplex, Numerology, TddPattern, bands};
use crate::range::{nanos, within};
use crate::scenario::{LinkDuplex, LinkSpecial};
use crate::yaml::Lined;

/// The most component carriers of NR in one frequency range (TS 38.300 clause 5.4.1).
const MOST_CARRIERS: usize = 16;
/// Periods of CSI reports in TS 38.331 CSI-ReportPeriodicityAndOffset, slots.
const CSI_PERIODS: [u64; 10] = [4, 5, 8, 10, 16, 20, 40, 80, 160, 320];
/// The special slot of OAI's configuration for band 78.
const SPECIAL: LinkSpecial = LinkSpecial {
    dl_symbols: 6,
    ul_symbols: 4,
};
/// More slots than any gNB needs to use a report; an eighth of a second at µ = 3.
const LONGEST_CSI_DELAY: u64 = 1000;

pub(super) fn radio(raw: raw::Radio) -> Result<RadioConfig, Problem> {
    let numerology = numerology("radio.numerology", raw.numerology)?;
    let primary = Carrier {
        hz: raw.carrier_ghz.get() * 1e9,
        prb: raw.prb,
        uplink: true,
        numerology,
        duplex: duplex("radio.duplex", raw.duplex)?,
    };
    check_carrier("radio", &primary)?;
    let carriers = carriers(primary, raw.secondary)?;
    check_csi_period(raw.csi.period_slots)?;
    let csi_delay_slots = within(
        "radio.csi.delay_slots",
        raw.csi.delay_slots,
        0..=LONGEST_CSI_DELAY,
        "Write a number of slots in that range; 4 is usual",
    )?;
    check_gnb(raw.gnb_profile, &carriers)?;
    check_activity(raw.gnb_profile, raw.drx.is_some(), raw.rrc.is_some())?;
    Ok(RadioConfig {
        carriers,
        layers: PerDirection {
            dl: layers("radio.layers.dl", raw.layers.dl)?,
            ul: layers("radio.layers.ul", raw.layers.ul)?,
        },
        adapts_rank: raw.rank == raw::Rank::Adaptive,
        layer_isolation_db: layer_isolation_db(raw.layer_isolation_db)?,
        mcs_table: raw.mcs_table,
        scheduler: scheduler(raw.scheduler)?,
        link_adaptation: link_adaptation(
            raw.link_adaptation
                .unwrap_or_else(|| default_adaptation(raw.gnb_profile)),
            raw.gnb_profile,
            raw.mcs_table.schemes().len(),
        )?,
        csi_period_slots: raw.csi.period_slots,
        csi_delay_slots,
        rlc: rlc(raw.rlc, raw.pdcp, raw.gnb_profile.habits())?,
        uplink: uplink(raw.uplink, raw.gnb_profile.habits())?,
        gnb_profile: raw.gnb_profile,
        needs_cells: raw.handover.is_some() || raw.neighbour_load.is_some(),
        handover: raw.handover.unwrap_or_default().resolve()?,
        neighbour_load: raw.neighbour_load.map_or(0.0, |load| load.get()),
        drx: raw.drx.map(activity::drx).transpose()?,
        beams: beams::beams(raw.beams)?,
        rrc: raw.rrc.map(activity::rrc).transpose()?,
    })
}

fn numerology(key: &str, mu: u8) -> Result<Numerology, Problem> {
    Numerology::new(mu).ok_or_else(|| {
        violation!(
            "{mu} is not 0, 1, 2 or 3 (TS 38.211 table 4.2-1)",
            "Write, for example, 1 for 30 kHz"
        )
        .at_key(key)
    })
}

/// Checks the frequency, the bandwidth for the numerology, and the period of the TDD pattern.
fn check_carrier(key: &str, carrier: &Carrier) -> Result<(), Problem> {
    let range = bands::frequency_range(carrier.hz)
        .map_err(|violation| violation.at_key(format!("{key}.carrier_ghz")))?;
    bands::check_prb(range, carrier.numerology, carrier.prb)
        .map_err(|violation| violation.at_key(format!("{key}.prb")))?;
    match &carrier.duplex {
        Duplex::Fdd => Ok(()),
        Duplex::Tdd(pattern) => pattern
            .check_period(carrier.numerology)
            .map_err(|violation| violation.at_key(format!("{key}.duplex"))),
    }
}

/// Lists the primary carrier and the secondary ones.
fn carriers(
    primary: Carrier,
    secondary: Vec<Lined<raw::Secondary>>,
) -> Result<Vec<Carrier>, Problem> {
    let mut carriers = vec![primary];
    for Lined(line, value) in secondary {
        let in_entry = |problem: Problem| problem.or_in_line(Some(line));
        let left = MOST_CARRIERS - carriers.len();
        let count = within(
            "radio.secondary.count",
            value.count,
            1..=left,
            "Use at most 16 component carriers, the primary one included",
        );
        let count = count.map_err(in_entry)?;
        let carrier = secondary_carrier(&carriers[0], value).map_err(in_entry)?;
        carriers.extend(std::iter::repeat_n(carrier, count));
    }
    Ok(carriers)
}

/// Resolves a secondary carrier, which is like the primary one except for the keys given.
fn secondary_carrier(primary: &Carrier, raw: raw::Secondary) -> Result<Carrier, Problem> {
    const KEY: &str = "radio.secondary";
    let carrier = Carrier {
        hz: raw.carrier_ghz.map_or(primary.hz, |ghz| ghz.get() * 1e9),
        prb: raw.prb.unwrap_or(primary.prb),
        uplink: raw.uplink,
        numerology: match raw.numerology {
            Some(mu) => numerology("radio.secondary.numerology", mu)?,
            None => primary.numerology,
        },
        duplex: match raw.duplex {
            Some(raw) => duplex("radio.secondary.duplex", raw)?,
            None => primary.duplex.clone(),
        },
    };
    check_carrier(KEY, &carrier)?;
    Ok(carrier)
}

fn scheduler(raw: raw::Scheduler) -> Result<Discipline, Problem> {
    Ok(match raw {
        raw::Scheduler::RoundRobin => Discipline::RoundRobin,
        raw::Scheduler::MaxCi => Discipline::MaxCi,
        raw::Scheduler::ProportionalFair(raw) => Discipline::ProportionalFair {
            window_slots: within(
                "radio.scheduler",
                raw.window_slots,
                1.0..=1e6,
                "Write a window_slots in that range; 100 is OAI's",
            )?,
        },
    })
}

fn check_csi_period(slots: u64) -> Result<(), Problem> {
    if CSI_PERIODS.contains(&slots) {
        return Ok(());
    }
    Err(violation!(
        "{slots} is not a period of CSI reports (TS 38.331 CSI-ReportPeriodicityAndOffset)",
        "Choose one of {CSI_PERIODS:?}; 20 is usual"
    )
    .at_key("radio.csi.period_slots"))
}

fn duplex(key: &str, raw: LinkDuplex) -> Result<Duplex, Problem> {
    let LinkDuplex::Tdd(tdd) = raw else {
        return Ok(Duplex::Fdd);
    };
    let special = tdd.special.unwrap_or(SPECIAL);
    TddPattern::new(&tdd.pattern, special.dl_symbols, special.ul_symbols)
        .map(Duplex::Tdd)
        .map_err(|violation| violation.at_key(key))
}

fn layers(key: &str, layers: u8) -> Result<u8, Problem> {
    if (1..=4).contains(&layers) {
        return Ok(layers);
    }
    Err(violation!(
        "{layers} layers are not 1, 2, 3 or 4, the numbers that one codeword carries (TS 38.211 table 7.3.1.3-1)",
        "Choose one of: 1, 2, 3, 4"
    )
    .at_key(key))
}

fn layer_isolation_db(raw: Option<f64>) -> Result<Option<f64>, Problem> {
    const KEY: &str = "radio.layer_isolation_db";
    let fix = "Write an isolation in dB, or leave the key out for layers that do not interfere";
    raw.map(|db| within(KEY, db, 0.0..=100.0, fix)).transpose()
}

/// Checks that the link has the carriers of the gNB's profile, which describes one carrier at 30 kHz.
fn check_gnb(profile: GnbProfile, carriers: &[Carrier]) -> Result<(), Problem> {
    let name = profile.name();
    let violation = match (profile.habits(), carriers) {
        (Some(_), [first]) if first.numerology.mu() != 1 => violation!(
            "{name} is known at 30 kHz only (numerology 1)",
            "Set radio.numerology to 1, or choose the profile ideal"
        ),
        (Some(_), [_, _, ..]) => violation!(
            "{name} has one carrier, and the link has several",
            "Leave out radio.secondary, or choose the profile ideal"
        ),
        _ => return Ok(()),
    };
    Err(violation.at_key("radio.gnb_profile"))
}

/// OpenAirInterface's gNB configures neither DRX nor RRC_INACTIVE, and grants unasked all the time.
fn check_activity(profile: GnbProfile, drx: bool, rrc: bool) -> Result<(), Problem> {
    let name = profile.name();
    let key = match (profile.habits(), drx, rrc) {
        (Some(_), true, _) => "radio.drx",
        (Some(_), false, true) => "radio.rrc",
        _ => return Ok(()),
    };
    Err(violation!(
        "UEs of {name} neither sleep nor leave RRC_CONNECTED",
        "Leave the key out, or choose the profile ideal"
    )
    .at_key(key))
}

fn default_adaptation(profile: GnbProfile) -> raw::LinkAdaptation {
    match profile.habits() {
        None => raw::LinkAdaptation::default(),
        Some(_) => raw::LinkAdaptation::Oai(raw::Oai::default()),
    }
}

fn link_adaptation(
    raw: raw::LinkAdaptation,
    profile: GnbProfile,
    schemes: usize,
) -> Result<LinkAdaptation, Problem> {
    let violation = match raw {
        raw::LinkAdaptation::Olla(raw::Olla { bler_target })
            if bler_target > 0.0 && bler_target < 1.0 =>
        {
            return Ok(LinkAdaptation::OuterLoop { bler_target });
        }
        raw::LinkAdaptation::Olla(raw::Olla { bler_target }) => {
            violation!(
                "bler_target {bler_target} is not between 0 and 1",
                "Write, for example, 0.1"
            )
        }
        raw::LinkAdaptation::Oai(raw::Oai {
            bler_lower,
            bler_upper,
        }) if bler_lower >= 0.0 && bler_lower < bler_upper && bler_upper < 1.0 => {
            return Ok(LinkAdaptation::Thresholds {
                lower: bler_lower,
                upper: bler_upper,
                rule: match profile.habits() {
                    None => ThresholdRule::FromMiddle,
                    Some(_) => ThresholdRule::FromLowest,
                },
            });
        }
        raw::LinkAdaptation::Oai(raw::Oai {
            bler_lower,
            bler_upper,
        }) => violation!(
            "bler_lower {bler_lower} and bler_upper {bler_upper} are not two ratios below 1 in rising order",
            "Write, for example, OAI's 0.05 and 0.15"
        ),
        raw::LinkAdaptation::FixedMcs(mcs) if usize::from(mcs) < schemes => {
            return Ok(LinkAdaptation::Fixed { mcs });
        }
        raw::LinkAdaptation::FixedMcs(mcs) => {
            let highest = schemes - 1;
            violation!("MCS {mcs} is not in the MCS table", "Write 0 to {highest}")
        }
    };
    Err(violation.at_key("radio.link_adaptation"))
}

fn rlc(raw: raw::Rlc, pdcp: raw::Pdcp, gnb: Option<&Gnb>) -> Result<RlcMode, Problem> {
    let t_reassembly = nanos("radio.rlc.t_reassembly_ms", raw.t_reassembly_ms)?;
    let polling = raw.polling.map(polling::polling).transpose()?;
    Ok(match raw.mode {
        raw::RlcMode::Um if polling.is_some() => {
            return Err(violation!(
                "unacknowledged mode has no polling",
                "Leave out polling, or write mode: am"
            )
            .at_key("radio.rlc.polling"));
        }
        raw::RlcMode::Am if pdcp.t_reordering_ms.is_some() => {
            return Err(violation!(
                "over RLC in acknowledged mode PDCP waits for nothing that RLC does not deliver",
                "Leave out t_reordering_ms, or write rlc: {{mode: um}}"
            )
            .at_key("radio.pdcp.t_reordering_ms"));
        }
        raw::RlcMode::Am => RlcMode::Acknowledged {
            t_reassembly,
            polling: polling.or(gnb.map(|gnb| gnb.polling)),
        },
        raw::RlcMode::Um => RlcMode::Unacknowledged {
            t_reassembly,
            t_reordering: match (pdcp.t_reordering_ms, gnb) {
                (Some(ms), _) => nanos("radio.pdcp.t_reordering_ms", ms)?,
                (None, Some(gnb)) => gnb.t_reordering,
                (None, None) => t_reassembly,
            },
        },
    })
}

/// The target SNR of OpenAirInterface's gNB.
const TARGET_SNR_DB: f64 = 20.0;

fn uplink(raw: raw::Uplink, gnb: Option<&Gnb>) -> Result<Uplink, Problem> {
    const PLAUSIBLE: std::ops::RangeInclusive<f64> = -60.0..=60.0;
    Ok(Uplink {
        pcmax_dbm: within(
            "radio.uplink.pcmax_dbm",
            raw.pcmax_dbm,
            PLAUSIBLE,
            "Write a power in dBm; 23 is usual",
        )?,
        target_snr_db: within(
            "radio.uplink.target_snr_db",
            raw.target_snr_db.unwrap_or(TARGET_SNR_DB),
            PLAUSIBLE,
            "Write an SNR in dB; 20 is usual",
        )?,
        as_downlink: raw.target_snr_db.is_none() && gnb.is_some_and(|gnb| gnb.uplink_as_downlink),
        grants: raw.grants,
    })
}
