// SPDX-License-Identifier: Apache-2.0
//! What waits to be sent: a queue of packets with a limit, drop-tail.

use std::collections::VecDeque;

use crate::config::QueueLimit;
use crate::{Nanos, Packet};

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
    waiting: VecDeque<Waiting<T>>,
    /// Of the packets that wait, less what of the first is already sent.
    bytes: u64,
    /// Bytes of the first packet which are already sent.
    head_sent: u32,
}

impl<T> Buffer<T> {
    pub fn new(limit: QueueLimit) -> Self {
        Self {
            limit,
            waiting: VecDeque::new(),
            bytes: 0,
            head_sent: 0,
        }
    }

    /// Takes a packet, or refuses it when the buffer is full.
    pub fn offer(&mut self, packet: Packet<T>, now: Nanos) -> Result<(), Packet<T>> {
        let full = match self.limit {
            QueueLimit::Packets(most) => self.waiting.len() as u64 >= most,
            QueueLimit::Bytes(most) => self.bytes + u64::from(packet.bytes) > most,
        };
        if full {
            return Err(packet);
        }
        self.bytes += u64::from(packet.bytes);
        self.waiting.push_back(Waiting {
            packet,
            queued: now,
        });
        Ok(())
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
