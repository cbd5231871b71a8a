// SPDX-License-Identifier: Apache-2.0
//! The files of a run (docs/run-directory.md). Rows are written to the kernel several times a
//! second, so that they survive SIGKILL.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use nr_link_model::mac_pcap;
use nr_link_model::{MacPdu, MacSample, Nanos, RadioEvent};
use serde_json::Value;

use crate::trust::Observed;

/// The longest time for which rows are buffered, unless an interval is longer. Writing delays
/// packets.
const HAND_OVER_NS: i64 = 100_000_000;

/// More than 64 UEs write in that time; only whole rows are written.
const BUFFER_BYTES: usize = 1 << 20;

const LINK_HEADER: &str = "utc_ns,duration_ns,slot_count,lateness_p50_us,lateness_p99_us,lateness_max_us,\
                           overrun_count,host_drop_count,tun_backlog_packets,cpu_ratio,dl_mbps,ul_mbps";

/// A file of rows, and its path for errors.
#[derive(Debug)]
struct Table {
    file: BufWriter<File>,
    path: PathBuf,
}

impl Table {
    fn create(path: &Path, header: &str) -> Result<Self> {
        Self::starting_with(path, format!("{header}\n").as_bytes())
    }

    fn mac_pcap(path: &Path) -> Result<Self> {
        Self::starting_with(path, &mac_pcap::header())
    }

    fn starting_with(path: &Path, header: &[u8]) -> Result<Self> {
        let file = File::create(path).with_context(|| cannot_write(path))?;
        let mut table = Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, file),
            path: path.into(),
        };
        table.write(|file| file.write_all(header))?;
        table.hand_over()?;
        Ok(table)
    }

    fn write(
        &mut self,
        row: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<()> {
        row(&mut self.file).with_context(|| cannot_write(&self.path))
    }

    fn hand_over(&mut self) -> Result<()> {
        self.file.flush().with_context(|| cannot_write(&self.path))
    }
}

/// The context of an error in writing a file.
pub fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// A row of link.csv.
#[derive(Debug, Clone, Copy)]
pub struct LinkRow {
    /// Start of the interval in UTC, ns since 1970.
    pub utc_ns: i64,
    /// Length of the interval.
    pub duration_ns: Nanos,
    /// Slots run since the start.
    pub slots: u64,
    /// CPU time of this process in the interval.
    pub cpu_ns: Nanos,
    /// The other observations of the interval.
    pub observed: Observed,
}

/// mac.csv, link.csv, link-summary.json, and mac.pcap if it is asked for.
#[derive(Debug)]
pub struct Output {
    mac: Table,
    link: Table,
    pdus: Option<Table>,
    summary: PathBuf,
    events: PathBuf,
    handed_over_utc_ns: i64,
}

impl Output {
    /// Creates the files, or truncates them; their directories must exist. The summary stays empty
    /// until the end. The file of radio events is created with the first of them.
    pub fn create(paths: &nr_link_model::config::Output, mac_header: &str) -> Result<Self> {
        let events = paths.radio_events();
        if events.exists() {
            std::fs::remove_file(&events).with_context(|| cannot_write(&events))?;
        }
        File::create(&paths.summary).with_context(|| cannot_write(&paths.summary))?;
        let mac = Table::create(&paths.mac, mac_header)?;
        let link = Table::create(&paths.link, LINK_HEADER)?;
        let pdus = paths.mac_pcap.as_deref();
        Ok(Self {
            mac,
            link,
            pdus: pdus.map(Table::mac_pcap).transpose()?,
            summary: paths.summary.clone(),
            events,
            handed_over_utc_ns: 0,
        })
    }

    /// Adds a row to mac.csv.
    pub fn mac(&mut self, sample: &MacSample, start_utc_ns: i64) -> Result<()> {
        self.mac.write(|file| sample.write_csv(start_utc_ns, file))
    }

    /// Adds a transport block to the capture of the MAC.
    pub fn pdu(&mut self, pdu: &MacPdu, start_utc_ns: i64) -> Result<()> {
        match &mut self.pdus {
            Some(pdus) => pdus.write(|file| pdu.write_pcap(start_utc_ns, file)),
            None => Ok(()),
        }
    }

    /// Adds lines to radio-events.jsonl.
    pub fn radio_events(&mut self, events: &[RadioEvent], start_utc_ns: i64) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for event in events {
            serde_json::to_writer(&mut lines, &event.at_utc(start_utc_ns))?;
            lines.push(b'\n');
        }
        let mut file = File::options();
        let file = file.append(true).create(true).open(&self.events);
        file.and_then(|mut file| file.write_all(&lines))
            .with_context(|| cannot_write(&self.events))
    }

    /// Adds a row to link.csv, and writes all buffered rows when it is time.
    pub fn link(&mut self, row: &LinkRow) -> Result<()> {
        self.link.write(|file| write_link_row(row, file))?;
        if (row.utc_ns - self.handed_over_utc_ns).abs() < HAND_OVER_NS {
            return Ok(());
        }
        self.handed_over_utc_ns = row.utc_ns;
        self.mac.hand_over()?;
        self.link.hand_over()
    }

    /// Writes the buffered rows and the summary.
    pub fn finish(mut self, summary: &Value) -> Result<()> {
        // One that cannot be written does not keep the others from it.
        let tables = [&mut self.mac, &mut self.link].into_iter();
        let handed_over = tables.chain(&mut self.pdus).map(Table::hand_over);
        let rows = handed_over.fold(Ok(()), Result::and);
        let summary = std::fs::write(&self.summary, format!("{summary:#}\n"))
            .with_context(|| cannot_write(&self.summary));
        rows.and(summary)
    }
}

fn write_link_row(row: &LinkRow, file: &mut impl Write) -> std::io::Result<()> {
    let LinkRow {
        utc_ns,
        duration_ns,
        slots,
        cpu_ns,
        observed,
    } = row;
    write!(file, "{utc_ns},{duration_ns},{slots},")?;
    match observed.lateness {
        Some(late) => write!(
            file,
            "{},{},{},",
            us(late.p50_ns),
            us(late.p99_ns),
            us(late.max_ns)
        )?,
        None => write!(file, ",,,")?, // no deadline in this interval: not measured, not zero
    }
    let counted = observed.counters;
    write!(
        file,
        "{},{},{},",
        counted.overruns, counted.host_drops, observed.backlog_packets
    )?;
    let [dl_mbps, ul_mbps] = observed
        .delivered_bytes
        .map(|bytes| bytes as f64 * 8e3 / *duration_ns as f64);
    let cpu_ratio = *cpu_ns as f64 / *duration_ns as f64;
    writeln!(file, "{cpu_ratio:.4},{dl_mbps:.3},{ul_mbps:.3}")
}

/// Converts nanoseconds to microseconds with one decimal.
pub fn us(ns: u64) -> f64 {
    (ns as f64 / 100.0).round() / 10.0
}
