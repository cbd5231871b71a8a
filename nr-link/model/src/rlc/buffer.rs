// SPDX-License-Identifier: Apache-2.0
//! What waits to be sent: a queue of packets with a limit, and what manages it.

use std::collections::VecDeque;

use super::codel::Control;
use crate::config::{Aqm, Queue, QueueLimit};
use crate::{Ecn, Nanos, Packet};

/// A packet in the buffer.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub packet: Packet<T>,
    /// When it came.
    pub queued: Nanos,
}

/// The buffer of one UE and direction.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    limit: QueueLimit,
    codel: Option<Control>,
    /// Whether ECN-capable packets are marked where others are dropped.
    marks: bool,
    mtu_bytes: u32,
    waiting: VecDeque<Waiting<T>>,
    /// Of the packets that wait, less what of the first is already sent.
    bytes: u64,
    /// Bytes of the first packet which are already sent.
    head_sent: u32,
    pub struck: Struck,
}

/// Packets that the buffer dropped or marked, since the start.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Struck {
    pub drops: u64,
    /// IP bytes.
    pub drop_bytes: u64,
    pub marks: u64,
}

impl<T> Buffer<T> {
    /// For packets of at most `mtu_bytes`.
    pub fn new(queue: Queue, mtu_bytes: u32) -> Self {
        let codel = queue.aqm.map(|Aqm::CoDel(codel)| codel);
        Self {
            limit: queue.limit,
            codel: codel.map(Control::new),
            marks: codel.is_some_and(|codel| codel.ecn),
            mtu_bytes,
            waiting: VecDeque::new(),
            bytes: 0,
            head_sent: 0,
            struck: Struck::default(),
        }
    }

    /// Takes a packet, or drops it when the buffer is full.
    pub fn offer(&mut self, packet: Packet<T>, now: Nanos) {
        let full = match self.limit {
            QueueLimit::Packets(most) => self.waiting.len() as u64 >= most,
            QueueLimit::Bytes(most) => self.bytes + u64::from(packet.bytes) > most,
        };
        if full {
            return self.drop(&packet);
        }
        self.bytes += u64::from(packet.bytes);
        self.waiting.push_back(Waiting {
            packet,
            queued: now,
        });
    }

    /// The first packet, of which nothing is sent, is about to be: whatever stands at the head
    /// afterwards is what is sent.
    pub fn manage(&mut self, now: Nanos) {
        let Some(mut codel) = self.codel.take() else {
            return;
        };
        while let Some(head) = self.waiting.front_mut() {
            let behind = self.bytes - u64::from(head.packet.bytes);
            if !codel.strikes(now, now - head.queued, behind, self.mtu_bytes) {
                break;
            }
            if self.marks && head.packet.ecn != Ecn::NotEct {
                head.packet.ecn = Ecn::Ce;
                self.struck.marks += 1;
                break;
            }
            if let Some(Waiting { packet, .. }) = self.waiting.pop_front() {
                self.bytes -= u64::from(packet.bytes);
                self.drop(&packet);
            }
        }
        self.codel = Some(codel);
    }

    fn drop(&mut self, packet: &Packet<T>) {
        self.struck.drops += 1;
        self.struck.drop_bytes += u64::from(packet.bytes);
    }

    /// Bytes of the first packet, and how many of them are already sent.
    pub fn head(&self) -> Option<(u32, u32)> {
        let head = self.waiting.front()?;
        Some((head.packet.bytes, self.head_sent))
    }

    /// Sends the next `part` bytes of the first packet, which has them; returns it when they were
    /// its last.
    pub fn send(&mut self, part: u32) -> Option<Waiting<T>> {
        let (bytes, sent) = self.head()?;
        self.bytes -= u64::from(part);
        self.head_sent = sent + part;
        if self.head_sent < bytes {
            return None;
        }
        self.head_sent = 0;
        self.waiting.pop_front()
    }

    /// Bytes of the first packet which are already sent.
    pub fn head_sent(&self) -> u32 {
        self.head_sent
    }

    /// IP bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets of which at least one byte waits.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Every packet of which at least one byte waits.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<T>> {
        self.waiting.iter().map(|waiting| &waiting.packet)
    }
}
