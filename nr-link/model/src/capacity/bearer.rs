// SPDX-License-Identifier: Apache-2.0
//! One direction of one UE over a capacity trace: its buffer, its capacity and its counters.

use super::{Supply, WORK_PER_BYTE, Work};
use crate::counters::{Counters, Totals};
use crate::rlc::{Buffer, Waiting};
use crate::{Nanos, Packet};

#[derive(Debug)]
pub(crate) struct TraceBearer<T> {
    pub buffer: Buffer<T>,
    pub counters: Counters,
    supply: Supply,
    /// The point of the supply's curve at which the service of the first packet begins; with an empty buffer, the end
    /// of the last packet.
    begin: Work,
    /// When the first packet's last bit is served.
    due: Option<Nanos>,
    /// IP bytes per byte of capacity with packets of the MTU.
    ip_share: f64,
}

impl<T> TraceBearer<T> {
    pub fn new(buffer: Buffer<T>, supply: Supply, mtu_bytes: u32) -> Self {
        let mtu = f64::from(mtu_bytes);
        Self {
            buffer,
            counters: Counters::default(),
            begin: 0,
            due: None,
            ip_share: mtu / (mtu + f64::from(supply.overhead_bytes())),
            supply,
        }
    }

    /// Returns when the next packet leaves.
    pub fn next(&self) -> Option<Nanos> {
        self.due
    }

    /// Adds a packet at `now`, after all that leave by then.
    pub fn offer(&mut self, packet: Packet<T>, now: Nanos) {
        self.serve(self.supply.offered(now));
        let was_empty = self.buffer.is_empty();
        self.buffer.offer(packet, now);
        if was_empty {
            self.begin = self.begin.max(self.supply.offered(now));
            self.begin_next(now);
        }
    }

    /// Starts the service of the packet at the head.
    fn begin_next(&mut self, now: Nanos) {
        self.buffer.manage(now);
        self.due = match self.buffer.is_empty() {
            true => None,
            false => self.supply.ready(self.end()),
        };
    }

    /// Removes the packet that leaves at `due`, if there is one.
    pub fn leave(&mut self, due: Nanos) -> Option<Packet<T>> {
        self.due.filter(|&next| next == due)?;
        self.begin = self.end();
        let (bytes, sent) = self.buffer.head()?;
        let Waiting { packet, queued, .. } = self.buffer.send(bytes - sent, due)?;
        let overhead_bytes = u64::from(self.supply.overhead_bytes());
        self.counters.totals.bytes += u64::from(bytes) + overhead_bytes;
        self.counters.totals.header_bytes += overhead_bytes;
        self.counters.count_departure(bytes, queued, due, due);
        self.begin_next(due);
        Some(packet)
    }

    /// Removes the bytes from the buffer that are served before `now`.
    pub fn serve_before(&mut self, now: Nanos) {
        self.serve(self.supply.offered_before(now));
    }

    fn serve(&mut self, offered: Work) {
        let Some((bytes, sent)) = self.buffer.head() else {
            return;
        };
        // The last byte stays until the packet's overhead is served too.
        let most = Work::from(bytes - 1) * WORK_PER_BYTE;
        let served =
            (offered.saturating_sub(self.begin).min(most) as u64 / WORK_PER_BYTE as u64) as u32;
        // No packet leaves here, so the time does not matter.
        self.buffer.send(served.saturating_sub(sent), 0);
    }

    /// Returns the totals with the capacity until `now`, including opportunities at `now`.
    pub fn totals(&self, now: Nanos) -> Totals {
        self.totals_with(self.supply.offered(now))
    }

    /// Returns the totals with the capacity before `now`.
    pub fn totals_before(&self, now: Nanos) -> Totals {
        self.totals_with(self.supply.offered_before(now))
    }

    fn totals_with(&self, offered: Work) -> Totals {
        let capacity_bytes = (offered / WORK_PER_BYTE) as f64;
        Totals {
            capacity_bytes,
            capacity_sdu_bytes: capacity_bytes * self.ip_share,
            ..self.counters.totals_with(self.buffer.dropped)
        }
    }

    /// Returns the point of the supply's curve at which the service of the first packet ends.
    fn end(&self) -> Work {
        let bytes = self.buffer.head().map_or(0, |(bytes, _)| bytes);
        self.begin + Work::from(bytes + self.supply.overhead_bytes()) * WORK_PER_BYTE
    }
}
