// SPDX-License-Identifier: Apache-2.0
//! The way of each part of the byte stream across the radio: when its block would have been decoded at the first try,
//! when it was, and what HARQ gave up in between.

use std::collections::VecDeque;

use super::Span;
use crate::delays::Part;
use crate::{Nanos, Packet};

/// The parts of the stream that no packet has left with yet.
#[derive(Debug, Default)]
pub(super) struct Transit {
    /// In order of offsets.
    received: VecDeque<Received>,
    /// In order of time.
    given_up: Vec<GivenUp>,
    /// Parts that were on their way when the serving cell or leg changed, and are retransmitted.
    interrupted: Vec<Span>,
}

#[derive(Debug, Clone, Copy)]
struct Received {
    span: Span,
    /// When its block would have been decoded after one transmission.
    due: Nanos,
    decoded: Nanos,
}

#[derive(Debug, Clone, Copy)]
struct GivenUp {
    span: Span,
    /// When its first transmission would have been decoded.
    due: Nanos,
    /// When HARQ gave it up.
    at: Nanos,
}

impl Transit {
    pub fn receive(&mut self, span: Span, due: Nanos, decoded: Nanos) {
        let before = |other: &Received| other.span.start < span.start;
        let at = match self.received.back() {
            Some(last) if !before(last) => self.received.partition_point(before),
            _ => self.received.len(),
        };
        let received = Received { span, due, decoded };
        self.received.insert(at, received);
    }

    pub fn give_up(&mut self, span: Span, due: Nanos, at: Nanos) {
        self.given_up.push(GivenUp { span, due, at });
    }

    /// The bytes of the stream from `next` on have never been sent: others will be in their place.
    pub fn take_back(&mut self, next: u64) {
        let cut = |span: &mut Span| {
            span.end = span.end.min(next);
            span.start < span.end
        };
        self.received.retain_mut(|one| cut(&mut one.span));
        self.given_up.retain_mut(|one| cut(&mut one.span));
    }

    /// Notes what is retransmitted, as the serving cell or leg changed while it was on its way.
    pub fn interrupt(&mut self, part: Span) {
        self.interrupted.push(part);
    }

    /// Adds to a packet, the bytes `span` of the stream, how it crossed: its last byte was first sent at `sent`, and it
    /// left in order at `left`. To be called once for each packet in order.
    pub fn account<T>(&mut self, packet: &mut Packet<T>, span: Span, sent: Nanos, left: Nanos) {
        let mine = |other: Span| other.start < span.end && other.end > span.start;
        let has_last = |other: Span| other.start < span.end && other.end >= span.end;
        let pieces = self
            .received
            .iter()
            .take_while(|one| one.span.start < span.end);
        let pieces = pieces.filter(|one| mine(one.span));
        let last = pieces.clone().max_by_key(|one| one.decoded).copied();
        let (whole, slowest) = last.map_or((sent, span), |one| (one.decoded, one.span));
        if self.interrupted.iter().any(|&part| mine(part)) {
            packet.waited(Part::Handover, whole - sent);
            packet.waited(Part::Order, left - whole);
            return self.forget(span.end);
        }
        let lost = |test: &dyn Fn(Span) -> bool| {
            self.given_up
                .iter()
                .find(|one| mine(one.span) && test(one.span))
        };
        let due = lost(&has_last).map_or_else(
            || {
                pieces
                    .clone()
                    .find(|one| has_last(one.span))
                    .map_or(sent, |one| one.due)
            },
            |one| one.due,
        );
        let meets = |other: Span| other.start < slowest.end && other.end > slowest.start;
        let harq_until = lost(&meets).map_or(whole, |one| one.at.clamp(due, whole));
        packet.waited(Part::Transmission, due - sent);
        packet.waited(Part::Harq, harq_until - due);
        packet.waited(Part::Rlc, whole - harq_until);
        packet.waited(Part::Order, left - whole);
        self.forget(span.end);
    }

    /// Forgets what ends by this offset.
    pub fn forget(&mut self, end: u64) {
        while self.received.front().is_some_and(|one| one.span.end <= end) {
            self.received.pop_front();
        }
        self.given_up.retain(|one| one.span.end > end);
        self.interrupted.retain(|one| one.end > end);
    }
}
