// SPDX-License-Identifier: Apache-2.0
//! Packets as columns: what `ddu.readers.packets.tables` documents, name by name.

use arrow_array::builder::{ListBuilder, UInt32Builder};
use arrow_array::types::{Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{BooleanArray, RecordBatch, StringArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};

use crate::addresses::address_column;
use crate::digest::digest;
use crate::flows::Numbers;
use crate::packet::{Packet, Transport};
use crate::quic::Header;
use crate::record::Record;
use crate::sparse::Sparse;
use crate::table::{Column, table};
use crate::tcp::{Options, Tcp};

/// A batch of packets in the making.
pub struct Columns {
    frames: Frames,
    network: Network,
    ports: Ports,
    tcp: Segments,
    timestamps: Timestamps,
    sack: ListBuilder<UInt32Builder>,
    mss: Sparse<UInt16Type>,
    wscale: Sparse<UInt8Type>,
    udp_payload_bytes: Sparse<UInt32Type>,
    udp_digest: Sparse<UInt64Type>,
    quic_is_long: Sparse<UInt8Type>,
    quic_header_bytes: Sparse<UInt16Type>,
    vlan: Sparse<UInt16Type>,
    gtp_teid: Sparse<UInt32Type>,
}

struct Frames {
    utc_ns: Vec<i64>,
    caplen: Vec<u32>,
    wirelen: Vec<u32>,
    is_truncated: BooleanBufferBuilder,
}

struct Network {
    flow: Vec<u32>,
    src: Vec<i32>,
    dst: Vec<i32>,
    version: Vec<u8>,
    proto: Vec<u8>,
    ip_bytes: Vec<u32>,
    ttl: Vec<u8>,
    dscp: Vec<u8>,
    ecn: Vec<u8>,
    is_fragment: BooleanBufferBuilder,
}

struct Ports {
    known: BooleanBufferBuilder,
    sport: Vec<u16>,
    dport: Vec<u16>,
}

struct Segments {
    known: BooleanBufferBuilder,
    seq: Vec<u32>,
    ack: Vec<u32>,
    flags: Vec<u16>,
    window: Vec<u16>,
    payload_bytes: Vec<u32>,
}

struct Timestamps {
    known: BooleanBufferBuilder,
    val: Vec<u32>,
    ecr: Vec<u32>,
}

impl Columns {
    /// Room for `rows` packets.
    pub fn with_capacity(rows: usize) -> Self {
        Self {
            frames: Frames {
                utc_ns: Vec::with_capacity(rows),
                caplen: Vec::with_capacity(rows),
                wirelen: Vec::with_capacity(rows),
                is_truncated: BooleanBufferBuilder::new(rows),
            },
            network: Network {
                flow: Vec::with_capacity(rows),
                src: Vec::with_capacity(rows),
                dst: Vec::with_capacity(rows),
                version: Vec::with_capacity(rows),
                proto: Vec::with_capacity(rows),
                ip_bytes: Vec::with_capacity(rows),
                ttl: Vec::with_capacity(rows),
                dscp: Vec::with_capacity(rows),
                ecn: Vec::with_capacity(rows),
                is_fragment: BooleanBufferBuilder::new(rows),
            },
            ports: Ports {
                known: BooleanBufferBuilder::new(rows),
                sport: Vec::with_capacity(rows),
                dport: Vec::with_capacity(rows),
            },
            tcp: Segments {
                known: BooleanBufferBuilder::new(rows),
                seq: Vec::with_capacity(rows),
                ack: Vec::with_capacity(rows),
                flags: Vec::with_capacity(rows),
                window: Vec::with_capacity(rows),
                payload_bytes: Vec::with_capacity(rows),
            },
            timestamps: Timestamps {
                known: BooleanBufferBuilder::new(rows),
                val: Vec::with_capacity(rows),
                ecr: Vec::with_capacity(rows),
            },
            sack: ListBuilder::with_capacity(UInt32Builder::new(), rows),
            mss: Sparse::default(),
            wscale: Sparse::default(),
            udp_payload_bytes: Sparse::default(),
            udp_digest: Sparse::default(),
            quic_is_long: Sparse::default(),
            quic_header_bytes: Sparse::default(),
            vlan: Sparse::default(),
            gtp_teid: Sparse::default(),
        }
    }

    /// Packets so far.
    pub fn len(&self) -> usize {
        self.frames.utc_ns.len()
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
        let row = self.len();
        self.frames.push(record, packet);
        self.network.push(packet, numbers);
        self.ports.push(packet.ports);
        let (tcp, udp) = match &packet.transport {
            Transport::Tcp(tcp) => (Some(tcp), None),
            Transport::Udp(payload_bytes, datagram) => (None, Some((*payload_bytes, *datagram))),
            Transport::Unknown => (None, None),
        };
        self.tcp.push(tcp);
        self.push_options(row, tcp.map(|tcp| &tcp.options));
        self.udp_payload_bytes
            .set(row, udp.map(|(payload_bytes, _)| payload_bytes));
        self.udp_digest.set(
            row,
            udp.map(|(payload_bytes, datagram)| digest(payload_bytes, datagram)),
        );
        self.quic_is_long
            .set(row, quic.map(|header| u8::from(header.is_long)));
        self.quic_header_bytes
            .set(row, quic.map(|header| header.header_bytes));
        self.vlan.set(row, packet.vlan);
        self.gtp_teid.set(row, packet.gtp_teid);
    }

    fn push_options(&mut self, row: usize, options: Option<&Options>) {
        self.timestamps
            .push(options.and_then(|options| options.timestamps));
        let Some(options) = options else {
            self.sack.append(false);
            return;
        };
        self.mss.set(row, options.mss);
        self.wscale.set(row, options.wscale);
        for (left, right) in &options.sack[..options.sack_count] {
            self.sack.values().append_slice(&[*left, *right]);
        }
        self.sack.append(options.sack_count > 0);
    }

    /// The batch, with addresses by their place in `addresses`; only the `wanted` columns, if any are named.
    pub fn finish(mut self, addresses: &StringArray, wanted: Option<&[String]>) -> RecordBatch {
        let rows = self.len();
        let mut columns = Vec::new();
        self.frames.finish(&mut columns);
        self.network.finish(addresses, &mut columns);
        self.ports.finish(&mut columns);
        self.tcp.finish(&mut columns);
        self.timestamps.finish(&mut columns);
        columns.extend([
            Column::new("sack", self.sack.finish(), true),
            self.mss.finish("mss", rows),
            self.wscale.finish("wscale", rows),
            self.udp_payload_bytes.finish("udp_payload_bytes", rows),
            self.udp_digest.finish("udp_digest", rows),
            self.quic_is_long.finish("quic_is_long", rows),
            self.quic_header_bytes.finish("quic_header_bytes", rows),
            self.vlan.finish("vlan", rows),
            self.gtp_teid.finish("gtp_teid", rows),
        ]);
        table(columns, wanted)
    }
}

impl Frames {
    fn push(&mut self, record: &Record, packet: &Packet) {
        self.utc_ns.push(record.utc_ns);
        self.caplen.push(record.caplen);
        self.wirelen.push(record.wirelen);
        self.is_truncated.append(packet.is_truncated);
    }

    fn finish(mut self, columns: &mut Vec<Column>) {
        let is_truncated = BooleanArray::new(self.is_truncated.finish(), None);
        columns.extend([
            Column::of::<Int64Type>("utc_ns", self.utc_ns),
            Column::of::<UInt32Type>("caplen", self.caplen),
            Column::of::<UInt32Type>("wirelen", self.wirelen),
            Column::new("truncated", is_truncated, false),
        ]);
    }
}

impl Network {
    fn push(&mut self, packet: &Packet, numbers: Numbers) {
        const DSCP_SHIFT: u8 = 2;
        const ECN_MASK: u8 = 0b11;
        self.flow.push(numbers.flow);
        self.src.push(numbers.src);
        self.dst.push(numbers.dst);
        self.version.push(packet.ip.version);
        self.proto.push(packet.ip.proto);
        self.ip_bytes.push(packet.ip.ip_bytes);
        self.ttl.push(packet.ip.ttl);
        self.dscp.push(packet.ip.tos >> DSCP_SHIFT);
        self.ecn.push(packet.ip.tos & ECN_MASK);
        self.is_fragment.append(packet.ip.is_fragment);
    }

    fn finish(mut self, addresses: &StringArray, columns: &mut Vec<Column>) {
        let is_fragment = BooleanArray::new(self.is_fragment.finish(), None);
        columns.extend([
            Column::of::<UInt32Type>("flow", self.flow),
            address_column("src", self.src, addresses),
            address_column("dst", self.dst, addresses),
            Column::of::<UInt8Type>("ip_version", self.version),
            Column::of::<UInt8Type>("proto", self.proto),
            Column::of::<UInt32Type>("ip_bytes", self.ip_bytes),
            Column::of::<UInt8Type>("ttl", self.ttl),
            Column::of::<UInt8Type>("dscp", self.dscp),
            Column::of::<UInt8Type>("ecn", self.ecn),
            Column::new("fragment", is_fragment, false),
        ]);
    }
}

impl Ports {
    fn push(&mut self, ports: Option<(u16, u16)>) {
        let (sport, dport) = ports.unwrap_or_default();
        self.known.append(ports.is_some());
        self.sport.push(sport);
        self.dport.push(dport);
    }

    fn finish(mut self, columns: &mut Vec<Column>) {
        let known = NullBuffer::new(self.known.finish());
        columns.extend([
            Column::known::<UInt16Type>("sport", self.sport, &known),
            Column::known::<UInt16Type>("dport", self.dport, &known),
        ]);
    }
}

impl Segments {
    fn push(&mut self, tcp: Option<&Tcp>) {
        self.known.append(tcp.is_some());
        self.seq.push(tcp.map_or(0, |tcp| tcp.seq));
        self.ack.push(tcp.map_or(0, |tcp| tcp.ack));
        self.flags.push(tcp.map_or(0, |tcp| tcp.flags));
        self.window.push(tcp.map_or(0, |tcp| tcp.window));
        self.payload_bytes
            .push(tcp.map_or(0, |tcp| tcp.payload_bytes));
    }

    fn finish(mut self, columns: &mut Vec<Column>) {
        let known = NullBuffer::new(self.known.finish());
        columns.extend([
            Column::known::<UInt32Type>("tcp_seq", self.seq, &known),
            Column::known::<UInt32Type>("tcp_ack", self.ack, &known),
            Column::known::<UInt16Type>("tcp_flags", self.flags, &known),
            Column::known::<UInt16Type>("tcp_window", self.window, &known),
            Column::known::<UInt32Type>("tcp_payload_bytes", self.payload_bytes, &known),
        ]);
    }
}

impl Timestamps {
    fn push(&mut self, timestamps: Option<(u32, u32)>) {
        let (val, ecr) = timestamps.unwrap_or_default();
        self.known.append(timestamps.is_some());
        self.val.push(val);
        self.ecr.push(ecr);
    }

    fn finish(mut self, columns: &mut Vec<Column>) {
        let known = NullBuffer::new(self.known.finish());
        columns.extend([
            Column::known::<UInt32Type>("ts_val", self.val, &known),
            Column::known::<UInt32Type>("ts_ecr", self.ecr, &known),
        ]);
    }
}
