// SPDX-License-Identifier: Apache-2.0
//! The capacity of channel and MAC without traffic, as a table. The model runs without a clock.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, ensure};
use nr_link_model::{Link, MacSample, Nanos, ResolvedConfig, SettledMcs, Source, Violation};

/// Allowed lengths of a sample interval: at least a slot, at most an hour.
const INTERVALS_MS: std::ops::RangeInclusive<u64> = 1..=3_600_000;
/// Six hours, like the longest scenario.
const LONGEST_S: f64 = 21_600.0;

const HEADER: &str =
    "t_s,ue,rsrp_dbm,sinr_db,ul_snr_db,cqi,dl_mcs,dl_capacity_mbps,ul_capacity_mbps";

/// Writes one row for each UE and interval to `out`: means over the interval, of which a capacity
/// scenario has only the capacities. These are of IP packets with a full queue.
///
/// # Errors
/// The scenario is not valid for the link, or writing fails.
pub fn write(
    mut config: ResolvedConfig,
    seconds: f64,
    interval_ms: u64,
    out: impl Write,
) -> Result<()> {
    ensure!(
        seconds > 0.0 && seconds <= LONGEST_S,
        Violation::new(
            format!("{seconds} s is not above 0 and at most {LONGEST_S} s"),
            "Choose a duration in that range",
        )
        .at_key("--seconds")
    );
    let (least, most) = (INTERVALS_MS.start(), INTERVALS_MS.end());
    ensure!(
        INTERVALS_MS.contains(&interval_ms),
        Violation::new(
            format!("{interval_ms} ms is not between {least} and {most} ms"),
            "Write a whole number of milliseconds in that range",
        )
        .at_key("--interval-ms")
    );
    config.sample_interval = interval_ms * 1_000_000;
    let mcs = config.radio.as_ref().map(SettledMcs::new);
    let mut link: Link<()> = Link::new(&config, Source::load(&config)?)?;
    let mut out = BufWriter::new(out);
    let mut before = vec![(0.0, 0.0); link.ues()];
    writeln!(out, "{HEADER}")?;
    let end = (seconds * 1e9).round() as Nanos;
    let mut now = 0;
    while now < end {
        now += config.sample_interval;
        link.advance(now);
        for sample in link.samples() {
            row(&sample, mcs.as_ref(), &mut before[sample.ue.0], &mut out)?;
        }
    }
    out.flush().context("standard output")
}

/// Writes a row. `before` has the totals of downlink and uplink at the end of the UE's row before, bytes.
fn row(
    sample: &MacSample,
    mcs: Option<&SettledMcs>,
    before: &mut (f64, f64),
    out: &mut impl Write,
) -> io::Result<()> {
    let seconds = sample.duration as f64 / 1e9;
    write!(out, "{:.3},{}", sample.start as f64 / 1e9, sample.ue)?;
    let radio = sample.radio.as_ref();
    let gauges = [
        radio.and_then(|radio| radio.rsrp_dbm),
        radio.and_then(|radio| radio.sinr_db),
        radio.and_then(|radio| radio.ul_snr_db),
    ];
    for gauge in gauges {
        match gauge {
            Some(value) => write!(out, ",{value:.2}")?,
            None => write!(out, ",")?,
        }
    }
    let cqi = radio.and_then(|radio| radio.cqi);
    match cqi {
        Some(cqi) => write!(out, ",{cqi}")?,
        None => write!(out, ",")?,
    }
    match cqi.zip(mcs).and_then(|(cqi, mcs)| mcs.get(cqi)) {
        Some(mcs) => write!(out, ",{mcs}")?,
        None => write!(out, ",")?,
    }
    let totals = [sample.directions.dl.totals, sample.directions.ul.totals];
    let [dl, ul] = totals.map(|totals| totals.capacity_sdu_bytes);
    let mbps = |now: f64, then: f64| (now - then) * 8e-6 / seconds;
    writeln!(out, ",{:.4},{:.4}", mbps(dl, before.0), mbps(ul, before.1))?;
    *before = (dl, ul);
    Ok(())
}
