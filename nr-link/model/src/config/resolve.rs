// SPDX-License-Identifier: Apache-2.0
//! From what the author wrote to what the model uses, by the rules that span more than one value.

use std::fs;
use std::path::Path;

use super::raw::{self, Raw};
use super::{
    Aqm, CoDel, ConfigError, Device, Devices, LinkAdaptation, Output, PathConfig, PerDirection,
    Pie, Queue, QueueLimit, RadioConfig, ResolvedConfig, RlcMode, Uplink,
};
use crate::Nanos;
use crate::radio::{Duplex, Numerology, TddPattern, bands};

/// A broken rule: the key's path, and the rule with its mend.
type Broken = (&'static str, String);

/// Shortest and longest IP packet: RFC 791's smallest reassembly, and jumbo frames.
const MTU_BYTES: std::ops::RangeInclusive<u32> = 576..=15_000;
/// Periods of CSI reports that TS 38.331 CSI-ReportPeriodicityAndOffset has, slots.
const CSI_PERIODS: [u64; 10] = [4, 5, 8, 10, 16, 20, 40, 80, 160, 320];

/// That of numerology 3.
const SHORTEST_SLOT: Nanos = 125_000;

impl ResolvedConfig {
    /// Reads and checks a configuration file.
    ///
    /// # Errors
    /// The first rule that the file breaks, with its place and how to mend it.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path).map_err(|error| {
            ConfigError::new(
                path,
                None,
                format!("cannot be read ({error}); name a file of schema nr-link/1"),
            )
        })?;
        Self::parse(&text, path)
    }

    /// Reads and checks a configuration's text; `path` names it in errors, and its folder is where
    /// relative paths begin.
    ///
    /// # Errors
    /// As [`ResolvedConfig::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let raw: Raw = serde_saphyr::from_str(text).map_err(|error| from_yaml(&error, path))?;
        resolve(raw, path.parent().unwrap_or(Path::new(""))).map_err(|(key, complaint)| {
            ConfigError::new(path, line_of(text, key), format!("{key}: {complaint}"))
        })
    }
}

fn resolve(raw: Raw, folder: &Path) -> Result<ResolvedConfig, Broken> {
    if !MTU_BYTES.contains(&raw.mtu_bytes) {
        return Err((
            "mtu_bytes",
            format!(
                "{} is not between {} and {}; 1500 is usual",
                raw.mtu_bytes,
                MTU_BYTES.start(),
                MTU_BYTES.end()
            ),
        ));
    }
    let radio = raw.radio.map(radio).transpose()?;
    let sample_interval = sample_interval(raw.samples.interval_ms.get(), radio.as_ref())?;
    Ok(ResolvedConfig {
        seed: raw.seed,
        mtu_bytes: raw.mtu_bytes,
        radio,
        scenario: folder.join(raw.scenario),
        path: PerDirection {
            dl: path("path.dl.delay_ms", raw.path.dl)?,
            ul: path("path.ul.delay_ms", raw.path.ul)?,
        },
        queue: PerDirection {
            dl: queue("queue.dl", raw.queue.dl, raw.mtu_bytes)?,
            ul: queue("queue.ul", raw.queue.ul, raw.mtu_bytes)?,
        },
        sample_interval,
        devices: devices(raw.devices)?,
        output: Output {
            mac: folder.join(raw.output.mac),
            link: folder.join(raw.output.link),
            summary: folder.join(raw.output.summary),
        },
    })
}

/// Samples are no shorter than what they count.
fn sample_interval(ms: f64, radio: Option<&RadioConfig>) -> Result<Nanos, Broken> {
    const KEY: &str = "samples.interval_ms";
    let interval = nanos(KEY, ms)?;
    let shortest = radio.map_or(SHORTEST_SLOT, RadioConfig::slot_ns);
    if interval >= shortest {
        return Ok(interval);
    }
    Err((
        KEY,
        format!(
            "{ms} ms is shorter than a slot, {} ms; write at least that",
            shortest as f64 / 1e6
        ),
    ))
}

fn radio(raw: raw::Radio) -> Result<RadioConfig, Broken> {
    let numerology = Numerology::new(raw.numerology).ok_or_else(|| {
        (
            "radio.numerology",
            format!(
                "{} is not 0, 1, 2 or 3 (TS 38.211 table 4.2-1); 1 is 30 kHz",
                raw.numerology
            ),
        )
    })?;
    let carrier_hz = raw.carrier_ghz.get() * 1e9;
    let range =
        bands::frequency_range(carrier_hz).map_err(|complaint| ("radio.carrier_ghz", complaint))?;
    bands::check_prb(range, numerology, raw.prb).map_err(|complaint| ("radio.prb", complaint))?;
    if !CSI_PERIODS.contains(&raw.csi.period_slots) {
        return Err((
            "radio.csi.period_slots",
            format!(
                "{} is not one of {CSI_PERIODS:?} (TS 38.331 CSI-ReportPeriodicityAndOffset); 20 is usual",
                raw.csi.period_slots
            ),
        ));
    }
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
        csi_delay_slots: raw.csi.delay_slots,
        rlc: rlc(raw.rlc),
        uplink: uplink(raw.uplink)?,
    })
}

fn duplex(raw: raw::Duplex, numerology: Numerology) -> Result<Duplex, Broken> {
    const KEY: &str = "radio.duplex";
    let raw::Duplex::Tdd(tdd) = raw else {
        return Ok(Duplex::Fdd);
    };
    let pattern = TddPattern::new(&tdd.pattern, tdd.special.dl_symbols, tdd.special.ul_symbols)
        .map_err(|complaint| (KEY, complaint))?;
    pattern
        .check_period(numerology)
        .map_err(|complaint| (KEY, complaint))?;
    Ok(Duplex::Tdd(pattern))
}

fn layers(key: &'static str, layers: u8) -> Result<u8, Broken> {
    if (1..=4).contains(&layers) {
        Ok(layers)
    } else {
        Err((
            key,
            format!(
                "{layers} is not 1, 2, 3 or 4; one codeword carries no more (TS 38.211 table 7.3.1.3-1)"
            ),
        ))
    }
}

fn link_adaptation(raw: raw::LinkAdaptation, schemes: usize) -> Result<LinkAdaptation, Broken> {
    const KEY: &str = "radio.link_adaptation";
    match raw {
        raw::LinkAdaptation::Olla(raw::Olla { bler_target })
            if bler_target > 0.0 && bler_target < 1.0 =>
        {
            Ok(LinkAdaptation::OuterLoop { bler_target })
        }
        raw::LinkAdaptation::Olla(raw::Olla { bler_target }) => Err((
            KEY,
            format!("bler_target {bler_target} is not between 0 and 1; 0.1 is usual"),
        )),
        raw::LinkAdaptation::FixedMcs(mcs) if usize::from(mcs) < schemes => {
            Ok(LinkAdaptation::Fixed { mcs })
        }
        raw::LinkAdaptation::FixedMcs(mcs) => Err((
            KEY,
            format!("MCS {mcs} is not in the table; write 0 to {}", schemes - 1),
        )),
    }
}

fn rlc(raw: raw::Rlc) -> RlcMode {
    let t_reassembly = raw.t_reassembly_ms * 1_000_000;
    match raw.mode {
        raw::RlcMode::Am => RlcMode::Acknowledged { t_reassembly },
        raw::RlcMode::Um => RlcMode::Unacknowledged { t_reassembly },
    }
}

fn uplink(raw: raw::Uplink) -> Result<Uplink, Broken> {
    let plausible = -60.0..=60.0;
    if !plausible.contains(&raw.pcmax_dbm) || !plausible.contains(&raw.target_snr_db) {
        return Err((
            "radio.uplink",
            "power and SNR must lie between -60 and 60 dB(m); 23 dBm and 20 dB are usual".into(),
        ));
    }
    Ok(Uplink {
        pcmax_dbm: raw.pcmax_dbm,
        target_snr_db: raw.target_snr_db,
    })
}

fn path(key: &'static str, raw: raw::PathDirection) -> Result<PathConfig, Broken> {
    Ok(PathConfig {
        delay: nanos(key, raw.delay_ms.get())?,
        loss_ratio: raw.loss_ratio.map_or(0.0, |ratio| ratio.get()),
    })
}

fn queue(key: &'static str, raw: raw::Queue, mtu_bytes: u32) -> Result<Queue, Broken> {
    let limit = match (raw.packets, raw.bytes) {
        (Some(0), None) => Err((
            key,
            "a queue of 0 packets passes none; write at least 1".into(),
        )),
        (None, Some(bytes)) if bytes < u64::from(mtu_bytes) => Err((
            key,
            format!(
                "a queue of {bytes} bytes is smaller than one packet of mtu_bytes, {mtu_bytes}; enlarge it"
            ),
        )),
        (Some(packets), None) => Ok(QueueLimit::Packets(packets)),
        (None, Some(bytes)) => Ok(QueueLimit::Bytes(bytes)),
        _ => Err((
            key,
            "a queue is limited in packets or in bytes; write one of both".into(),
        )),
    }?;
    let aqm = raw.aqm.map(|aqm| match aqm {
        raw::Aqm::CoDel(raw) => codel(key, raw),
        raw::Aqm::Pie(raw) => pie(key, raw),
    });
    Ok(Queue {
        limit,
        aqm: aqm.transpose()?,
    })
}

fn codel(key: &'static str, raw: raw::CoDel) -> Result<Aqm, Broken> {
    if !(raw.target_ms > 0.0 && raw.target_ms < raw.interval_ms) {
        return Err((
            key,
            format!(
                "CoDel's target_ms, {}, is not between 0 and its interval_ms, {}; 5 and 100 are usual",
                raw.target_ms, raw.interval_ms
            ),
        ));
    }
    Ok(Aqm::CoDel(CoDel {
        target: nanos(key, raw.target_ms)?,
        interval: nanos(key, raw.interval_ms)?,
        ecn: raw.ecn,
    }))
}

fn pie(key: &'static str, raw: raw::Pie) -> Result<Aqm, Broken> {
    // Below a microsecond neither means anything.
    if !(raw.target_ms >= 1e-3 && raw.update_ms >= 1e-3) {
        return Err((
            key,
            format!(
                "PIE's target_ms, {}, and update_ms, {}, are not both above 0; 15 and 15 are usual",
                raw.target_ms, raw.update_ms
            ),
        ));
    }
    Ok(Aqm::Pie(Pie {
        target: nanos(key, raw.target_ms)?,
        update: nanos(key, raw.update_ms)?,
        ecn: raw.ecn,
    }))
}

fn devices(raw: raw::Devices) -> Result<Devices, Broken> {
    if raw.ue.is_empty() {
        return Err((
            "devices.ue",
            "there is no UE; list at least one device".into(),
        ));
    }
    Ok(Devices {
        core: device("devices.core", raw.core)?,
        ue: raw
            .ue
            .into_iter()
            .map(|ue| device("devices.ue", ue))
            .collect::<Result<_, _>>()?,
    })
}

fn device(key: &'static str, raw: raw::Device) -> Result<Device, Broken> {
    // IFNAMSIZ of linux/if.h is 16 with the terminating zero.
    let valid = !raw.name.is_empty()
        && raw.name.len() <= 15
        && !raw.name.contains(|c: char| c == '/' || c.is_whitespace());
    if valid {
        Ok(Device {
            name: raw.name,
            netns: raw.netns,
        })
    } else {
        Err((
            key,
            format!(
                "{:?} is no interface name; write 1 to 15 characters without / or blanks",
                raw.name
            ),
        ))
    }
}

/// An hour is more than any path or sample interval has.
fn nanos(key: &'static str, ms: f64) -> Result<Nanos, Broken> {
    if ms <= 3.6e6 {
        Ok((ms * 1e6).round() as Nanos)
    } else {
        Err((
            key,
            format!("{ms} ms is more than an hour; write a shorter time"),
        ))
    }
}

fn from_yaml(error: &serde_saphyr::Error, path: &Path) -> ConfigError {
    let error = error.without_snippet();
    let told = error.to_string();
    // The library repeats the place at the end of its message.
    let rule = told
        .rsplit_once(" at line ")
        .map_or(told.as_str(), |(rule, _)| rule);
    let mend = if rule.contains("; ") {
        ""
    } else {
        "; docs/link-config.md lists keys and their form"
    };
    ConfigError::new(
        path,
        error.location().map(|place| place.line()),
        format!("{rule}{mend}"),
    )
}

/// The line of the key with this path: each step is sought after the one before it.
fn line_of(text: &str, key: &str) -> Option<u64> {
    let mut at = 0;
    for step in key.split('.') {
        at += find_key(&text[at..], step)?;
    }
    Some(text[..at].matches('\n').count() as u64 + 1)
}

/// Where `key:` begins as a whole word.
fn find_key(text: &str, key: &str) -> Option<usize> {
    let wanted = format!("{key}:");
    text.match_indices(&wanted)
        .map(|(at, _)| at)
        .find(|&at| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}
