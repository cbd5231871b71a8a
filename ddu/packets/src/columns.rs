// SPDX-License-Identifier: Apache-2.0
//! Packets as columns: what `ddu.readers.packets.tables` documents, name by name.

use arrow_array::builder::{ListBuilder, UInt32Builder};
use arrow_array::types::{
    ArrowPrimitiveType, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{BooleanArray, RecordBatch, StringArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

use crate::addresses::address_column;
use crate::digest::digest;
use crate::flows::Numbers;
use crate::ip::Ip;
use crate::packet::{Packet, Transport};
use crate::quic::Header;
use crate::record::Record;
use crate::sparse::Sparse;
use crate::table::{Column, table};
use crate::tcp::Tcp;

/// Declares columns that have values in the same packets: name and type of each, and its value.
macro_rules! group {
    ($group:ident($($of:ident: $given:ty),*) { $($name:ident: $type:ty = $value:expr),* $(,)? }) => {
        struct $group {
            $($name: Vec<<$type as ArrowPrimitiveType>::Native>),*
        }

        impl $group {
            fn with_capacity(rows: usize) -> Self {
                Self { $($name: Vec::with_capacity(rows)),* }
            }

            fn push(&mut self, $($of: $given),*) {
                $(self.$name.push($value);)*
            }

            /// The columns, of which only the `valid` rows are known; None: all.
            fn finish(self, valid: Option<NullBuffer>) -> impl Iterator<Item = Column> {
                [$(Column::of_some::<$type>(stringify!($name), self.$name, valid.as_ref())),*].into_iter()
            }
        }
    };
}

/// Declares columns that few packets have a value in: name and type of each, and its value, if there is one.
macro_rules! sparse {
    ($group:ident($($of:ident: $given:ty),*) { $($name:ident: $type:ty = $value:expr),* $(,)? }) => {
        #[derive(Default)]
        struct $group {
            $($name: Sparse<$type>),*
        }

        impl $group {
            fn push(&mut self, row: usize, $($of: $given),*) {
                $(self.$name.set(row, $value);)*
            }

            fn finish(self, rows: usize) -> impl Iterator<Item = Column> {
                [$(self.$name.finish(stringify!($name), rows)),*].into_iter()
            }
        }
    };
}

group! { Frames(record: &Record) {
    utc_ns: Int64Type = record.utc_ns,
    caplen: UInt32Type = record.caplen,
    wirelen: UInt32Type = record.wirelen,
}}

group! { Headers(ip: &Ip) {
    ip_version: UInt8Type = ip.version,
    proto: UInt8Type = ip.proto,
    ip_bytes: UInt32Type = ip.ip_bytes,
    ttl: UInt8Type = ip.ttl,
    dscp: UInt8Type = ip.tos >> 2,
    ecn: UInt8Type = ip.tos & 0b11,
}}

group! { Ports(ports: (u16, u16)) {
    sport: UInt16Type = ports.0,
    dport: UInt16Type = ports.1,
}}

group! { Segments(tcp: &Tcp) {
    tcp_seq: UInt32Type = tcp.seq,
    tcp_ack: UInt32Type = tcp.ack,
    tcp_flags: UInt16Type = tcp.flags,
    tcp_window: UInt16Type = tcp.window,
    tcp_payload_bytes: UInt32Type = tcp.payload_bytes,
}}

group! { Timestamps(timestamps: (u32, u32)) {
    ts_val: UInt32Type = timestamps.0,
    ts_ecr: UInt32Type = timestamps.1,
}}

sparse! { Rare(packet: &Packet, tcp: Option<&Tcp>, udp: Option<(u32, &[u8])>, quic: Option<Header>) {
    mss: UInt16Type = tcp.and_then(|tcp| tcp.options.mss),
    wscale: UInt8Type = tcp.and_then(|tcp| tcp.options.wscale),
    udp_payload_bytes: UInt32Type = udp.map(|(payload_bytes, _)| payload_bytes),
    udp_digest: UInt64Type = udp.map(|(payload_bytes, datagram)| digest(payload_bytes, datagram)),
    quic_is_long: UInt8Type = quic.map(|header| u8::from(header.is_long)),
    quic_header_bytes: UInt16Type = quic.map(|header| header.header_bytes),
    vlan: UInt16Type = packet.vlan,
    gtp_teid: UInt32Type = packet.gtp_teid,
}}

/// A batch of packets in the making.
pub struct Columns {
    frames: Frames,
    is_truncated: BooleanBufferBuilder,
    flow: Vec<u32>,
    src: Vec<i32>,
    dst: Vec<i32>,
    headers: Headers,
    is_fragment: BooleanBufferBuilder,
    has_ports: BooleanBufferBuilder,
    ports: Ports,
    is_tcp: BooleanBufferBuilder,
    segments: Segments,
    has_timestamps: BooleanBufferBuilder,
    timestamps: Timestamps,
    sack: ListBuilder<UInt32Builder>,
    rare: Rare,
}

impl Columns {
    /// Room for `rows` packets.
    pub fn with_capacity(rows: usize) -> Self {
        Self {
            frames: Frames::with_capacity(rows),
            is_truncated: BooleanBufferBuilder::new(rows),
            flow: Vec::with_capacity(rows),
            src: Vec::with_capacity(rows),
            dst: Vec::with_capacity(rows),
            headers: Headers::with_capacity(rows),
            is_fragment: BooleanBufferBuilder::new(rows),
            has_ports: BooleanBufferBuilder::new(rows),
            ports: Ports::with_capacity(rows),
            is_tcp: BooleanBufferBuilder::new(rows),
            segments: Segments::with_capacity(rows),
            has_timestamps: BooleanBufferBuilder::new(rows),
            timestamps: Timestamps::with_capacity(rows),
            sack: ListBuilder::with_capacity(UInt32Builder::new(), rows),
            rare: Rare::default(),
        }
    }

    /// Packets so far.
    pub fn len(&self) -> usize {
        self.flow.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a packet.
    pub fn push(
        &mut self,
        record: &Record,
        packet: &Packet,
        numbers: Numbers,
        quic: Option<Header>,
    ) {
        let (tcp, udp) = match &packet.transport {
            Transport::Tcp(tcp) => (Some(tcp), None),
            Transport::Udp(payload_bytes, datagram) => (None, Some((*payload_bytes, *datagram))),
            Transport::Unknown => (None, None),
        };
        self.rare.push(self.len(), packet, tcp, udp, quic);
        self.frames.push(record);
        self.is_truncated.append(packet.is_truncated);
        self.flow.push(numbers.flow);
        self.src.push(numbers.src);
        self.dst.push(numbers.dst);
        self.headers.push(&packet.ip);
        self.is_fragment.append(packet.ip.is_fragment);
        self.has_ports.append(packet.ports.is_some());
        self.ports.push(packet.ports.unwrap_or_default());
        self.is_tcp.append(tcp.is_some());
        let tcp = tcp.copied().unwrap_or_default();
        self.segments.push(&tcp);
        let options = &tcp.options;
        self.has_timestamps.append(options.timestamps.is_some());
        self.timestamps.push(options.timestamps.unwrap_or_default());
        for (left, right) in &options.sack[..options.sack_count] {
            self.sack.values().append_slice(&[*left, *right]);
        }
        self.sack.append(options.sack_count > 0);
    }

    /// The batch, with addresses by their place in `addresses`; only the `wanted` columns, if any are named.
    pub fn finish(mut self, addresses: &StringArray, wanted: Option<&[String]>) -> RecordBatch {
        let rows = self.len();
        let all = |mut bits: BooleanBufferBuilder| BooleanArray::new(bits.finish(), None);
        let valid = |mut bits: BooleanBufferBuilder| Some(NullBuffer::new(bits.finish()));
        let mut columns: Vec<Column> = self.frames.finish(None).collect();
        columns.extend([
            Column::new("truncated", all(self.is_truncated), false),
            Column::of::<UInt32Type>("flow", self.flow),
            address_column("src", self.src, addresses),
            address_column("dst", self.dst, addresses),
        ]);
        columns.extend(self.headers.finish(None));
        columns.push(Column::new("fragment", all(self.is_fragment), false));
        columns.extend(self.ports.finish(valid(self.has_ports)));
        columns.extend(self.segments.finish(valid(self.is_tcp)));
        columns.extend(self.timestamps.finish(valid(self.has_timestamps)));
        columns.push(Column::new("sack", self.sack.finish(), true));
        columns.extend(self.rare.finish(rows));
        table(columns, wanted)
    }
}
