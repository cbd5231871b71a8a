// SPDX-License-Identifier: Apache-2.0
//! The interface between a buffer and its queue management, which sees the state of the buffer, and decides about arriving packets and about
//! the packet that is sent next.

use std::fmt::Debug;

use crate::{Ecn, Nanos};

/// Indices of the queues of a buffer. Algorithms with one queue use the classic one.
pub(crate) const CLASSIC: usize = 0;
pub(crate) const L4S: usize = 1;

/// A decision about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Pass,
    /// Mark the packet with CE if it is ECN-capable; else drop it.
    MarkOrDrop,
    /// Mark the packet with CE if it is ECN-capable; else let it pass.
    MarkOrPass,
    Drop,
}

/// The first packet of a queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head {
    /// When the packet entered the buffer.
    pub queued: Nanos,
    pub bytes: u32,
    /// Packets in the queue, this one included.
    pub packets: usize,
}

/// The state of a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occupancy {
    pub now: Nanos,
    /// The first packet of each queue.
    pub heads: [Option<Head>; 2],
    /// IP bytes that wait in all queues.
    pub bytes: u64,
    /// The used share of the limit.
    pub share: f64,
    /// The size of the largest packet.
    pub mtu_bytes: u32,
}

impl Occupancy {
    /// Returns when the first packet of each queue arrived.
    pub fn arrivals(&self) -> [Option<Nanos>; 2] {
        self.heads.map(|head| head.map(|head| head.queued))
    }
}

/// The queue management of one buffer.
pub(crate) trait QueueManager: Debug + Send {
    /// Returns the queue that a packet with this ECN field joins.
    fn queue_of(&self, _ecn: Ecn) -> usize {
        CLASSIC
    }

    /// Decides about a packet that arrives at a buffer in this state, itself not included.
    fn on_arrival(&mut self, _buffer: &Occupancy) -> Action {
        Action::Pass
    }

    /// Selects the queue that is served next, before [`QueueManager::at_head`] decides about its first packet. At least
    /// one queue has a packet.
    fn serve(&mut self, _buffer: &Occupancy) -> usize {
        CLASSIC
    }

    /// Decides about the first packet of the queue that is served, before its first byte is sent: once for each packet.
    fn at_head(&mut self, _head: Head, _queue: usize, _buffer: &Occupancy) -> Action {
        Action::Pass
    }
}

/// No queue management: packets are dropped only if the buffer is full.
#[derive(Debug)]
pub(crate) struct DropTail;

impl QueueManager for DropTail {}
