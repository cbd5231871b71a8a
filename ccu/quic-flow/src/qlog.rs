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
            time: (u64::MAX, String::new()),
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
        let line = format!("{}{header}\n", char::from(RECORD));
        let file = &mut records.file;
        file.write_all(line.as_bytes()).with_context(context)?;
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
        let (full, last) = (bytes / each.max(1), bytes % each.max(1));
        let name = event.name();
        let mut line = format!(
            "\"name\":\"transport:{name}\",\"data\":{{\"count\":{},\"raw\":[",
            full + usize::from(last > 0)
        );
        line.push_str(&format!("{{\"length\":{each}}},").repeat(full));
        if last > 0 {
            let _ = write!(line, "{{\"length\":{last}}},");
        }
        line.pop(); // the last comma
        line.push_str("]}}");
        records.put(line.as_bytes(), &[])
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
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.record.extend_from_slice(bytes);
        if bytes == b"\n" {
            // The first is a header, which is there already.
            if std::mem::replace(&mut self.begun, true) {
                let mut records = self.log.0.lock().expect("no holder panics");
                records.put_of_quinn(&self.record)?;
            }
            self.record.clear();
        }
        Ok(())
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
    /// The clock's newest time, and how it is written: many records have the same.
    time: (u64, String),
}

impl Records {
    /// Writes quinn's record with its exact time.
    fn put_of_quinn(&mut self, record: &[u8]) -> io::Result<()> {
        let own_time = record.iter().position(|byte| *byte == b',');
        let rest = own_time.map_or(&[][..], |comma| &record[comma + 1..record.len() - 1]);
        if !rest.starts_with(RECOVERY.as_bytes()) {
            return self.put(rest, &[]);
        }
        let text = std::str::from_utf8(rest).map_err(io::Error::other)?;
        let (name, metrics) = text.split_once(METRICS).unwrap_or((text, ""));
        let (members, end) = metrics.split_once('}').unwrap_or((metrics, ""));
        let corrected = in_milliseconds(members);
        let parts = [METRICS, &corrected, "}", end].map(str::as_bytes);
        self.put(name.as_bytes(), &parts)
    }

    /// Writes a record that happens now.
    fn put(&mut self, first: &[u8], others: &[&[u8]]) -> io::Result<()> {
        let shown_ns = self.clock.shown_ns();
        if self.time.0 != shown_ns {
            // In milliseconds since the reference time, with six decimals.
            let time = milliseconds(shown_ns + self.offset_ns);
            self.time = (shown_ns, format!("{{\"time\":{time},"));
        }
        self.file.write_all(&[RECORD])?;
        self.file.write_all(self.time.1.as_bytes())?;
        self.file.write_all(first)?;
        for part in others {
            self.file.write_all(part)?;
        }
        self.file.write_all(b"\n")
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
