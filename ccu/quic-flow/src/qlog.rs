// SPDX-License-Identifier: Apache-2.0
//! The qlog of one end: JSON-SEQ of the main schema 0.3 (draft-ietf-quic-qlog-main-schema-02) with QUIC events.
//!
//! Quinn writes the events of packets and recovery. Its times are f32, its RTTs are in seconds where the schema
//! has milliseconds, and it names neither the end nor the time at which the log begins: what passes through here
//! leaves with exact times, in the schema's units, behind a header of our own. Datagrams are logged here.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use quinn_proto::{QlogConfig, QlogStream};
use serde_json::json;

use crate::clock::Clock;

/// The version of the main schema that the log says.
const VERSION: &str = "0.3";
const BUFFER_BYTES: usize = 1 << 18;
const RECORD: u8 = 0x1e; // RFC 7464
const MS_NS: u64 = 1_000_000;
const RECOVERY: &str = "\"name\":\"recovery:metrics_updated\"";
const METRICS: &str = "\"data\":{";
const NO_THRESHOLD: &str = "\"ssthresh\":18446744073709551615"; // u64::MAX of quinn
const IN_SECONDS: [&str; 4] = ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"];

/// The log of one end.
#[derive(Debug, Clone)]
pub struct Log(Arc<Mutex<Records>>);

impl Log {
    /// Begins the log of the `vantage_point` (client, server) in a file.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(file: &Path, title: &str, vantage_point: &str, clock: &Clock) -> Result<Self> {
        let context = || file.display().to_string();
        let opened = File::create(file).with_context(context)?;
        let mut records = Records {
            file: BufWriter::with_capacity(BUFFER_BYTES, opened),
            clock: clock.clone(),
            offset_ns: (clock.start_utc().as_nanos() % u128::from(MS_NS)) as u64,
        };
        // Whole milliseconds, which f64 holds exactly; the remainder is part of each event's time.
        let reference_time_ms = clock.start_utc().as_millis() as u64;
        let header = json!({
            "qlog_version": VERSION,
            "qlog_format": "JSON-SEQ",
            "title": title,
            "description": concat!("quic-flow ", env!("CARGO_PKG_VERSION"), ", quinn-proto 0.11.19"),
            "trace": {
                "vantage_point": {"type": vantage_point},
                "common_fields": {
                    "protocol_type": ["QUIC"],
                    "time_format": "relative",
                    "reference_time": reference_time_ms,
                },
            },
        });
        let line = serde_json::to_vec(&header)?;
        records
            .put(&[&[RECORD], &line[..], b"\n"])
            .with_context(context)?;
        Ok(Self(Arc::new(Mutex::new(records))))
    }

    /// Returns what quinn writes its events to.
    pub fn stream(&self, clock: &Clock) -> Option<QlogStream> {
        let mut config = QlogConfig::default();
        config.writer(Box::new(OfQuinn {
            log: self.clone(),
            record: Vec::new(),
            begun: false,
        }));
        config.start_time(clock.start_instant());
        config.into_stream()
    }

    /// Logs datagrams of one size that the socket sent, or received, at once; the last may be shorter.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn datagrams(&self, event: DatagramEvent, bytes: usize, each: usize) -> io::Result<()> {
        let mut records = self.0.lock().expect("no holder panics");
        let time = records.time();
        let count = bytes.div_ceil(each.max(1)).max(1);
        let name = event.name();
        let mut line = format!(
            "{{\"time\":{time},\"name\":\"transport:{name}\",\"data\":{{\"count\":{count},\"raw\":["
        );
        let mut remaining = bytes;
        for number in 0..count {
            let length = remaining.min(each);
            remaining -= length;
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(line, "{comma}{{\"length\":{length}}}");
        }
        line.push_str("]}}\n");
        records.put(&[&[RECORD], line.as_bytes()])
    }

    /// Writes what is not on disk yet.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&self) -> io::Result<()> {
        self.0.lock().expect("no holder panics").file.flush()
    }
}

/// The events of datagrams.
#[derive(Debug, Clone, Copy)]
pub enum DatagramEvent {
    /// The socket took them.
    Sent,
    /// The socket gave them.
    Received,
}

impl DatagramEvent {
    fn name(self) -> &'static str {
        match self {
            Self::Sent => "datagrams_sent",
            Self::Received => "datagrams_received",
        }
    }
}

/// Takes quinn's records, which come in many small pieces.
struct OfQuinn {
    log: Log,
    record: Vec<u8>,
    begun: bool,
}

impl Write for OfQuinn {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        if bytes.last() == Some(&b'\n') {
            // The first is a header, which is there already.
            if std::mem::replace(&mut self.begun, true) {
                let mut records = self.log.0.lock().expect("no holder panics");
                records.put_of_quinn(&self.record)?;
            }
            self.record.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.log.flush()
    }
}

#[derive(Debug)]
struct Records {
    file: BufWriter<File>,
    clock: Clock,
    /// The time from the reference time to the clock's start.
    offset_ns: u64,
}

impl Records {
    /// Writes quinn's record with its exact time.
    fn put_of_quinn(&mut self, record: &[u8]) -> io::Result<()> {
        let text = std::str::from_utf8(record).map_err(io::Error::other)?;
        let body = text.trim_matches(['\u{1e}', '\n']);
        let rest = body.split_once(',').map_or("", |(_time, rest)| rest);
        let time = self.time();
        self.put(&[&[RECORD], b"{\"time\":", time.as_bytes(), b","])?;
        match rest.split_once(METRICS) {
            Some((name, metrics)) if name.starts_with(RECOVERY) => {
                let (members, end) = metrics.split_once('}').unwrap_or((metrics, ""));
                let corrected = in_milliseconds(members);
                self.put(&[name.as_bytes(), METRICS.as_bytes(), corrected.as_bytes()])?;
                self.put(&[b"}", end.as_bytes(), b"\n"])
            }
            _ => self.put(&[rest.as_bytes(), b"\n"]),
        }
    }

    /// Returns the clock's time in milliseconds since the reference time, with six decimals.
    fn time(&self) -> String {
        milliseconds(self.clock.shown_ns() + self.offset_ns)
    }

    fn put(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        parts.iter().try_for_each(|part| self.file.write_all(part))
    }
}

/// Returns members of recovery's metrics, which are numbers, with the schema's unit of times.
fn in_milliseconds(members: &str) -> String {
    let mut corrected = String::with_capacity(members.len() + 32);
    for member in members.split(',') {
        let (name, value) = member.split_once(':').unwrap_or((member, ""));
        if member == NO_THRESHOLD {
            continue;
        }
        let comma = if corrected.is_empty() { "" } else { "," };
        let _ = match value.parse::<f64>() {
            Ok(seconds) if IN_SECONDS.contains(&name.trim_matches('"')) => {
                let time = milliseconds((seconds * 1e9).round() as u64);
                write!(corrected, "{comma}{name}:{time}")
            }
            _ => write!(corrected, "{comma}{member}"),
        };
    }
    corrected
}

fn milliseconds(time_ns: u64) -> String {
    format!("{}.{:06}", time_ns / MS_NS, time_ns % MS_NS)
}
