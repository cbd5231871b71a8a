// SPDX-License-Identifier: Apache-2.0
//! The writer of quinn's events.

use std::io::{self, Write};
use std::time::Instant;

use crate::TraceSeq;
use crate::events::{Event, EventImportance};
use crate::record::Record;

/// Writes each event as one record, by one call of a writer.
pub struct QlogStreamer {
    reference: Instant,
    writer: Box<dyn Write + Send + Sync>,
    record: Record,
}

impl QlogStreamer {
    /// Makes a writer of events whose times count from `reference`.
    #[allow(clippy::too_many_arguments)] // quinn calls it
    pub fn new(
        _: String,
        _: Option<String>,
        _: Option<String>,
        _: Option<String>,
        reference: Instant,
        _: TraceSeq,
        _: EventImportance,
        writer: Box<dyn Write + Send + Sync>,
    ) -> Self {
        Self {
            reference,
            writer,
            record: Record::default(),
        }
    }

    /// Begins; the header is written by the file's owner.
    ///
    /// # Errors
    /// None.
    pub fn start_log(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Writes an event of `now`.
    ///
    /// # Errors
    /// The writer refuses it.
    pub fn add_event_with_instant(&mut self, event: Event, now: Instant) -> io::Result<()> {
        let since = now.saturating_duration_since(self.reference);
        self.record.begin(since, event.name());
        event.put(&mut self.record);
        self.writer
            .write_all(self.record.end(event.group_id.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::*;
    use crate::events::EventData;
    use crate::events::quic::{
        MetricsUpdated, PacketHeader, PacketLost, PacketLostTrigger, PacketReceived, PacketSent,
        PacketType,
    };
    use crate::{VantagePoint, VantagePointType};

    /// Counts calls, and keeps what they wrote.
    #[derive(Clone, Default)]
    struct Calls(Arc<Mutex<Vec<String>>>);

    impl Write for Calls {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8(bytes.to_vec()).map_err(io::Error::other)?;
            self.0.lock().unwrap().push(text);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the record of an event 12.000345 ms after the reference time.
    fn written(data: EventData) -> String {
        let calls = Calls::default();
        let end = VantagePoint {
            name: None,
            ty: VantagePointType::Unknown,
            flow: None,
        };
        let reference = Instant::now();
        let mut streamer = QlogStreamer::new(
            String::new(),
            None,
            None,
            None,
            reference,
            TraceSeq::new(end, None, None, None, None),
            EventImportance::Core,
            Box::new(calls.clone()),
        );
        let mut event = Event::with_time(0.0, data);
        event.group_id = Some("0a1b".into());
        let now = reference + Duration::from_nanos(12_000_345);
        streamer.add_event_with_instant(event, now).unwrap();
        let written = calls.0.lock().unwrap();
        assert_eq!(written.len(), 1, "one call for a record");
        written[0].clone()
    }

    fn header() -> PacketHeader {
        PacketHeader {
            packet_type: PacketType::OneRtt,
            packet_number: Some(7),
            length: Some(1200),
        }
    }

    fn expected(name: &str, data: &str) -> String {
        format!(
            "\x1e{{\"time\":12.000345,\"name\":\"{name}\",\"data\":{{{data}}},\"group_id\":\"0a1b\"}}\n"
        )
    }

    #[test]
    fn packets_have_their_header() {
        let text = r#""header":{"packet_type":"1RTT","packet_number":7,"length":1200}"#;
        let sent = EventData::PacketSent(PacketSent { header: header() });
        assert_eq!(written(sent), expected("transport:packet_sent", text));
        let received = EventData::PacketReceived(PacketReceived { header: header() });
        assert_eq!(
            written(received),
            expected("transport:packet_received", text)
        );
        let lost = EventData::PacketLost(PacketLost {
            header: Some(header()),
            frames: None,
            trigger: Some(PacketLostTrigger::TimeThreshold),
        });
        let text = format!(r#"{text},"trigger":"time_threshold""#);
        assert_eq!(written(lost), expected("recovery:packet_lost", &text));
    }

    #[test]
    fn rtts_are_in_milliseconds_and_no_threshold_is_left_out() {
        let metrics = EventData::MetricsUpdated(MetricsUpdated {
            latest_rtt: Some(0.5),
            congestion_window: Some(12_000),
            ssthresh: Some(u64::MAX),
            ..Default::default()
        });
        let text = r#""latest_rtt":500.000000,"congestion_window":12000"#;
        assert_eq!(written(metrics), expected("recovery:metrics_updated", text));
    }
}
