// SPDX-License-Identifier: Apache-2.0
//! The packets of a connection that are kept: a few columns as narrow as their values.

use arrow_array::RecordBatch;
use arrow_array::types::{Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};

use crate::table::{Column, table};

/// Sequence or acknowledgement numbers as distances from the first one, neighbours never 2³¹ or more apart.
#[derive(Default)]
pub struct Unwrapped {
    values: Vec<i64>,
    first: u32,
    last: (u32, i64),
}

impl Unwrapped {
    /// Adds the number as a header has it.
    #[inline]
    pub fn push(&mut self, number: u32) {
        if self.values.is_empty() {
            self.first = number;
            self.last = (number, 0);
        }
        let (before, distance) = self.last;
        let distance = distance + i64::from(number.wrapping_sub(before) as i32);
        self.last = (number, distance);
        self.values.push(distance);
    }

    /// The distances from `origin` instead.
    pub fn since(mut self, origin: u32) -> Vec<i64> {
        let first = i64::from(self.first.wrapping_sub(origin) as i32);
        if first != 0 {
            self.values.iter_mut().for_each(|value| *value += first);
        }
        self.values.shrink_to_fit();
        self.values
    }
}

/// Values of the timestamps option at the packets where they change: all that the RTT needs, and little.
#[derive(Default)]
pub struct Stamps {
    utc_ns: Vec<i64>,
    value: Vec<u32>,
}

impl Stamps {
    /// Adds a packet's value.
    #[inline]
    pub fn push(&mut self, utc_ns: i64, value: u32) {
        if self.value.last() != Some(&value) {
            self.utc_ns.push(utc_ns);
            self.value.push(value);
        }
    }

    /// Columns `utc_ns`, `value`.
    pub fn finish(self) -> RecordBatch {
        table(
            vec![
                Column::of::<Int64Type>("utc_ns", self.utc_ns),
                Column::of::<UInt32Type>("value", self.value),
            ],
            None,
        )
    }
}

/// Packets with payload.
#[derive(Default)]
pub struct PayloadRows {
    pub(crate) utc_ns: Vec<i64>,
    pub(crate) seq: Unwrapped,
    pub(crate) payload_bytes: Vec<u32>,
    pub(crate) segment_count: Vec<u32>,
    pub(crate) header_bytes: Vec<u16>,
    /// Makes the rows of UDP, which has no sequence numbers.
    pub(crate) digest: Vec<u64>,
}

impl PayloadRows {
    /// Columns `utc_ns`, `seq` (TCP, from `origin`) or `digest` (UDP), `payload_bytes`, `segment_count`,
    /// `header_bytes`.
    pub fn finish(mut self, origin: u32) -> RecordBatch {
        self.utc_ns.shrink_to_fit();
        let identity = match self.digest.is_empty() {
            true => Column::of::<Int64Type>("seq", self.seq.since(origin)),
            false => Column::of::<UInt64Type>("digest", self.digest),
        };
        let columns = vec![
            Column::of::<Int64Type>("utc_ns", self.utc_ns),
            identity,
            Column::of::<UInt32Type>("payload_bytes", self.payload_bytes),
            Column::of::<UInt32Type>("segment_count", self.segment_count),
            Column::of::<UInt16Type>("header_bytes", self.header_bytes),
        ];
        table(columns, None)
    }
}

/// Packets with the ACK flag.
#[derive(Default)]
pub struct AckRows {
    pub(crate) utc_ns: Vec<i64>,
    pub(crate) ack: Unwrapped,
    pub(crate) sacked_bytes: Vec<u32>,
    pub(crate) is_pure: Vec<u8>,
}

impl AckRows {
    /// Columns `utc_ns`, `ack` (from `origin`), `sacked_bytes` (how far above `ack` the highest SACK block ends,
    /// 0 without one), `is_pure` (1: no payload, SYN, FIN or RST).
    pub fn finish(mut self, origin: u32) -> RecordBatch {
        self.utc_ns.shrink_to_fit();
        let columns = vec![
            Column::of::<Int64Type>("utc_ns", self.utc_ns),
            Column::of::<Int64Type>("ack", self.ack.since(origin)),
            Column::of::<UInt32Type>("sacked_bytes", self.sacked_bytes),
            Column::of::<UInt8Type>("is_pure", self.is_pure),
        ];
        table(columns, None)
    }
}
