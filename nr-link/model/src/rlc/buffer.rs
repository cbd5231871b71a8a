// SPDX-License-Identifier: Apache-2.0
//! The buffer of packets that wait to be sent, with its limit and its queue management. DualPI2
//! uses two queues, the classic one and the one for L4S; all other methods use the classic one
//! only.

use std::collections::VecDeque;

use super::codel::CoDelController;
use super::dual_pi2::{Action, DualPi2Controller};
use super::pie::PieController;
use crate::config::{Aqm, QueueLimit, ResolvedConfig};
use crate::counters::DropCounters;
use crate::ids::UeId;
use crate::random::{Purpose, Stream};
use crate::{Direction, Ecn, Nanos, Packet};

/// A packet in the buffer.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub packet: Packet<T>,
    /// When the packet entered the buffer.
    pub queued: Nanos,
}

/// Indices of the queues.
const CLASSIC: usize = 0;
const L4S: usize = 1;

/// The buffer of one UE and direction.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    limit: QueueLimit,
    manager: Manager,
    draws: Stream,
    mtu_bytes: u32,
    queues: [VecDeque<Waiting<T>>; 2],
    /// The queue whose first packet is sent next.
    served: usize,
    /// Whether queue management has already run for that packet.
    managed: bool,
    /// IP bytes that wait, without those of the first packet that are already sent.
    bytes: u64,
    /// Bytes of the first packet that are already sent.
    head_sent: u32,
    pub dropped: DropCounters,
}

#[derive(Debug)]
enum Manager {
    None,
    /// CoDel, which acts at the head; and whether it marks ECN-capable packets instead of dropping
    /// them.
    CoDel(CoDelController, bool),
    /// PIE, which acts on arrival.
    Pie(PieController),
    /// DualPI2, which acts at the head of both queues.
    Dual(DualPi2Controller),
}

impl<T> Buffer<T> {
    /// Makes the empty buffer of one UE and direction.
    pub fn of(config: &ResolvedConfig, ue: UeId, direction: Direction) -> Self {
        let queue = config.ues[ue.0].queue.of(direction);
        let manager = match queue.aqm {
            None => Manager::None,
            Some(Aqm::CoDel(codel)) => Manager::CoDel(CoDelController::new(codel), codel.ecn),
            Some(Aqm::Pie(pie)) => Manager::Pie(PieController::new(pie)),
            Some(Aqm::DualPi2(dual)) => Manager::Dual(DualPi2Controller::new(dual)),
        };
        Self {
            limit: queue.limit,
            manager,
            draws: Stream::new(config.seed, Purpose::EarlyDrop, ue, direction),
            mtu_bytes: config.mtu_bytes,
            queues: [VecDeque::new(), VecDeque::new()],
            served: CLASSIC,
            managed: false,
            bytes: 0,
            head_sent: 0,
            dropped: DropCounters::default(),
        }
    }

    /// Adds a packet, or drops it if the buffer is full or queue management decides so.
    pub fn offer(&mut self, mut packet: Packet<T>, now: Nanos) {
        let full = match self.limit {
            QueueLimit::Packets(most) => self.len() as u64 >= most,
            QueueLimit::Bytes(most) => self.bytes + u64::from(packet.bytes) > most,
        };
        if full || !self.admits_arrival(&mut packet, now) {
            return self.drop(&packet);
        }
        self.bytes += u64::from(packet.bytes);
        let queue = self.queue_of(packet.ecn);
        self.queues[queue].push_back(Waiting {
            packet,
            queued: now,
        });
    }

    /// Returns the queue of a packet. ECT(1) identifies L4S; a packet with CE may have had it (RFC
    /// 9331 section 5.1).
    fn queue_of(&self, ecn: Ecn) -> usize {
        match (&self.manager, ecn) {
            (Manager::Dual(_), Ecn::Ect1 | Ecn::Ce) => L4S,
            _ => CLASSIC,
        }
    }

    /// Runs the queue management that acts on arrival, which may mark the packet. Returns false if
    /// the packet is to be dropped.
    fn admits_arrival(&mut self, packet: &mut Packet<T>, now: Nanos) -> bool {
        let (heads, occupancy) = (self.heads(), self.occupancy());
        let pie = match &mut self.manager {
            Manager::Pie(pie) => pie,
            Manager::Dual(dual) => {
                dual.update(now, heads);
                return true;
            }
            Manager::None | Manager::CoDel(..) => return true,
        };
        pie.update(now, heads[CLASSIC]);
        pie.observe_occupancy(occupancy);
        if !pie.signals_congestion(self.bytes, self.mtu_bytes, &mut self.draws) {
            return true;
        }
        let marked = pie.may_mark() && mark(packet);
        self.dropped.marks += u64::from(marked);
        marked
    }

    /// Returns the used share of the limit.
    fn occupancy(&self) -> f64 {
        match self.limit {
            QueueLimit::Packets(most) => self.len() as f64 / most as f64,
            QueueLimit::Bytes(most) => self.bytes as f64 / most as f64,
        }
    }

    /// Returns the arrival time of the first packet of each queue.
    fn heads(&self) -> [Option<Nanos>; 2] {
        [CLASSIC, L4S].map(|queue| self.queues[queue].front().map(|head| head.queued))
    }

    /// Runs the queue management that acts at the head, before the first byte of a packet is sent.
    /// It may drop packets and change which one is next. It runs once for each packet that is sent.
    pub fn manage(&mut self, now: Nanos) {
        if self.managed || self.is_empty() {
            return;
        }
        let heads = self.heads();
        match &mut self.manager {
            Manager::None => {}
            Manager::Pie(pie) => pie.update(now, heads[CLASSIC]),
            Manager::CoDel(..) => while self.codel_drops_head(now) {},
            Manager::Dual(dual) => {
                dual.update(now, heads);
                while self.dual_pi2_drops_head(now) {}
            }
        }
        self.managed = !self.is_empty();
    }

    /// Runs CoDel on the first packet, which may mark it. Returns whether the packet was dropped.
    fn codel_drops_head(&mut self, now: Nanos) -> bool {
        let (Manager::CoDel(codel, marks), Some(head)) =
            (&mut self.manager, self.queues[CLASSIC].front_mut())
        else {
            return false;
        };
        let behind = self.bytes - u64::from(head.packet.bytes);
        if !codel.signals_congestion(now, now - head.queued, behind, self.mtu_bytes) {
            return false;
        }
        if *marks && mark(&mut head.packet) {
            self.dropped.marks += 1;
            return false;
        }
        self.drop_first(CLASSIC)
    }

    /// Selects the queue to serve and runs DualPI2 on its first packet, which may mark it. Returns
    /// whether the packet was dropped.
    fn dual_pi2_drops_head(&mut self, now: Nanos) -> bool {
        let Manager::Dual(dual) = &mut self.manager else {
            return false;
        };
        let bytes = |queue: &VecDeque<Waiting<T>>| queue.front().map(|head| head.packet.bytes);
        self.served = match (bytes(&self.queues[CLASSIC]), bytes(&self.queues[L4S])) {
            (Some(classic), Some(l4s)) if dual.serves_classic(classic, l4s) => CLASSIC,
            (_, Some(_)) => L4S,
            _ => CLASSIC,
        };
        let packets = self.queues[self.served].len();
        let Some(head) = self.queues[self.served].front_mut() else {
            return false;
        };
        let action = match self.served {
            CLASSIC => dual.classic(),
            _ => dual.l4s(now - head.queued, packets),
        };
        match action {
            Action::Pass => false,
            Action::Mark if mark(&mut head.packet) => {
                self.dropped.marks += 1;
                false
            }
            Action::Mark | Action::Drop => self.drop_first(self.served),
        }
    }

    /// Drops the first packet of a queue; returns false if the queue is empty.
    fn drop_first(&mut self, queue: usize) -> bool {
        let Some(Waiting { packet, .. }) = self.queues[queue].pop_front() else {
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

    /// Returns the size of the next packet, and how many of its bytes are already sent.
    pub fn head(&self) -> Option<(u32, u32)> {
        let head = self.queues[self.served].front()?;
        Some((head.packet.bytes, self.head_sent))
    }

    /// Sends the next `part` bytes of the next packet, which must have that many left. Returns the
    /// packet if they were its last.
    pub fn send(&mut self, part: u32) -> Option<Waiting<T>> {
        let (bytes, sent) = self.head()?;
        self.bytes -= u64::from(part);
        self.head_sent = sent + part;
        if self.head_sent < bytes {
            return None;
        }
        self.head_sent = 0;
        self.managed = false;
        self.queues[self.served].pop_front()
    }

    /// Returns how many bytes of the next packet are already sent.
    pub fn head_sent(&self) -> u32 {
        self.head_sent
    }

    /// Returns the IP bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of packets of which at least one byte waits.
    pub fn len(&self) -> usize {
        self.queues[CLASSIC].len() + self.queues[L4S].len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the packets of which at least one byte waits.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<T>> {
        self.queues.iter().flatten().map(|waiting| &waiting.packet)
    }
}

/// Marks a packet with CE if it is ECN-capable (RFC 3168 section 5); returns whether it is.
fn mark<T>(packet: &mut Packet<T>) -> bool {
    let capable = packet.ecn != Ecn::NotEct;
    if capable {
        packet.ecn = Ecn::Ce;
    }
    capable
}
