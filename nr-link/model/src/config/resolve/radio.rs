// SPDX-License-Identifier: Apache-2.0
//! The carrier and how it is used.

use crate::config::broken::{Broken, nanos, within};
use crate::config::raw;
use crate::config::{LinkAdaptation, PerDirection, RadioConfig, RlcMode, Uplink};
use crate::radio::{Duplex, Numerology, TddPattern, bands};

/// Periods of CSI reports that TS 38.331 CSI-ReportPeriodicityAndOffset has, slots.
const CSI_PERIODS: [u64; 10] = [4, 5, 8, 10, 16, 20, 40, 80, 160, 320];
/// Longer than any gNB takes to use a report; at µ = 3 an eighth of a second.
const LONGEST_CSI_DELAY: u64 = 1000;

pub(super) fn radio(raw: raw::Radio) -> Result<RadioConfig, Broken> {
    let numerology = Numerology::new(raw.numerology).ok_or_else(|| {
        Broken::new(
            "radio.numerology",
            format!(
                "{} is not 0, 1, 2 or 3 (TS 38.211 table 4.2-1); 1 is 30 kHz",
                raw.numerology
            ),
        )
    })?;
    let carrier_hz = raw.carrier_ghz.get() * 1e9;
    let range = bands::frequency_range(carrier_hz)
        .map_err(|complaint| Broken::new("radio.carrier_ghz", complaint))?;
    bands::check_prb(range, numerology, raw.prb)
        .map_err(|complaint| Broken::new("radio.prb", complaint))?;
    check_csi_period(raw.csi.period_slots)?;
    let csi_delay_slots = within(
        "radio.csi.delay_slots",
        raw.csi.delay_slots,
        0..=LONGEST_CSI_DELAY,
        "4 is usual",
    )?;
    Ok(RadioConfig {
        carrier_hz,
        numerology,
        prb: raw.prb,
        duplex: duplex(raw.duplex, numerology)?,
        layers: PerDirection {
            dl: layers("radio.layers.dl", raw.layers.dl)?,
            ul: layers("radio.layers.ul", raw.layers.ul)?,
        },
        mcs_table: raw.mcs_table,
        link_adaptation: link_adaptation(raw.link_adaptation, raw.mcs_table.schemes().len())?,
        csi_period_slots: raw.csi.period_slots,
        csi_delay_slots,
        rlc: rlc(raw.rlc)?,
        uplink: uplink(raw.uplink)?,
    })
}

fn check_csi_period(slots: u64) -> Result<(), Broken> {
    if CSI_PERIODS.contains(&slots) {
        return Ok(());
    }
    Err(Broken::new(
        "radio.csi.period_slots",
        format!(
            "{slots} is not one of {CSI_PERIODS:?} (TS 38.331 CSI-ReportPeriodicityAndOffset); 20 is usual"
        ),
    ))
}

fn duplex(raw: raw::Duplex, numerology: Numerology) -> Result<Duplex, Broken> {
    let broken = |complaint| Broken::new("radio.duplex", complaint);
    let raw::Duplex::Tdd(tdd) = raw else {
        return Ok(Duplex::Fdd);
    };
    let pattern = TddPattern::new(&tdd.pattern, tdd.special.dl_symbols, tdd.special.ul_symbols)
        .map_err(broken)?;
    pattern.check_period(numerology).map_err(broken)?;
    Ok(Duplex::Tdd(pattern))
}

fn layers(key: &str, layers: u8) -> Result<u8, Broken> {
    if (1..=4).contains(&layers) {
        return Ok(layers);
    }
    Err(Broken::new(
        key,
        format!(
            "{layers} is not 1, 2, 3 or 4; one codeword carries no more (TS 38.211 table 7.3.1.3-1)"
        ),
    ))
}

fn link_adaptation(raw: raw::LinkAdaptation, schemes: usize) -> Result<LinkAdaptation, Broken> {
    let complaint = match raw {
        raw::LinkAdaptation::Olla(raw::Olla { bler_target })
            if bler_target > 0.0 && bler_target < 1.0 =>
        {
            return Ok(LinkAdaptation::OuterLoop { bler_target });
        }
        raw::LinkAdaptation::Olla(raw::Olla { bler_target }) => {
            format!("bler_target {bler_target} is not between 0 and 1; 0.1 is usual")
        }
        raw::LinkAdaptation::FixedMcs(mcs) if usize::from(mcs) < schemes => {
            return Ok(LinkAdaptation::Fixed { mcs });
        }
        raw::LinkAdaptation::FixedMcs(mcs) => {
            format!("MCS {mcs} is not in the table; write 0 to {}", schemes - 1)
        }
    };
    Err(Broken::new("radio.link_adaptation", complaint))
}

fn rlc(raw: raw::Rlc) -> Result<RlcMode, Broken> {
    let t_reassembly = nanos("radio.rlc.t_reassembly_ms", raw.t_reassembly_ms)?;
    Ok(match raw.mode {
        raw::RlcMode::Am => RlcMode::Acknowledged { t_reassembly },
        raw::RlcMode::Um => RlcMode::Unacknowledged { t_reassembly },
    })
}

fn uplink(raw: raw::Uplink) -> Result<Uplink, Broken> {
    const PLAUSIBLE: std::ops::RangeInclusive<f64> = -60.0..=60.0;
    Ok(Uplink {
        pcmax_dbm: within(
            "radio.uplink.pcmax_dbm",
            raw.pcmax_dbm,
            PLAUSIBLE,
            "23 dBm is usual",
        )?,
        target_snr_db: within(
            "radio.uplink.target_snr_db",
            raw.target_snr_db,
            PLAUSIBLE,
            "20 dB is usual",
        )?,
    })
}
