// SPDX-License-Identifier: Apache-2.0
//! What waits to be sent: packets with a limit, and what manages them. Most managements know one
//! lane; DualPI2 has a second, for L4S.

use std::collections::VecDeque;

use super::codel::Control;
use super::dual::{Coupled, Verdict};
use super::pie::Controller;
use crate::config::{Aqm, QueueLimit, ResolvedConfig};
use crate::counters::DropCounters;
use crate::ids::UeId;
use crate::random::{Purpose, Stream};
use crate::{Direction, Ecn, Nanos, Packet};

/// A packet in the buffer.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub packet: Packet<T>,
    /// When it came.
    pub queued: Nanos,
}

/// Lanes of a buffer.
const CLASSIC: usize = 0;
const L4S: usize = 1;

/// The buffer of one UE and direction.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    limit: QueueLimit,
    manager: Manager,
    draws: Stream,
    mtu_bytes: u32,
    lanes: [VecDeque<Waiting<T>>; 2],
    /// The lane whose first packet is the next to be sent.
    turn: usize,
    /// That packet has been managed.
    managed: bool,
    /// Of the packets that wait, less what of the first is already sent.
    bytes: u64,
    /// Bytes of the first packet which are already sent.
    head_sent: u32,
    pub dropped: DropCounters,
}

#[derive(Debug)]
enum Manager {
    None,
    /// At the head; and whether ECN-capable packets are marked where others are dropped.
    CoDel(Control, bool),
    /// On arrival.
    Pie(Controller),
    /// At the head of two lanes.
    Dual(Coupled),
}

impl<T> Buffer<T> {
    /// That of one UE and direction.
    pub fn of(config: &ResolvedConfig, ue: UeId, direction: Direction) -> Self {
        let queue = config.ues[ue.0].queue.of(direction);
        let manager = match queue.aqm {
            None => Manager::None,
            Some(Aqm::CoDel(codel)) => Manager::CoDel(Control::new(codel), codel.ecn),
            Some(Aqm::Pie(pie)) => Manager::Pie(Controller::new(pie)),
            Some(Aqm::DualPi2(dual)) => Manager::Dual(Coupled::new(dual)),
        };
        Self {
            limit: queue.limit,
            manager,
            draws: Stream::new(config.seed, Purpose::EarlyDrop, ue, direction),
            mtu_bytes: config.mtu_bytes,
            lanes: [VecDeque::new(), VecDeque::new()],
            turn: CLASSIC,
            managed: false,
            bytes: 0,
            head_sent: 0,
            dropped: DropCounters::default(),
        }
    }

    /// Takes a packet, or drops it when the buffer is full or its management wills.
    pub fn offer(&mut self, mut packet: Packet<T>, now: Nanos) {
        let full = match self.limit {
            QueueLimit::Packets(most) => self.len() as u64 >= most,
            QueueLimit::Bytes(most) => self.bytes + u64::from(packet.bytes) > most,
        };
        if full || !self.admits(&mut packet, now) {
            return self.drop(&packet);
        }
        self.bytes += u64::from(packet.bytes);
        let lane = self.lane(packet.ecn);
        self.lanes[lane].push_back(Waiting {
            packet,
            queued: now,
        });
    }

    /// L4S packets are those with ECT(1), and those with CE, which may have been (RFC 9331).
    fn lane(&self, ecn: Ecn) -> usize {
        match (&self.manager, ecn) {
            (Manager::Dual(_), Ecn::Ect1 | Ecn::Ce) => L4S,
            _ => CLASSIC,
        }
    }

    /// Whether management at the tail lets a packet in, marked or not.
    fn admits(&mut self, packet: &mut Packet<T>, now: Nanos) -> bool {
        let (heads, fill) = (self.heads(), self.fill());
        let pie = match &mut self.manager {
            Manager::Pie(pie) => pie,
            Manager::Dual(dual) => {
                dual.update(now, heads);
                return true;
            }
            Manager::None | Manager::CoDel(..) => return true,
        };
        pie.update(now, heads[CLASSIC]);
        pie.fill(fill);
        if !pie.strikes(self.bytes, self.mtu_bytes, &mut self.draws) {
            return true;
        }
        let marked = pie.may_mark() && mark(packet);
        self.dropped.marks += u64::from(marked);
        marked
    }

    /// The share of the limit that is taken.
    fn fill(&self) -> f64 {
        match self.limit {
            QueueLimit::Packets(most) => self.len() as f64 / most as f64,
            QueueLimit::Bytes(most) => self.bytes as f64 / most as f64,
        }
    }

    /// When the first packet of each lane came.
    fn heads(&self) -> [Option<Nanos>; 2] {
        [CLASSIC, L4S].map(|lane| self.lanes[lane].front().map(|head| head.queued))
    }

    /// The next packet, of which nothing is sent, is about to be: whatever stands at the head
    /// afterwards is what is sent. Has no effect on a packet that was managed before.
    pub fn manage(&mut self, now: Nanos) {
        if self.managed || self.is_empty() {
            return;
        }
        let heads = self.heads();
        match &mut self.manager {
            Manager::None => {}
            Manager::Pie(pie) => pie.update(now, heads[CLASSIC]),
            Manager::CoDel(..) => while self.drops_head(now) {},
            Manager::Dual(dual) => {
                dual.update(now, heads);
                while self.takes_turn(now) {}
            }
        }
        self.managed = !self.is_empty();
    }

    /// Whether CoDel drops the first packet; it may mark it.
    fn drops_head(&mut self, now: Nanos) -> bool {
        let (Manager::CoDel(codel, marks), Some(head)) =
            (&mut self.manager, self.lanes[CLASSIC].front_mut())
        else {
            return false;
        };
        let behind = self.bytes - u64::from(head.packet.bytes);
        if !codel.strikes(now, now - head.queued, behind, self.mtu_bytes) {
            return false;
        }
        if *marks && mark(&mut head.packet) {
            self.dropped.marks += 1;
            return false;
        }
        self.drop_first(CLASSIC)
    }

    /// Chooses the lane whose turn it is. Whether its first packet was dropped; it may be marked.
    fn takes_turn(&mut self, now: Nanos) -> bool {
        let Manager::Dual(dual) = &mut self.manager else {
            return false;
        };
        let bytes = |lane: &VecDeque<Waiting<T>>| lane.front().map(|head| head.packet.bytes);
        self.turn = match (bytes(&self.lanes[CLASSIC]), bytes(&self.lanes[L4S])) {
            (Some(classic), Some(l4s)) if dual.serves_classic(classic, l4s) => CLASSIC,
            (_, Some(_)) => L4S,
            _ => CLASSIC,
        };
        let packets = self.lanes[self.turn].len();
        let Some(head) = self.lanes[self.turn].front_mut() else {
            return false;
        };
        let verdict = match self.turn {
            CLASSIC => dual.classic(),
            _ => dual.l4s(now - head.queued, packets),
        };
        match verdict {
            Verdict::Pass => false,
            Verdict::Mark if mark(&mut head.packet) => {
                self.dropped.marks += 1;
                false
            }
            Verdict::Mark | Verdict::Drop => self.drop_first(self.turn),
        }
    }

    /// Drops the first packet of a lane, if there is one.
    fn drop_first(&mut self, lane: usize) -> bool {
        let Some(Waiting { packet, .. }) = self.lanes[lane].pop_front() else {
            return false;
        };
        self.bytes -= u64::from(packet.bytes);
        self.drop(&packet);
        true
    }

    fn drop(&mut self, packet: &Packet<T>) {
        self.dropped.drops += 1;
        self.dropped.drop_bytes += u64::from(packet.bytes);
    }

    /// Bytes of the next packet, and how many of them are already sent.
    pub fn head(&self) -> Option<(u32, u32)> {
        let head = self.lanes[self.turn].front()?;
        Some((head.packet.bytes, self.head_sent))
    }

    /// Sends the next `part` bytes of the next packet, which has them; returns it when they were
    /// its last.
    pub fn send(&mut self, part: u32) -> Option<Waiting<T>> {
        let (bytes, sent) = self.head()?;
        self.bytes -= u64::from(part);
        self.head_sent = sent + part;
        if self.head_sent < bytes {
            return None;
        }
        self.head_sent = 0;
        self.managed = false;
        self.lanes[self.turn].pop_front()
    }

    /// Bytes of the next packet which are already sent.
    pub fn head_sent(&self) -> u32 {
        self.head_sent
    }

    /// IP bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets of which at least one byte waits.
    pub fn len(&self) -> usize {
        self.lanes[CLASSIC].len() + self.lanes[L4S].len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every packet of which at least one byte waits.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<T>> {
        self.lanes.iter().flatten().map(|waiting| &waiting.packet)
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
