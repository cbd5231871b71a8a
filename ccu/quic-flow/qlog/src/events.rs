// SPDX-License-Identifier: Apache-2.0
//! The events that quinn logs.

use crate::record::Record;

/// An event of a connection.
#[derive(Debug)]
pub struct Event {
    data: EventData,
    /// The connection.
    pub group_id: Option<String>,
}

impl Event {
    /// Makes an event; its time is said when it is written.
    pub fn with_time(_: f32, data: EventData) -> Self {
        Self {
            data,
            group_id: None,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self.data {
            EventData::MetricsUpdated(_) => "recovery:metrics_updated",
            EventData::PacketLost(_) => "recovery:packet_lost",
            EventData::PacketReceived(_) => "transport:packet_received",
            EventData::PacketSent(_) => "transport:packet_sent",
        }
    }

    pub(crate) fn put(&self, record: &mut Record) {
        match &self.data {
            EventData::MetricsUpdated(metrics) => metrics.put(record),
            EventData::PacketLost(lost) => lost.put(record),
            EventData::PacketReceived(received) => received.header.put(record),
            EventData::PacketSent(sent) => sent.header.put(record),
        }
    }
}

/// The event itself.
#[derive(Debug)]
pub enum EventData {
    /// The state of recovery and congestion control is another.
    MetricsUpdated(quic::MetricsUpdated),
    /// A packet was declared lost.
    PacketLost(quic::PacketLost),
    /// A packet came.
    PacketReceived(quic::PacketReceived),
    /// A packet was sent.
    PacketSent(quic::PacketSent),
}

/// The importance from which events are logged; all of quinn's are.
#[derive(Debug)]
pub enum EventImportance {
    /// The events that every log should have.
    Core,
}

/// The events of QUIC.
pub mod quic {
    use std::time::Duration;

    use crate::record::Record;

    /// The values of recovery that changed.
    #[derive(Debug, Default)]
    pub struct MetricsUpdated {
        /// Least RTT, s.
        pub min_rtt: Option<f32>,
        /// Smoothed RTT, s.
        pub smoothed_rtt: Option<f32>,
        /// Newest RTT, s.
        pub latest_rtt: Option<f32>,
        /// Variance of RTTs, s.
        pub rtt_variance: Option<f32>,
        /// Probe timeouts one after the other.
        pub pto_count: Option<u16>,
        /// Congestion window, bytes.
        pub congestion_window: Option<u64>,
        /// Bytes in flight.
        pub bytes_in_flight: Option<u64>,
        /// Slow-start threshold, bytes; the largest number for none.
        pub ssthresh: Option<u64>,
        /// Packets in flight.
        pub packets_in_flight: Option<u64>,
        /// Pacing rate, bit/s.
        pub pacing_rate: Option<u64>,
    }

    impl MetricsUpdated {
        pub(super) fn put(&self, record: &mut Record) {
            let exact = |seconds: Option<f32>| seconds.map(Duration::from_secs_f32);
            record.milliseconds("min_rtt", exact(self.min_rtt));
            record.milliseconds("smoothed_rtt", exact(self.smoothed_rtt));
            record.milliseconds("latest_rtt", exact(self.latest_rtt));
            record.milliseconds("rtt_variance", exact(self.rtt_variance));
            record.number("pto_count", self.pto_count);
            record.number("congestion_window", self.congestion_window);
            record.number("bytes_in_flight", self.bytes_in_flight);
            record.number("ssthresh", self.ssthresh.filter(|one| *one != u64::MAX));
            record.number("packets_in_flight", self.packets_in_flight);
            record.number("pacing_rate", self.pacing_rate);
        }
    }

    /// A packet that was declared lost.
    #[derive(Debug)]
    pub struct PacketLost {
        /// Its header.
        pub header: Option<PacketHeader>,
        /// Its frames, which quinn does not say.
        pub frames: Option<()>,
        /// The reason.
        pub trigger: Option<PacketLostTrigger>,
    }

    impl PacketLost {
        pub(super) fn put(&self, record: &mut Record) {
            if let Some(header) = &self.header {
                header.put(record);
            }
            match self.trigger {
                Some(PacketLostTrigger::ReorderingThreshold) => {
                    record.word("trigger", "reordering_threshold");
                }
                Some(PacketLostTrigger::TimeThreshold) => record.word("trigger", "time_threshold"),
                None => {}
            }
        }
    }

    /// The reason for declaring a packet lost (RFC 9002 section 6.1).
    #[derive(Debug, Clone, Copy)]
    pub enum PacketLostTrigger {
        /// Later packets were acknowledged.
        ReorderingThreshold,
        /// It took too long.
        TimeThreshold,
    }

    /// A packet that came.
    #[derive(Debug, Default)]
    pub struct PacketReceived {
        /// Its header.
        pub header: PacketHeader,
    }

    /// A packet that was sent.
    #[derive(Debug, Default)]
    pub struct PacketSent {
        /// Its header.
        pub header: PacketHeader,
    }

    /// The header of a packet.
    #[derive(Debug, Default)]
    pub struct PacketHeader {
        /// Its type.
        pub packet_type: PacketType,
        /// Its number.
        pub packet_number: Option<u64>,
        /// Its bytes.
        pub length: Option<u16>,
    }

    impl PacketHeader {
        fn put_members(&self, record: &mut Record) {
            record.word("packet_type", self.packet_type.word());
            record.number("packet_number", self.packet_number);
            record.number("length", self.length);
        }

        pub(super) fn put(&self, record: &mut Record) {
            record.object("header", |header| self.put_members(header));
        }
    }

    /// The type of a packet.
    #[derive(Debug, Default, Clone, Copy)]
    pub enum PacketType {
        /// The handshake begins.
        #[default]
        Initial,
        /// The handshake goes on.
        Handshake,
        /// Data before the handshake.
        ZeroRtt,
        /// Data.
        OneRtt,
    }

    impl PacketType {
        fn word(self) -> &'static str {
            match self {
                Self::Initial => "initial",
                Self::Handshake => "handshake",
                Self::ZeroRtt => "0RTT",
                Self::OneRtt => "1RTT",
            }
        }
    }
}
