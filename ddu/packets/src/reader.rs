// SPDX-License-Identifier: Apache-2.0
//! The way from a capture to batches of packets, in memory bounded by one batch, one record and the flows.

use std::io::Read;

use arrow_array::RecordBatch;

use crate::capture::Capture;
use crate::columns::Columns;
use crate::error::{Result, malformed};
use crate::flows::Flows;
use crate::link;
use crate::packet::{Packet, Transport};

/// Reads a capture's IP packets batch by batch.
pub struct PacketReader {
    capture: Capture,
    flows: Flows,
    wanted: Option<Vec<String>>,
    batch_packets: usize,
    skipped_count: u64,
}

impl PacketReader {
    /// Begins to read. Batches have `batch_packets` packets and the `wanted` columns (None: all).
    ///
    /// # Errors
    /// An empty file, or one that is no capture.
    pub fn new(
        stream: impl Read + Send + 'static,
        wanted: Option<Vec<String>>,
        batch_packets: usize,
    ) -> Result<Self> {
        Ok(Self {
            capture: Capture::new(stream)?,
            flows: Flows::default(),
            wanted,
            batch_packets: batch_packets.max(1),
            skipped_count: 0,
        })
    }

    /// The next packets, fewer than asked for at the end of the file and None behind it. A file that still
    /// grows may give more later.
    ///
    /// # Errors
    /// A damaged record; a link type that is not known.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut columns = Columns::with_capacity(self.batch_packets);
        while columns.len() < self.batch_packets {
            let offset = self.capture.offset();
            let Some((record, frame)) = self.capture.next_record()? else {
                break;
            };
            match Packet::parse(record.link_type, frame, record.wirelen) {
                Some(packet) => {
                    let numbers = self.flows.count(record.utc_ns, &packet);
                    let quic = match packet.transport {
                        Transport::Udp(_, datagram) => self.flows.quic(numbers.flow, datagram),
                        _ => None,
                    };
                    columns.push(&record, &packet, numbers, quic);
                }
                None if link::is_known(record.link_type) => self.skipped_count += 1,
                None => return malformed(offset, link::not_known(record.link_type)),
            }
        }
        let addresses = self.flows.addresses();
        let wanted = self.wanted.as_deref();
        Ok((!columns.is_empty()).then(|| columns.finish(&addresses, wanted)))
    }

    /// The flows of the packets so far.
    pub fn flows(&mut self) -> RecordBatch {
        self.flows.table()
    }

    /// Frames without a whole IP header: ARP, say.
    pub fn skipped_count(&self) -> u64 {
        self.skipped_count
    }

    /// Returns the offset of the record that the file ends within; None if the file is whole.
    pub fn truncated_at(&self) -> Option<u64> {
        self.capture.truncated_at()
    }
}

/// An empty batch with all columns, for those who want their names and types.
pub fn no_packets() -> RecordBatch {
    Columns::with_capacity(0).finish(&Flows::default().addresses(), None)
}
