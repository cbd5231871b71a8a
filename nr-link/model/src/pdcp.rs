// SPDX-License-Identifier: Apache-2.0
//! Forwarding of downlink data from the source of a handover to its target (TS 38.300 clause 9.2.3.2.3): over Xn, which
//! has a delay and a rate, in order, up to the end marker. Packets that the core sends to the target wait for it.
//!
//! What else PDCP does at a handover is in `rlc`, whose stream is PDCP's sequence: retransmission of what the receiver
//! lacks, and reordering.

use crate::Nanos;
use crate::config::Handover;
use crate::delays::Part;
use crate::packet::Packet;
use crate::rlc::Queued;
use crate::time::Timeline;

/// Xn between two gNBs, for the data of one UE.
#[derive(Debug)]
struct Xn {
    delay: Nanos,
    bits_per_s: f64,
    /// When it has sent all that entered.
    free: Nanos,
}

impl Xn {
    /// Returns when a packet arrives that enters at `now`.
    fn carry(&mut self, bytes: u32, now: Nanos) -> Nanos {
        let serialisation = 8e9 * f64::from(bytes) / self.bits_per_s;
        self.free = self.free.max(now) + serialisation.round() as Nanos;
        self.free + self.delay
    }
}

/// The way of packets from the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    /// Into the serving cell's buffer.
    Direct,
    /// To the source, which forwards them.
    Forwarded,
    /// To the source, which has no use for them.
    Discarded,
    /// To the target, behind the end marker.
    Behind,
}

/// A packet over Xn, or behind the end marker.
#[derive(Debug)]
pub(crate) struct Coming<T> {
    /// When it left the source's buffer, or came from the core.
    since: Nanos,
    arriving: Arriving<T>,
}

impl<T> Coming<T> {
    pub fn packet(&self) -> &Packet<T> {
        match &self.arriving {
            Arriving::Restore(queued) => queued.packet(),
            Arriving::Offer(packet) => packet,
        }
    }

    /// Arrives at a gNB at `now`.
    fn arrive(mut self, now: Nanos) -> Arriving<T> {
        let waited = now - self.since;
        self.arriving.packet_mut().waited(Part::Handover, waited);
        self.arriving
    }
}

/// The next step of a packet from the core.
#[derive(Debug)]
pub(crate) enum Entered<T> {
    /// The gNB's buffer takes it or drops it.
    Here(Packet<T>),
    /// The target will have it.
    Underway,
    /// The source has no use for it.
    Discarded(Packet<T>),
}

/// A packet that arrives at the target.
#[derive(Debug)]
pub(crate) enum Arriving<T> {
    /// It was in the source's buffer, and goes into the target's.
    Restore(Queued<T>),
    /// It came from the core since: the buffer takes it or drops it.
    Offer(Packet<T>),
}

impl<T> Arriving<T> {
    fn packet_mut(&mut self) -> &mut Packet<T> {
        match self {
            Self::Restore(queued) => &mut queued.waiting.packet,
            Self::Offer(packet) => packet,
        }
    }
}

/// The forwarding of one UE's downlink.
#[derive(Debug)]
pub(crate) struct Forwarding<T> {
    xn: Xn,
    enabled: bool,
    path_switch: Nanos,
    route: Route,
    /// When the core begins to send to the target.
    switches: Option<Nanos>,
    /// When the target has the end marker.
    end_marker: Option<Nanos>,
    coming: Timeline<Coming<T>>,
    pub forwarded_bytes: u64,
    /// Bytes of packets that the source had no use for, since the handover.
    pub discarded_bytes: u64,
}

impl<T> Forwarding<T> {
    pub fn new(config: &Handover) -> Self {
        Self {
            xn: Xn {
                delay: config.xn_delay,
                bits_per_s: config.xn_bits_per_s,
                free: 0,
            },
            enabled: config.forwarding,
            path_switch: config.path_switch,
            route: Route::Direct,
            switches: None,
            end_marker: None,
            coming: Timeline::default(),
            forwarded_bytes: 0,
            discarded_bytes: 0,
        }
    }

    /// Begins: what the core sends from now on is forwarded, or discarded without forwarding. Returns what was still on
    /// its way from the handover before.
    pub fn begin(&mut self) -> Vec<Coming<T>> {
        self.route = match self.enabled {
            true => Route::Forwarded,
            false => Route::Discarded,
        };
        self.switches = None;
        self.end_marker = None;
        self.forwarded_bytes = 0;
        self.discarded_bytes = 0;
        let coming = std::mem::take(&mut self.coming);
        coming.into_items().collect()
    }

    /// Returns whether packets go by the source of a handover.
    pub fn has_begun(&self) -> bool {
        self.route != Route::Direct
    }

    /// Returns when all is at its target that has entered Xn so far.
    pub fn arrived(&self) -> Nanos {
        self.xn.free + self.xn.delay
    }

    /// Sends a packet over Xn that the UE lacks and the source has sent before; returns when the target has it.
    pub fn forward_sent(&mut self, bytes: u32, now: Nanos) -> Nanos {
        self.forwarded_bytes += u64::from(bytes);
        self.xn.carry(bytes, now)
    }

    /// Sends a packet of the source's buffer over Xn.
    pub fn forward(&mut self, queued: Queued<T>, now: Nanos) {
        let arriving = Arriving::Restore(queued);
        self.forward_on(
            Coming {
                since: now,
                arriving,
            },
            now,
        );
    }

    /// Sends on what was on its way to a gNB that the UE has left in the meantime.
    pub fn forward_on(&mut self, coming: Coming<T>, now: Nanos) {
        let arrives = self.forward_sent(coming.packet().bytes, now);
        self.coming.push(arrives, coming);
    }

    /// The target serves the UE from `now` on, and asks for the switch of the path.
    pub fn complete(&mut self, now: Nanos) {
        if self.has_begun() {
            self.switches = Some(now + self.path_switch);
        }
    }

    /// Takes a packet that the core sent and that reaches a gNB at `now`.
    pub fn enter(&mut self, packet: Packet<T>, now: Nanos) -> Entered<T> {
        self.switch(now);
        let fresh = |packet| Coming {
            since: now,
            arriving: Arriving::Offer(packet),
        };
        match self.route {
            Route::Direct => Entered::Here(packet),
            Route::Discarded => {
                self.discarded_bytes += u64::from(packet.bytes);
                Entered::Discarded(packet)
            }
            Route::Forwarded => {
                self.forward_on(fresh(packet), now);
                Entered::Underway
            }
            Route::Behind => {
                let arrives = self.end_marker.unwrap_or(now).max(now);
                self.coming.push(arrives, fresh(packet));
                Entered::Underway
            }
        }
    }

    /// Moves on by `now`: the core sends to the target, and the source an end marker.
    fn switch(&mut self, now: Nanos) {
        if let Some(switches) = self.switches.filter(|&switches| switches <= now) {
            self.switches = None;
            self.end_marker = Some(self.xn.free.max(switches) + self.xn.delay);
            self.route = Route::Behind;
        }
    }

    /// Returns the next packet that the target has by `now`.
    pub fn arrive(&mut self, now: Nanos) -> Option<(Nanos, Arriving<T>)> {
        let (arrived, coming) = self.coming.pop(now)?;
        Some((arrived, coming.arrive(arrived)))
    }

    /// Ends at `now` a handover whose target the UE did not reach; returns what was on its way. The core has sent to no other
    /// gNB.
    pub fn cancel(&mut self, now: Nanos) -> impl Iterator<Item = Arriving<T>> {
        self.route = Route::Direct;
        let coming = std::mem::take(&mut self.coming).into_items();
        coming.map(move |coming| coming.arrive(now))
    }

    /// Returns whether the handover's data is all in place by `now`, once.
    pub fn ends(&mut self, now: Nanos) -> bool {
        self.switch(now);
        let marked = self.end_marker.is_some_and(|marker| marker <= now);
        let ended = marked && self.coming.is_empty();
        if ended {
            self.end_marker = None;
            self.route = Route::Direct;
        }
        ended
    }

    /// Returns the packets on their way.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<T>> {
        self.coming.items().map(Coming::packet)
    }

    /// Returns whether nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.coming.is_empty()
    }
}
