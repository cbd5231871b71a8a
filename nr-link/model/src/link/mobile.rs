// SPDX-License-Identifier: Apache-2.0
//! A UE among several cells: its connection, and what happens to its data when it changes the cell.

use crate::Nanos;
use crate::config::{Handover, RadioConfig};
use crate::ids::{CellId, UeId};
use crate::mac::ue::Ue;
use crate::packet::Packet;
use crate::pdcp::{Arriving, Entered, Forwarding};
use crate::radio_events::{EventKind, RadioEvent};
use crate::rlc::Lacking;
use crate::rrc::{Connection, Prescribed};

/// A UE among several cells.
#[derive(Debug)]
pub(super) struct Mobile<T> {
    pub connection: Connection,
    pub forwarding: Forwarding<T>,
    /// The cell that served the UE last.
    pub left: CellId,
    handed_over: HandedOver,
}

/// The data of the last handover.
#[derive(Debug, Clone, Copy, Default)]
struct HandedOver {
    source: CellId,
    /// The source, until a target serves the UE.
    target: CellId,
    retransmitted_bytes: u64,
    lost_bytes: u64,
}

impl<T> Mobile<T> {
    /// Makes a UE that has yet to select its first cell.
    fn new(connection: Connection, config: &Handover) -> Self {
        Self {
            connection,
            forwarding: Forwarding::new(config),
            left: CellId::default(),
            handed_over: HandedOver::default(),
        }
    }

    /// Takes a downlink packet that arrived from the core, or over Xn.
    pub fn admit(&mut self, ue: &mut Ue<T>, packet: Packet<T>, arrived: Nanos) {
        match self.forwarding.enter(packet, arrived) {
            Entered::Here(packet) => ue.dl.rlc.buffer.offer(packet, arrived),
            Entered::Underway => {}
            Entered::Discarded(packet) => ue.dl.lose(&packet),
        }
    }

    /// Puts what has arrived over Xn by `now` into the target's buffer.
    pub fn receive(&mut self, ue: &mut Ue<T>, now: Nanos) {
        while let Some((arrived, arriving)) = self.forwarding.arrive(now) {
            put(ue, arriving, arrived);
        }
    }

    /// A target serves the UE from `now` on.
    pub fn complete(&mut self, target: CellId, now: Nanos) {
        self.handed_over.target = target;
        self.forwarding.complete(now);
    }

    /// Hands the data of a UE over at `now`; `over_xn` is whether it has yet to cross Xn. Returns what became of the data
    /// of the handover before, if that was still under way.
    pub fn hand_over(
        &mut self,
        ue: &mut Ue<T>,
        config: &Handover,
        over_xn: bool,
        now: Nanos,
    ) -> Option<RadioEvent> {
        let under_way = self.forwarding.has_begun();
        let before = under_way.then(|| self.data_forwarded(now, ue.id));
        let forwarding = &mut self.forwarding;
        let waiting = forwarding.begin();
        let t_reordering = config.t_reordering;
        let lost = |queue_too| Lacking::Lost {
            queue_too,
            t_reordering,
        };
        let acknowledged = ue.dl.rlc.is_acknowledged_mode();
        let [mut retransmitted, mut discarded] = [0; 2];
        if !config.forwarding {
            discarded += ue.dl.rlc.reestablish(lost(true), now);
            for packet in waiting {
                discarded += u64::from(packet.packet().bytes);
                ue.dl.lose(packet.packet());
            }
        } else {
            if acknowledged {
                let mut ready = |bytes| match over_xn {
                    true => forwarding.forward_sent(bytes, now),
                    false => now,
                };
                let lacking = Lacking::Retransmitted {
                    keeps: true,
                    ready: &mut ready,
                };
                retransmitted += ue.dl.rlc.reestablish(lacking, now);
            } else {
                discarded += ue.dl.rlc.reestablish(lost(false), now);
            }
            if over_xn {
                for queued in ue.dl.rlc.buffer.take_all(now) {
                    forwarding.forward(queued, now);
                }
            }
            for coming in waiting {
                forwarding.forward_on(coming, now);
            }
        }
        if acknowledged {
            // A source that forwards nothing discards what it could not deliver in order.
            let lacking = Lacking::Retransmitted {
                keeps: config.forwarding,
                ready: &mut |_| now,
            };
            retransmitted += ue.ul.rlc.reestablish(lacking, now);
        } else {
            discarded += ue.ul.rlc.reestablish(lost(false), now);
        }
        for bearer in [&mut ue.dl, &mut ue.ul] {
            bearer.rlc.number_from_0();
        }
        self.handed_over = HandedOver {
            source: self.left,
            target: self.left,
            retransmitted_bytes: retransmitted,
            lost_bytes: discarded,
        };
        before
    }

    /// Keeps the data in place, where source and target share RLC and PDCP (TS 38.300 clause 9.2.3.5): what was in
    /// transmission is retransmitted, in the downlink from `there` on.
    pub fn keep_data(ue: &mut Ue<T>, there: Nanos, now: Nanos) {
        for (bearer, there) in [(&mut ue.dl, there), (&mut ue.ul, now)] {
            let lacking = match bearer.rlc.is_acknowledged_mode() {
                true => Lacking::Retransmitted {
                    keeps: true,
                    ready: &mut |_| there,
                },
                false => Lacking::Lost {
                    queue_too: false,
                    t_reordering: 0,
                },
            };
            bearer.rlc.reestablish(lacking, now);
        }
    }

    /// Re-establishes RLC and PDCP in the cell that the UE has left (TS 38.331 clause 5.3.7): nothing crosses Xn. Returns what
    /// became of the data of a handover whose target the UE did not reach; the source has kept it (TS 38.300 clause 9.2.3.2.1:
    /// until it releases the UE's context).
    pub fn reestablish(&mut self, ue: &mut Ue<T>, now: Nanos) -> Option<RadioEvent> {
        let is_source = self.handed_over.target == self.handed_over.source;
        let has_left = self.forwarding.has_begun() && is_source;
        // What another source has forwarded to this cell may still be on its way.
        let there = match has_left {
            true => now,
            false => self.forwarding.arrived().max(now),
        };
        Self::keep_data(ue, there, now);
        for bearer in [&mut ue.dl, &mut ue.ul] {
            bearer.rlc.number_from_0();
        }
        if !has_left {
            return None;
        }
        for arriving in self.forwarding.cancel(now) {
            put(ue, arriving, now);
        }
        Some(self.data_forwarded(now, ue.id))
    }

    pub fn data_forwarded(&self, time: Nanos, ue: UeId) -> RadioEvent {
        let HandedOver {
            source,
            target,
            retransmitted_bytes,
            lost_bytes,
        } = self.handed_over;
        RadioEvent {
            time,
            ue,
            kind: EventKind::DataForwarded {
                cell: source.0,
                target: target.0,
                forwarded_bytes: self.forwarding.forwarded_bytes,
                retransmitted_bytes,
                discarded_bytes: lost_bytes + self.forwarding.discarded_bytes,
            },
        }
    }
}

/// Puts what a gNB has from `now` on into its buffer.
fn put<T>(ue: &mut Ue<T>, arriving: Arriving<T>, now: Nanos) {
    match arriving {
        Arriving::Restore(queued) => ue.dl.rlc.buffer.restore(queued, now),
        Arriving::Offer(packet) => ue.dl.rlc.buffer.offer(packet, now),
    }
}

/// Makes the UEs among several cells; none if there is one cell.
pub(super) fn mobiles<T>(
    radio: &RadioConfig,
    ues: &[Ue<T>],
    prescribed: Vec<Option<Prescribed>>,
) -> Vec<Mobile<T>> {
    let ues = ues.iter().zip(prescribed);
    ues.filter(|(ue, _)| ue.surroundings.cells() > 1)
        .map(|(ue, prescribed)| {
            let cells = ue.surroundings.cells();
            let connection = Connection::new(ue.id, &radio.handover, cells, prescribed);
            Mobile::new(connection, &radio.handover)
        })
        .collect()
}
