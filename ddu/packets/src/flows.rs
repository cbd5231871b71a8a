// SPDX-License-Identifier: Apache-2.0
//! Flows: addresses and 5-tuples numbered in the order of their first packet.

use std::hash::{Hash, Hasher};

use arrow_array::types::{Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{RecordBatch, StringArray};
use hashbrown::HashMap;

use crate::addresses::{Addresses, address_column};
use crate::ip::Address;
use crate::packet::Packet;
use crate::quic;
use crate::table::{Column, table};

/// The key of a flow, which is one direction of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    version: u8,
    proto: u8,
    src: Address,
    dst: Address,
    ports: Option<(u16, u16)>,
}

impl Hash for Key {
    /// In three steps instead of one per member, which is felt at millions of packets a second.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (sport, dport) = self.ports.unwrap_or_default();
        state.write_u128(u128::from_ne_bytes(self.src));
        state.write_u128(u128::from_ne_bytes(self.dst));
        state.write_u32(u32::from(sport) << 16 | u32::from(dport));
    }
}

impl Key {
    fn reversed(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            ports: self.ports.map(|(sport, dport)| (dport, sport)),
            ..self
        }
    }
}

/// The counters of a flow.
struct Flow {
    key: Key,
    src: i32,
    dst: i32,
    reverse: Option<u32>,
    first_utc_ns: i64,
    last_utc_ns: i64,
    packets: u64,
    ip_bytes: u64,
    /// Length of the connection ID by which the sender wants to be called.
    quic_scid_bytes: Option<u8>,
}

/// Numbers of one packet's flow and addresses.
#[derive(Clone, Copy)]
pub struct Numbers {
    /// Row of the table of flows.
    pub flow: u32,
    /// Entry of the dictionary of addresses.
    pub src: i32,
    /// Entry of the dictionary of addresses.
    pub dst: i32,
}

/// All flows of a capture.
#[derive(Default)]
pub struct Flows {
    flows: Vec<Flow>,
    by_key: HashMap<Key, u32>,
    addresses: Addresses,
    last: usize,
}

impl Flows {
    /// Counts a packet.
    #[inline]
    pub fn count(&mut self, utc_ns: i64, packet: &Packet) -> Numbers {
        let index = self.index(Key {
            version: packet.ip.version,
            proto: packet.ip.proto,
            src: packet.ip.src,
            dst: packet.ip.dst,
            ports: packet.ports,
        });
        self.last = index;
        let flow = &mut self.flows[index];
        flow.first_utc_ns = flow.first_utc_ns.min(utc_ns);
        flow.last_utc_ns = flow.last_utc_ns.max(utc_ns);
        flow.packets += 1;
        flow.ip_bytes += u64::from(packet.ip.ip_bytes);
        Numbers {
            flow: index as u32,
            src: flow.src,
            dst: flow.dst,
        }
    }

    /// Most packets belong to the flow of the packet before, or to its reverse: no hashing then.
    #[inline]
    fn index(&mut self, key: Key) -> usize {
        if let Some(last) = self.flows.get(self.last) {
            if last.key == key {
                return self.last;
            }
            if let Some(reverse) = last.reverse.map(|index| index as usize)
                && self.flows[reverse].key == key
            {
                return reverse;
            }
        }
        match self.by_key.get(&key) {
            Some(index) => *index as usize,
            None => self.add(key),
        }
    }

    fn add(&mut self, key: Key) -> usize {
        let index = self.flows.len();
        let reverse = self.by_key.get(&key.reversed()).copied(); // none yet if it is its own reverse
        if let Some(reverse) = reverse {
            self.flows[reverse as usize].reverse = Some(index as u32);
        }
        self.by_key.insert(key, index as u32);
        self.flows.push(Flow {
            src: self.addresses.number(key.version, key.src),
            dst: self.addresses.number(key.version, key.dst),
            key,
            reverse,
            first_utc_ns: i64::MAX,
            last_utc_ns: i64::MIN,
            packets: 0,
            ip_bytes: 0,
            quic_scid_bytes: None,
        });
        index
    }

    /// The QUIC header of a datagram of `flow`. Short headers are known as such, and how long they are, from the long
    /// ones that the other direction began with; None: not QUIC, or its beginning was not captured.
    pub fn quic(&mut self, flow: u32, datagram: &[u8]) -> Option<quic::Header> {
        let flow = flow as usize;
        if let Some((header, scid_bytes)) = quic::long(datagram) {
            self.flows[flow].quic_scid_bytes = Some(scid_bytes);
            return Some(header);
        }
        let reverse = self.flows[flow].reverse? as usize;
        quic::short(datagram, self.flows[reverse].quic_scid_bytes?)
    }

    /// The dictionary that `Numbers::src` and `Numbers::dst` point into.
    pub fn addresses(&mut self) -> StringArray {
        self.addresses.dictionary()
    }

    /// One row per flow, in the order of their numbers.
    pub fn table(&mut self) -> RecordBatch {
        let addresses = self.addresses();
        let flows = &self.flows;
        let numbers = |number: fn(&Flow) -> i32| flows.iter().map(number).collect();
        let ports = || flows.iter().map(|flow| flow.key.ports);
        let columns = vec![
            Column::of::<UInt32Type>("flow", (0..flows.len() as u32).collect()),
            address_column("src", numbers(|flow| flow.src), &addresses),
            address_column("dst", numbers(|flow| flow.dst), &addresses),
            Column::optional::<UInt16Type>(
                "sport",
                ports().map(|ports| ports.map(|(sport, _)| sport)),
            ),
            Column::optional::<UInt16Type>(
                "dport",
                ports().map(|ports| ports.map(|(_, dport)| dport)),
            ),
            Column::of::<UInt8Type>("proto", flows.iter().map(|flow| flow.key.proto).collect()),
            Column::optional::<UInt32Type>("reverse_flow", flows.iter().map(|flow| flow.reverse)),
            Column::of::<Int64Type>(
                "first_utc_ns",
                flows.iter().map(|flow| flow.first_utc_ns).collect(),
            ),
            Column::of::<Int64Type>(
                "last_utc_ns",
                flows.iter().map(|flow| flow.last_utc_ns).collect(),
            ),
            Column::of::<UInt64Type>(
                "packets_count",
                flows.iter().map(|flow| flow.packets).collect(),
            ),
            Column::of::<UInt64Type>("ip_bytes", flows.iter().map(|flow| flow.ip_bytes).collect()),
        ];
        table(columns, None)
    }
}
