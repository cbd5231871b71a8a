// SPDX-License-Identifier: Apache-2.0
//! The qlog of one end: JSON-SEQ of the main schema 0.3 (draft-ietf-quic-qlog-main-schema-02) with QUIC events.
//!
//! Quinn says the events of packets and recovery, of which the crate qlog makes text. The header, which names the end and
//! the time at which the log begins, and the datagrams of the socket are written here.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::iter;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context, Result};
use qlog::record::Record;
use quinn_proto::{QlogConfig, QlogStream};
use serde_json::json;

use crate::clock::Clock;

const BUFFER_BYTES: usize = 1 << 18;
const MS_NS: u64 = 1_000_000;

/// The log of one end.
#[derive(Debug, Clone)]
pub struct Log(Arc<Mutex<Records>>);

#[derive(Debug)]
struct Records {
    file: BufWriter<File>,
    clock: Clock,
    /// The time from the reference time to the clock's start.
    offset: Duration,
    /// The memory of the newest event of datagrams.
    record: Record,
}

impl Log {
    /// Begins the log of the `vantage_point` (client, server) in a file.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(file: &Path, title: &str, vantage_point: &str, clock: &Clock) -> Result<Self> {
        let context = || file.display().to_string();
        let opened = File::create(file).with_context(context)?;
        // Whole milliseconds, which f64 holds exactly; the remainder is part of each event's time.
        let reference_time_ms = clock.start_utc().as_millis() as u64;
        let offset_ns = (clock.start_utc().as_nanos() % u128::from(MS_NS)) as u64;
        let header = json!({
            "qlog_version": qlog::QLOG_VERSION,
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
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, opened);
        let separator = char::from(qlog::record::SEPARATOR);
        writeln!(file, "{separator}{header}").with_context(context)?;
        Ok(Self(Arc::new(Mutex::new(Records {
            file,
            clock: clock.clone(),
            offset: Duration::from_nanos(offset_ns),
            record: Record::default(),
        }))))
    }

    /// Returns what quinn writes its events to.
    pub fn stream(&self) -> Option<QlogStream> {
        let mut config = QlogConfig::default();
        let records = self.records();
        config.start_time(records.clock.start_instant() - records.offset);
        config.writer(Box::new(OfQuinn(self.clone())));
        drop(records);
        config.into_stream()
    }

    /// Logs datagrams of one size that the socket sent, or received, at once; the last may be shorter.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn datagrams(&self, event: DatagramEvent, bytes: usize, each: usize) -> io::Result<()> {
        let mut records = self.records();
        let Records {
            file,
            clock,
            offset,
            record,
        } = &mut *records;
        let (full, last) = (bytes / each.max(1), bytes % each.max(1));
        let since = Duration::from_nanos(clock.shown_ns()) + *offset;
        record.begin(since, event.name());
        record.number("count", Some((full + usize::from(last > 0)) as u64));
        record.lengths(iter::repeat_n(each, full).chain((last > 0).then_some(last)));
        file.write_all(record.end(None))
    }

    /// Writes what is not on disk yet.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&self) -> io::Result<()> {
        self.records().file.flush()
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().expect("no holder panics")
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
            Self::Sent => "transport:datagrams_sent",
            Self::Received => "transport:datagrams_received",
        }
    }
}

/// Takes quinn's records.
struct OfQuinn(Log);

impl Write for OfQuinn {
    fn write(&mut self, record: &[u8]) -> io::Result<usize> {
        self.0.records().file.write(record)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
