// SPDX-License-Identifier: Apache-2.0
//! The buffer of packets that wait to be sent, with its limit. Its queue management ([`crate::aqm`]) decides which
//! packets are dropped and marked, and which of two queues is served.

use std::collections::VecDeque;
use std::iter;

use crate::aqm::manager::{Action, CLASSIC, Head, L4S, Occupancy, QueueManager};
use crate::aqm::{Aqm, queue_manager};
use crate::config::{Queue, QueueLimit, ResolvedConfig};
use crate::counters::DropCounters;
use crate::delays::Part;
use crate::ids::UeId;
use crate::random::{Purpose, Stream};
use crate::rlc::waits::Waits;
use crate::{Direction, Ecn, Nanos, Packet};

/// A packet in the buffer.
#[derive(Debug)]
pub(crate) struct Waiting<T> {
    pub packet: Packet<T>,
    /// When the packet entered the buffer, of the cell that served the UE then.
    pub queued: Nanos,
    /// When it entered the buffer of the serving cell; until then its account is complete.
    entered: Nanos,
}

/// A packet that was taken out of the buffer as it waited, and the queue that it waited in.
#[derive(Debug)]
pub(crate) struct Queued<T> {
    queue: usize,
    /// The changes of the buffer's queue management until then.
    changes: u32,
    pub waiting: Waiting<T>,
}

impl<T> Queued<T> {
    pub fn packet(&self) -> &Packet<T> {
        &self.waiting.packet
    }
}

/// The buffer of one UE and direction.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    limit: QueueLimit,
    aqm: Option<Aqm>,
    manager: Box<dyn QueueManager>,
    /// The number of changes of the queue management.
    changes: u32,
    mtu_bytes: u32,
    /// discardTimer of PDCP (TS 38.323 clause 5.3), if it is finite.
    discard_after: Option<Nanos>,
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
    /// The account of why packets wait, of a link that explains delays.
    waits: Option<Box<Waits>>,
}

impl<T> Buffer<T> {
    /// Makes the empty buffer of one UE and direction.
    pub fn of(config: &ResolvedConfig, ue: UeId, direction: Direction) -> Self {
        let queue = config.ues[ue.0].queue.of(direction);
        Self {
            limit: queue.limit,
            aqm: queue.aqm,
            manager: queue_manager(queue.aqm, Self::draws(config.seed, ue, direction)),
            changes: 0,
            mtu_bytes: config.mtu_bytes,
            discard_after: config
                .radio
                .as_ref()
                .and_then(|radio| radio.handover.discard_timer),
            queues: [VecDeque::new(), VecDeque::new()],
            served: CLASSIC,
            managed: false,
            bytes: 0,
            head_sent: 0,
            dropped: DropCounters::default(),
            waits: None,
        }
    }

    /// Begins to account for why packets wait: for `reason` where nothing else is noted. They are in the buffer for
    /// `ahead` before a slot can carry them.
    pub fn explain(&mut self, reason: Part, ahead: Nanos) {
        self.waits = Some(Box::new(Waits::new(reason, ahead)));
    }

    /// Notes in the account why the current slot does not carry all of the buffer.
    pub fn note(&mut self, reason: Part) {
        if let Some(waits) = &mut self.waits {
            waits.note(reason);
        }
    }

    /// Notes the same of the slot that starts at `slot`.
    pub fn note_for(&mut self, slot: Nanos, reason: Part) {
        if let Some(waits) = &mut self.waits {
            waits.note_for(slot, reason);
        }
    }

    /// Ends the slot that started at `start`; what is left waits for what was noted, or for `otherwise`.
    pub fn end_slot(&mut self, start: Nanos, otherwise: Part) {
        let is_empty = self.is_empty();
        if let Some(waits) = &mut self.waits {
            waits.end_slot(start, is_empty, otherwise);
        }
    }

    /// Returns the random numbers of the queue management.
    pub fn draws(seed: u64, ue: UeId, direction: Direction) -> Stream {
        Stream::new(seed, Purpose::EarlyDrop, ue, direction)
    }

    /// Takes at `now` another limit and, if it differs, another queue management, which knows nothing of what was before.
    ///
    /// Packets beyond the limit stay, as in Linux's `pfifo`; others find the buffer full until there is room. A packet
    /// of which a part is sent stays the first.
    pub fn change(&mut self, queue: Queue, draws: impl FnOnce() -> Stream, now: Nanos) {
        self.limit = queue.limit;
        if queue.aqm == self.aqm {
            return;
        }
        self.aqm = queue.aqm;
        self.changes += 1;
        self.manager = queue_manager(queue.aqm, draws());
        let next = self.managed.then_some(self.served);
        self.served = CLASSIC;
        let mut firsts = [None; 2];
        for (was_first_of, waiting) in self.take_in_order(next) {
            let queue = self.manager.queue_of(waiting.packet.ecn);
            if next.is_some() && was_first_of == next {
                self.served = queue;
            }
            if self.queues[queue].is_empty() {
                firsts[queue] = Some((was_first_of, waiting.entered));
            }
            self.queues[queue].push_back(waiting);
        }
        if let Some(waits) = &mut self.waits {
            waits.divided(firsts, now);
        }
    }

    /// Empties the queues; returns the first packet of the queue `next`, then the others in the order in which they came.
    /// Each has the queue that it was the first of, if of any.
    fn take_in_order(&mut self, next: Option<usize>) -> Vec<(Option<usize>, Waiting<T>)> {
        let mut all = Vec::with_capacity(self.len());
        for (queue, packets) in self.queues.iter_mut().enumerate() {
            let first_of = iter::once(Some(queue)).chain(iter::repeat(None));
            all.extend(first_of.zip(packets.drain(..)));
        }
        all.sort_by_key(|(first_of, waiting)| {
            let is_next = next.is_some() && *first_of == next;
            (!is_next, waiting.queued)
        });
        all
    }

    /// Adds a packet, or drops it if the buffer is full or queue management decides so.
    pub fn offer(&mut self, mut packet: Packet<T>, now: Nanos) {
        let full = match self.limit {
            QueueLimit::Packets(most) => self.len() as u64 >= most,
            QueueLimit::Bytes(most) => self.bytes + u64::from(packet.bytes) > most,
        };
        if full {
            return self.drop(&packet);
        }
        let queue = self.manager.queue_of(packet.ecn);
        let action = self.manager.on_arrival(&self.occupancy(now));
        if drops(action, &mut packet, &mut self.dropped) {
            return self.drop(&packet);
        }
        self.bytes += u64::from(packet.bytes);
        self.notice_first(queue, now);
        self.queues[queue].push_back(Waiting {
            packet,
            queued: now,
            entered: now,
        });
    }

    /// Notes in the account that a packet enters a queue at `now`, which matters if it is the first.
    fn notice_first(&mut self, queue: usize, now: Nanos) {
        if let Some(waits) = &mut self.waits
            && self.queues[queue].is_empty()
        {
            waits.enters_first(queue, now);
        }
    }

    /// Returns the state that queue management sees.
    fn occupancy(&self, now: Nanos) -> Occupancy {
        let head = |queue: &VecDeque<Waiting<T>>| {
            queue.front().map(|first| Head {
                queued: first.queued,
                bytes: first.packet.bytes,
                packets: queue.len(),
            })
        };
        Occupancy {
            now,
            heads: [CLASSIC, L4S].map(|queue| head(&self.queues[queue])),
            bytes: self.bytes,
            share: match self.limit {
                QueueLimit::Packets(most) => self.len() as f64 / most as f64,
                QueueLimit::Bytes(most) => self.bytes as f64 / most as f64,
            },
            mtu_bytes: self.mtu_bytes,
        }
    }

    /// Selects the packet to send next and runs the queue management that acts on it, before its first byte is sent. It
    /// may drop packets. It runs once for each packet that is sent.
    pub fn manage(&mut self, now: Nanos) {
        while !self.managed && !self.is_empty() {
            let buffer = self.occupancy(now);
            self.served = self.manager.serve(&buffer);
            let Some(head) = buffer.heads[self.served] else {
                return; // no algorithm serves an empty queue
            };
            let expired = |after| head.queued + after <= now;
            if self.discard_after.is_some_and(expired) {
                self.drop_first(self.served, now);
                continue;
            }
            let action = self.manager.at_head(head, self.served, &buffer);
            let first = self.queues[self.served].front_mut();
            self.managed = !first
                .is_some_and(|first| drops(action, &mut first.packet, &mut self.dropped))
                || !self.drop_first(self.served, now);
        }
    }

    /// Drops the first packet of a queue; returns false if the queue is empty.
    fn drop_first(&mut self, queue: usize, now: Nanos) -> bool {
        let Some(Waiting { packet, .. }) = self.queues[queue].pop_front() else {
            return false;
        };
        self.bytes -= u64::from(packet.bytes);
        self.drop(&packet);
        if let Some(waits) = &mut self.waits {
            waits.dropped(now);
        }
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

    /// Sends the next `part` bytes of the next packet, which must have that many left, at `now`. Returns the
    /// packet if they were its last.
    pub fn send(&mut self, part: u32, now: Nanos) -> Option<Waiting<T>> {
        let (bytes, sent) = self.head()?;
        self.bytes -= u64::from(part);
        self.head_sent = sent + part;
        if self.head_sent < bytes {
            return None;
        }
        self.head_sent = 0;
        self.managed = false;
        let mut sent = self.queues[self.served].pop_front();
        // What has waited is in none of the processor's caches: reads the packet after the next one into them.
        std::hint::black_box(self.queues[self.served].get(1).map(|later| later.queued));
        if let (Some(waits), Some(sent)) = (&mut self.waits, &mut sent) {
            waits.sent(&mut sent.packet, self.served, sent.entered, now);
        }
        sent
    }

    /// Takes back what is sent of the next packet, which is to be sent as a whole; returns how many bytes that was.
    pub fn take_back(&mut self) -> u32 {
        let sent = std::mem::take(&mut self.head_sent);
        self.bytes += u64::from(sent);
        sent
    }

    /// Removes all packets at `now`, in the order in which they came. No byte of the first may be sent.
    pub fn take_all(&mut self, now: Nanos) -> Vec<Queued<T>> {
        if let Some(waits) = &mut self.waits {
            for (queue, packets) in self.queues.iter_mut().enumerate() {
                for (place, waiting) in packets.iter_mut().enumerate() {
                    waits.taken(&mut waiting.packet, (queue, place), waiting.entered, now);
                }
            }
        }
        let mut all = Vec::with_capacity(self.len());
        for (queue, packets) in self.queues.iter_mut().enumerate() {
            all.extend(packets.drain(..).map(|waiting| Queued {
                queue,
                changes: self.changes,
                waiting,
            }));
        }
        all.sort_by_key(|queued| queued.waiting.queued);
        self.bytes = 0;
        self.managed = false;
        all
    }

    /// Puts a packet back at `now` that was taken, behind all others; the limit does not apply to it.
    pub fn restore(&mut self, queued: Queued<T>, now: Nanos) {
        let Queued {
            mut queue,
            changes,
            mut waiting,
        } = queued;
        if changes != self.changes {
            queue = self.manager.queue_of(waiting.packet.ecn);
        }
        waiting.entered = now;
        self.bytes += u64::from(waiting.packet.bytes);
        self.notice_first(queue, now);
        self.queues[queue].push_back(waiting);
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

/// Carries out what can be done to the packet itself, which is a mark (RFC 3168 section 5); returns whether it is to be
/// dropped.
fn drops<T>(action: Action, packet: &mut Packet<T>, counters: &mut DropCounters) -> bool {
    let capable = packet.ecn != Ecn::NotEct;
    let marks = matches!(action, Action::MarkOrDrop | Action::MarkOrPass) && capable;
    if marks {
        packet.ecn = Ecn::Ce;
        counters.marks += 1;
    }
    action == Action::Drop || action == Action::MarkOrDrop && !capable
}
