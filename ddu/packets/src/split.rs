// SPDX-License-Identifier: Apache-2.0
//! A capture split into its connections: of the wanted ones every packet, of the others sums. Memory grows with the
//! wanted packets by some 25 bytes each, and with the flows.

use std::io::Read;

use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};

use crate::capture::Capture;
use crate::digest::digest;
use crate::error::{Result, malformed};
use crate::flows::Flows;
use crate::link;
use crate::packet::{Packet, Transport};
use crate::rows::{AckRows, PayloadRows, Stamps};
use crate::table::{Column, table};
use crate::tcp::Tcp;
use crate::wanted::{AllWanted, Keep, Wanted};

const FIN: u16 = 0x001;
const SYN: u16 = 0x002;
const RST: u16 = 0x004;
const ACK: u16 = 0x010;

/// The headers of a fragmented datagram's first part, without options.
const IPV4_AND_UDP_BYTES: u32 = 20 + 8;
const IPV6_FRAGMENT_AND_UDP_BYTES: u32 = 40 + 8 + 8;

/// Splits a capture as it is read.
pub struct Splitter {
    capture: Capture,
    flows: Flows,
    tracks: Vec<Track>,
    wanted: AllWanted,
    mtu_bytes: u32,
    packet_count: u64,
}

#[derive(Default)]
struct Track {
    keep: Keep,
    origin: Option<u32>,
    has_syn: bool,
    wire_ip_bytes: u64,
    rows: Option<Box<Rows>>,
}

#[derive(Default)]
struct Rows {
    payload: PayloadRows,
    acks: AckRows,
    tsval: Stamps,
    tsecr: Stamps,
}

/// The packets of one flow, in the order of capture.
#[derive(Clone)]
pub struct Connection {
    /// See [`PayloadRows::finish`].
    pub payload: RecordBatch,
    /// See [`AckRows::finish`].
    pub acks: RecordBatch,
    /// TSval of packets with payload.
    pub tsval: RecordBatch,
    /// TSecr of packets with the ACK flag.
    pub tsecr: RecordBatch,
    /// Number that `seq` counts from: the first payload byte's if the SYN was captured.
    pub origin: u32,
    /// Number that `ack` counts from: the other direction's origin.
    pub ack_origin: u32,
}

/// A capture that has been read.
pub struct Split {
    /// The table of flows, with `wire_ip_bytes`: super-packets counted as the packets of the MTU that they become.
    pub flows: RecordBatch,
    /// The index by row of `flows`; None: not wanted.
    pub connections: Vec<Option<Connection>>,
    /// IP packets read.
    pub packet_count: u64,
    /// See [`Capture::truncated_at`].
    pub truncated_at: Option<u64>,
}

impl Splitter {
    /// Begins to read. A packet longer than `mtu_bytes` counts as several.
    ///
    /// # Errors
    /// An empty file, or one that is no capture.
    pub fn new(
        stream: impl Read + Send + 'static,
        wanted: Vec<Wanted>,
        mtu_bytes: u32,
    ) -> Result<Self> {
        Ok(Self {
            capture: Capture::new(stream)?,
            flows: Flows::default(),
            tracks: Vec::new(),
            wanted: AllWanted::new(wanted),
            mtu_bytes,
            packet_count: 0,
        })
    }

    /// Reads up to `packets` more; whether there may be others.
    ///
    /// # Errors
    /// A damaged record; a link type that is not known.
    pub fn read(&mut self, packets: usize) -> Result<bool> {
        for _ in 0..packets {
            let offset = self.capture.offset();
            let Some((record, frame)) = self.capture.next_record()? else {
                return Ok(false);
            };
            let Some(packet) = Packet::parse(record.link_type, frame, record.wirelen) else {
                if link::is_known(record.link_type) {
                    continue;
                }
                return malformed(offset, link::not_known(record.link_type));
            };
            self.packet_count += 1;
            let flow = self.flows.count(record.utc_ns, &packet).flow as usize;
            if flow == self.tracks.len() {
                self.tracks.push(Track::new(self.wanted.keep(&packet)));
            }
            self.tracks[flow].push(record.utc_ns, &packet, self.mtu_bytes);
        }
        Ok(true)
    }

    /// Returns the rows that have been read.
    pub fn finish(mut self) -> Split {
        let flows = self.flows.table();
        let reverse = flows
            .column_by_name("reverse_flow")
            .and_then(|column| column.as_any().downcast_ref::<arrow_array::UInt32Array>())
            .cloned()
            .expect("the table of flows has this column");
        let origins: Vec<u32> = self.tracks.iter().map(Track::origin).collect();
        let mut columns = Column::all_of(&flows);
        columns.push(Column::of::<UInt64Type>(
            "wire_ip_bytes",
            self.tracks
                .iter()
                .map(|track| track.wire_ip_bytes)
                .collect(),
        ));
        columns.push(Column::of::<UInt32Type>("origin", origins.clone()));
        let connections = self.tracks.into_iter().enumerate().map(|(flow, track)| {
            let ack_origin = match reverse.is_valid(flow) {
                true => origins[reverse.value(flow) as usize],
                false => 0,
            };
            track.finish(ack_origin)
        });
        Split {
            connections: connections.collect(),
            flows: table(columns, None),
            packet_count: self.packet_count,
            truncated_at: self.capture.truncated_at(),
        }
    }
}

impl Track {
    fn new(keep: Keep) -> Self {
        Self {
            keep,
            rows: (keep != Keep::default()).then(Box::default),
            ..Self::default()
        }
    }

    fn origin(&self) -> u32 {
        self.origin.unwrap_or_default()
    }

    #[inline]
    fn push(&mut self, utc_ns: i64, packet: &Packet, mtu_bytes: u32) {
        let ip_bytes = packet.ip.ip_bytes;
        let payload_bytes = match &packet.transport {
            Transport::Tcp(tcp) => tcp.payload_bytes,
            Transport::Udp(payload_bytes, _) => *payload_bytes,
            Transport::Unknown => 0,
        };
        let is_part = packet.ip.is_fragment && matches!(packet.transport, Transport::Udp(..));
        let header_bytes = match (is_part, packet.ip.version) {
            (false, _) => ip_bytes.saturating_sub(payload_bytes),
            // UDP's length is the whole datagram's, most of which comes in later fragments.
            (true, 4) => IPV4_AND_UDP_BYTES,
            (true, _) => IPV6_FRAGMENT_AND_UDP_BYTES,
        };
        let room_bytes = mtu_bytes.saturating_sub(header_bytes).max(1);
        let segments = match is_part || payload_bytes <= room_bytes {
            true => 1,
            false => payload_bytes.div_ceil(room_bytes),
        };
        self.wire_ip_bytes += match is_part {
            false => u64::from(payload_bytes) + u64::from(segments) * u64::from(header_bytes),
            true => u64::from(ip_bytes),
        };
        match &packet.transport {
            Transport::Tcp(tcp) => self.note_origin(tcp),
            Transport::Udp(..) => {}
            Transport::Unknown => return,
        }
        let keep = self.keep;
        let Some(rows) = &mut self.rows else {
            return;
        };
        if keep.payload && payload_bytes > 0 {
            rows.push_payload(utc_ns, packet, (payload_bytes, segments, header_bytes));
        }
        if let Transport::Tcp(tcp) = &packet.transport
            && keep.acks
            && tcp.flags & ACK != 0
        {
            rows.push_ack(utc_ns, tcp);
        }
    }

    /// The byte after the first SYN, else the first that was captured.
    #[inline]
    fn note_origin(&mut self, tcp: &Tcp) {
        if tcp.flags & SYN != 0 && !self.has_syn {
            self.has_syn = true;
            self.origin = Some(tcp.seq.wrapping_add(1));
        } else if self.origin.is_none() {
            self.origin = Some(tcp.seq);
        }
    }

    fn finish(self, ack_origin: u32) -> Option<Connection> {
        let origin = self.origin();
        self.rows.map(|rows| Connection {
            payload: rows.payload.finish(origin),
            acks: rows.acks.finish(ack_origin),
            tsval: rows.tsval.finish(),
            tsecr: rows.tsecr.finish(),
            origin,
            ack_origin,
        })
    }
}

impl Rows {
    #[inline]
    fn push_payload(&mut self, utc_ns: i64, packet: &Packet, sizes: (u32, u32, u32)) {
        let (payload_bytes, segment_count, header_bytes) = sizes;
        let rows = &mut self.payload;
        rows.utc_ns.push(utc_ns);
        rows.payload_bytes.push(payload_bytes);
        rows.segment_count.push(segment_count);
        rows.header_bytes
            .push(header_bytes.min(u32::from(u16::MAX)) as u16);
        match &packet.transport {
            Transport::Tcp(tcp) => {
                // A SYN takes a number itself: payload in it (TCP Fast Open) begins after.
                rows.seq
                    .push(tcp.seq.wrapping_add(u32::from(tcp.flags & SYN != 0)));
                if let Some((value, _)) = tcp.options.timestamps {
                    self.tsval.push(utc_ns, value);
                }
            }
            Transport::Udp(_, datagram) => rows.digest.push(digest(payload_bytes, datagram)),
            Transport::Unknown => {}
        }
    }

    #[inline]
    fn push_ack(&mut self, utc_ns: i64, tcp: &Tcp) {
        let rows = &mut self.acks;
        let blocks = &tcp.options.sack[..tcp.options.sack_count];
        // A block below `ack` is a D-SACK (RFC 2883): its distance is negative, and no block.
        let above = |right: u32| (right.wrapping_sub(tcp.ack) as i32).max(0) as u32;
        rows.utc_ns.push(utc_ns);
        rows.ack.push(tcp.ack);
        rows.sacked_bytes
            .push(blocks.iter().map(|block| above(block.1)).max().unwrap_or(0));
        let is_pure = tcp.payload_bytes == 0 && tcp.flags & (SYN | FIN | RST) == 0;
        rows.is_pure.push(u8::from(is_pure));
        if let Some((_, echo)) = tcp.options.timestamps {
            self.tsecr.push(utc_ns, echo);
        }
    }
}
