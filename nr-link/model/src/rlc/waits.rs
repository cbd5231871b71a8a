// SPDX-License-Identifier: Apache-2.0
//! The reasons for which the packets at the head of a buffer wait.
//!
//! At each instant there is one reason, so a running sum for each reason suffices: a packet waited for what the sums have
//! grown by between becoming the first and being sent. Before that it waited behind others.

use std::collections::VecDeque;

use crate::aqm::manager::{CLASSIC, L4S};
use crate::delays::{Part, Parts};
use crate::{Nanos, Packet};

/// The account of one buffer.
#[derive(Debug)]
pub(crate) struct Waits {
    /// Time by reason until `since`.
    sums: Parts,
    since: Nanos,
    /// The reason from then on.
    reason: Part,
    /// The reason that this slot has shown so far.
    noted: Option<Part>,
    /// Reasons that decisions of earlier slots have fixed, by the start of the slot that they are about.
    coming: VecDeque<(Nanos, Part)>,
    /// The time that a packet is in the buffer before a slot can carry it.
    ahead: Nanos,
    /// The time at which the first packet of each queue became the next to be sent, and the sums then.
    heads: [(Nanos, Parts); 2],
}

impl Waits {
    /// Makes the account of an empty buffer, whose packets wait for `reason` if nothing else is noted.
    pub fn new(reason: Part, ahead: Nanos) -> Self {
        Self {
            sums: Parts::default(),
            since: 0,
            reason,
            noted: None,
            coming: VecDeque::new(),
            ahead,
            heads: Default::default(),
        }
    }

    /// Records that a packet that arrived at `queued` is the first of a queue that was empty.
    pub fn enters_first(&mut self, queue: usize, queued: Nanos) {
        let ready = queued + self.ahead;
        self.heads[queue] = (ready, self.sums_at(ready));
    }

    /// Records that the packets were divided among the queues in another way at `now`. `firsts` are those that are now the first of each
    /// queue: the queue that the packet was the first of before, if of any, and when it entered.
    pub fn divided(&mut self, firsts: [Option<(Option<usize>, Nanos)>; 2], now: Nanos) {
        self.heads = [CLASSIC, L4S].map(|queue| match firsts[queue] {
            Some((Some(before), _)) => self.heads[before],
            Some((None, entered)) => {
                let ready = now.max(entered + self.ahead);
                (ready, self.sums_at(ready))
            }
            None => self.heads[queue],
        });
    }

    /// Records that the next packet of the buffer was dropped at `now`.
    pub fn dropped(&mut self, now: Nanos) {
        self.heads = [(now, self.sums_at(now)); 2];
    }

    /// Adds to a packet of a queue for what it waited from `queued` to `now`, when its last byte is sent.
    pub fn sent<T>(&mut self, packet: &mut Packet<T>, queue: usize, queued: Nanos, now: Nanos) {
        self.add(packet, queue, queued, now);
        self.heads = [(now, self.sums_at(now)); 2];
    }

    /// Adds to a packet that another cell takes at `now` for what it waited from `queued` on; `place` is its queue and its
    /// number in it, from 0.
    pub fn taken<T>(
        &self,
        packet: &mut Packet<T>,
        place: (usize, usize),
        queued: Nanos,
        now: Nanos,
    ) {
        match place {
            (queue, 0) => self.add(packet, queue, queued, now),
            _ => packet.waited(Part::Queue, now - queued),
        }
    }

    /// Adds to the first packet of a queue for what it waited from `queued` to `now`.
    fn add<T>(&self, packet: &mut Packet<T>, queue: usize, queued: Nanos, now: Nanos) {
        let Some(delays) = &mut packet.delays else {
            return;
        };
        let (first, before) = &self.heads[queue];
        let sums = self.sums_at(now);
        delays.parts[Part::Transmission as usize] += self.ahead;
        delays.parts[Part::Queue as usize] += first - (queued + self.ahead);
        for ((part, sum), before) in delays.parts.iter_mut().zip(sums).zip(before) {
            *part += sum - before;
        }
    }

    /// Notes why a slot did not carry all of the buffer.
    pub fn note(&mut self, reason: Part) {
        self.noted = self.noted.max(Some(reason));
    }

    /// Notes the same of the slot that starts at `slot`.
    pub fn note_for(&mut self, slot: Nanos, reason: Part) {
        let at = self.coming.partition_point(|&(other, _)| other <= slot);
        self.coming.insert(at, (slot, reason));
    }

    /// Ends the slot that started at `start`, after all that it carried: what is left waits for what was noted, or else
    /// for `otherwise`; what enters an empty buffer waits for the next slot.
    pub fn end_slot(&mut self, start: Nanos, is_empty: bool, otherwise: Part) {
        self.sums = self.sums_at(start);
        self.since = start;
        while let Some(&(slot, reason)) = self.coming.front().filter(|(slot, _)| *slot <= start) {
            self.coming.pop_front();
            if slot == start {
                self.note(reason);
            }
        }
        let noted = self.noted.take();
        self.reason = match is_empty {
            true => Part::Slot,
            false => noted.unwrap_or(otherwise),
        };
    }

    fn sums_at(&self, now: Nanos) -> Parts {
        let mut sums = self.sums;
        sums[self.reason as usize] += now - self.since;
        sums
    }
}
