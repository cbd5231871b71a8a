// SPDX-License-Identifier: Apache-2.0
//! What waits to be sent: a queue of packets with a limit, and what manages it.

use std::collections::VecDeque;

use super::codel::Control;
use super::pie::Controller;
use crate::config::{Aqm, QueueLimit, ResolvedConfig};
use crate::random::{Purpose, Stream};
use crate::{Direction, Ecn, Nanos, Packet};

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
    manager: Manager,
    draws: Stream,
    mtu_bytes: u32,
    waiting: VecDeque<Waiting<T>>,
    /// Of the packets that wait, less what of the first is already sent.
    bytes: u64,
    /// Bytes of the first packet which are already sent.
    head_sent: u32,
    pub struck: Struck,
}

#[derive(Debug)]
enum Manager {
    None,
    /// At the head; and whether ECN-capable packets are marked where others are dropped.
    CoDel(Control, bool),
    /// On arrival.
    Pie(Controller),
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
    /// That of one UE and direction.
    pub fn of(config: &ResolvedConfig, ue: usize, direction: Direction) -> Self {
        let queue = config.ues[ue].queue.of(direction);
        let manager = match queue.aqm {
            None => Manager::None,
            Some(Aqm::CoDel(codel)) => Manager::CoDel(Control::new(codel), codel.ecn),
            Some(Aqm::Pie(pie)) => Manager::Pie(Controller::new(pie)),
        };
        Self {
            limit: queue.limit,
            manager,
            draws: Stream::new(config.seed, Purpose::EarlyDrop, ue, direction),
            mtu_bytes: config.mtu_bytes,
            waiting: VecDeque::new(),
            bytes: 0,
            head_sent: 0,
            struck: Struck::default(),
        }
    }

    /// Takes a packet, or drops it when the buffer is full or its management wills.
    pub fn offer(&mut self, mut packet: Packet<T>, now: Nanos) {
        let full = match self.limit {
            QueueLimit::Packets(most) => self.waiting.len() as u64 >= most,
            QueueLimit::Bytes(most) => self.bytes + u64::from(packet.bytes) > most,
        };
        if full || !self.admits(&mut packet, now) {
            return self.drop(&packet);
        }
        self.bytes += u64::from(packet.bytes);
        self.waiting.push_back(Waiting {
            packet,
            queued: now,
        });
    }

    /// Whether PIE lets a packet in, marked or not.
    fn admits(&mut self, packet: &mut Packet<T>, now: Nanos) -> bool {
        let Manager::Pie(pie) = &mut self.manager else {
            return true;
        };
        pie.update(now, self.waiting.front().map(|head| head.queued));
        if !self
            .draws
            .happens(pie.probability(self.bytes, self.mtu_bytes))
        {
            return true;
        }
        let marked = pie.may_mark() && mark(packet);
        self.struck.marks += u64::from(marked);
        marked
    }

    /// The first packet, of which nothing is sent, is about to be: whatever stands at the head
    /// afterwards is what is sent.
    pub fn manage(&mut self, now: Nanos) {
        match &mut self.manager {
            Manager::None => {}
            Manager::Pie(pie) => pie.update(now, self.waiting.front().map(|head| head.queued)),
            Manager::CoDel(..) => while self.drops_head(now) {},
        }
    }

    /// Whether CoDel drops the first packet; it may mark it.
    fn drops_head(&mut self, now: Nanos) -> bool {
        let (Manager::CoDel(codel, marks), Some(head)) =
            (&mut self.manager, self.waiting.front_mut())
        else {
            return false;
        };
        let behind = self.bytes - u64::from(head.packet.bytes);
        if !codel.strikes(now, now - head.queued, behind, self.mtu_bytes) {
            return false;
        }
        if *marks && mark(&mut head.packet) {
            self.struck.marks += 1;
            return false;
        }
        let Some(Waiting { packet, .. }) = self.waiting.pop_front() else {
            return false;
        };
        self.bytes -= u64::from(packet.bytes);
        self.drop(&packet);
        true
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

/// Marks a packet with CE if it is ECN-capable (RFC 3168 section 5).
fn mark<T>(packet: &mut Packet<T>) -> bool {
    let capable = packet.ecn != Ecn::NotEct;
    if capable {
        packet.ecn = Ecn::Ce;
    }
    capable
}
