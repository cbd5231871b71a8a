// SPDX-License-Identifier: Apache-2.0
//! One direction of one UE over given capacity: its buffer, its supply, its books.

use super::{Supply, WORK_PER_BYTE, Work};
use crate::mac::account::{Account, Totals};
use crate::rlc::{Buffer, Waiting};
use crate::{Nanos, Packet};

/// The buffer and what empties it.
#[derive(Debug)]
pub(crate) struct Pipe<T> {
    pub buffer: Buffer<T>,
    pub account: Account,
    supply: Supply,
    /// Where on the supply's curve the first packet of the buffer begins; the last one's end when
    /// the buffer is empty.
    begin: Work,
    /// When the first packet's last bit is served.
    due: Option<Nanos>,
    /// IP bytes in each byte of capacity when packets are as large as they can be.
    ip_share: f64,
}

impl<T> Pipe<T> {
    pub fn new(buffer: Buffer<T>, supply: Supply, mtu_bytes: u32) -> Self {
        let most = f64::from(mtu_bytes);
        Self {
            buffer,
            account: Account::default(),
            begin: 0,
            due: None,
            ip_share: most / (most + f64::from(supply.overhead_bytes())),
            supply,
        }
    }

    /// When the next packet leaves.
    pub fn next(&self) -> Option<Nanos> {
        self.due
    }

    /// A packet comes at `now`, behind all that leave by then.
    pub fn offer(&mut self, packet: Packet<T>, now: Nanos) {
        self.settle(self.supply.offered(now));
        let was_empty = self.buffer.is_empty();
        self.buffer.offer(packet, now);
        if was_empty {
            self.begin = self.begin.max(self.supply.offered(now));
            self.begin_next(now);
        }
    }

    /// The packet at the head begins to be served.
    fn begin_next(&mut self, now: Nanos) {
        self.buffer.manage(now);
        self.due = match self.buffer.is_empty() {
            true => None,
            false => self.supply.ready(self.end()),
        };
    }

    /// The packet that leaves at `due`, if that is the time of the next one.
    pub fn leave(&mut self, due: Nanos) -> Option<Packet<T>> {
        self.due.filter(|&next| next == due)?;
        self.begin = self.end();
        let (bytes, sent) = self.buffer.head()?;
        let Waiting { packet, queued } = self.buffer.send(bytes - sent)?;
        let overhead_bytes = u64::from(self.supply.overhead_bytes());
        self.account.totals.bytes += u64::from(bytes) + overhead_bytes;
        self.account.totals.header_bytes += overhead_bytes;
        self.account.departure(bytes, queued, due, due);
        self.begin_next(due);
        Some(packet)
    }

    /// Brings the bytes that wait to what they are before `now`.
    pub fn settle_before(&mut self, now: Nanos) {
        self.settle(self.supply.offered_before(now));
    }

    fn settle(&mut self, offered: Work) {
        let Some((bytes, sent)) = self.buffer.head() else {
            return;
        };
        let served = offered.saturating_sub(self.begin) / WORK_PER_BYTE;
        // A packet waits until its last byte is served, and what it takes beyond its own bytes.
        let served = served.min(Work::from(bytes - 1)) as u32;
        self.buffer.send(served.saturating_sub(sent));
    }

    /// Counters, with the capacity until `now`, opportunities at `now` included.
    pub fn totals(&self, now: Nanos) -> Totals {
        self.totals_with(self.supply.offered(now))
    }

    /// Counters, with the capacity before `now`.
    pub fn totals_before(&self, now: Nanos) -> Totals {
        self.totals_with(self.supply.offered_before(now))
    }

    fn totals_with(&self, offered: Work) -> Totals {
        let capacity_bytes = (offered / WORK_PER_BYTE) as f64;
        Totals {
            capacity_bytes,
            capacity_sdu_bytes: capacity_bytes * self.ip_share,
            ..self.account.totals_with(self.buffer.struck)
        }
    }

    /// Where the first packet ends.
    fn end(&self) -> Work {
        let bytes = self.buffer.head().map_or(0, |(bytes, _)| bytes);
        self.begin + Work::from(bytes + self.supply.overhead_bytes()) * WORK_PER_BYTE
    }
}
