// SPDX-License-Identifier: Apache-2.0
//! One UE's share of an uplink slot on one carrier: the grant first, the transmission slots later.

use super::adaptation::{Adaptation, LOWEST};
use super::cell::{Capacity, Cell, Room, Space};
use super::csi::Report;
use super::grants::{Content, Grant};
use super::harq::{Block, Feedback};
use super::power::{Power, uplink_snr};
use super::serving::{Outcome, Serving};
use super::ue::Ue;
use crate::headers::{BUFFER_STATUS_BYTES, MOST_SEGMENT_BYTES, SHORTEST_SEGMENT_BYTES};
use crate::link::OfUe;
use crate::timeline::Timeline;

/// The least that moves data: a report, and a segment behind its headers.
const LEAST_BYTES: u32 = BUFFER_STATUS_BYTES + MOST_SEGMENT_BYTES + SHORTEST_SEGMENT_BYTES;

/// An MCS on an allocation, and the SNR of a layer that it was chosen for.
#[derive(Debug, Clone, Copy)]
struct Choice {
    mcs: u8,
    room: Room,
    snr_db: f64,
}

impl<T> Ue<T> {
    /// The gNB learns what it can know by `slot`, and gives up gaps whose time has come.
    pub fn learn_uplink(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        out: &mut Timeline<OfUe<T>>,
    ) {
        let start = cell.timing.start(carrier, slot);
        let half = &mut self.serving[carrier].ul;
        while let Some(feedback) = half.learn(&cell.schemes, slot, narrows) {
            if let Feedback::GivenUp(block) = feedback {
                self.buffer_status.lose();
                let missed = cell.timing.decoded_by_gnb(carrier, block.slot);
                self.ul
                    .give_up(&block, missed, start, |at| cell.timing.status_of_gnb(at));
            }
        }
        half.adaptation.come_to(&cell.schemes, slot);
        self.ul.rlc.expire(start);
        self.depart_up(out);
    }

    /// Bytes of a new block that takes all of `room`; 0 while no report is in force.
    pub fn uplink_bytes(&self, cell: &Cell, carrier: usize, space: Space) -> u32 {
        let Serving { csi, ul, .. } = &self.serving[carrier];
        csi.in_force().map_or(0, |report| {
            let Choice { mcs, room, .. } = widest(&ul.adaptation, cell, report, space);
            cell.block_bytes(mcs, room)
        })
    }

    /// A grant in slot `at` for the longest waiting failed block that fits in `space`.
    pub fn grant_again(&mut self, carrier: usize, at: u64, space: Space) -> Option<Grant> {
        let (process, block) = self.serving[carrier].ul.harq.take_failed(space.fits())?;
        Some(self.granted(carrier, at, process, Content::Again(block)))
    }

    /// In slot `now` the gNB decides what new data the UE sends in slot `at`, of which `space` is
    /// left.
    pub fn grant_new(
        &mut self,
        cell: &Cell,
        carrier: usize,
        now: u64,
        at: u64,
        space: Space,
    ) -> Option<Grant> {
        let serving = &mut self.serving[carrier];
        let report = *serving
            .csi
            .in_force()
            .filter(|_| serving.ul.harq.has_free())?;
        let believed = self.buffer_status.believed(cell.timing.start(carrier, now));
        if believed == 0 {
            let reports = serving.csi.version();
            let whole = space.room(report.rank.ul);
            let capacity = serving.ul.idle_capacity(whole, reports, |adaptation| {
                let Choice { snr_db, room, .. } = widest(adaptation, cell, &report, space);
                cell.expected(adaptation.settled(&cell.schemes, snr_db), room, snr_db)
            });
            self.ul.account.could_carry(capacity);
            return None;
        }
        let adaptation = &serving.ul.adaptation;
        let widest = widest(adaptation, cell, &report, space);
        let wanted = believed + u64::from(BUFFER_STATUS_BYTES);
        let taken = narrowest(adaptation, cell, &report, widest, wanted);
        let bytes = cell.block_bytes(taken.mcs, taken.room);
        let full = f64::from(cell.block_bytes(widest.mcs, widest.room).max(bytes));
        let full = Capacity {
            bytes: full,
            sdu_bytes: cell.ip_bytes(full),
        };
        let process = serving.ul.harq.reserve()?;
        self.buffer_status
            .grant(cell.timing.start(carrier, at), u64::from(bytes));
        let content = Content::New {
            mcs: taken.mcs,
            room: taken.room,
            bytes,
            full,
        };
        Some(self.granted(carrier, at, process, content))
    }

    fn granted(&self, carrier: usize, slot: u64, process: usize, content: Content) -> Grant {
        Grant {
            slot,
            ue: self.index,
            carrier,
            process,
            content,
        }
    }

    /// The UE sends what it was granted. Packets that become complete go to `out`.
    pub fn send_up(&mut self, cell: &Cell, grant: Grant, out: &mut Timeline<OfUe<T>>) {
        let block = match grant.content {
            Content::Again(block) => block,
            Content::New {
                mcs,
                room,
                bytes,
                full,
            } => self.build_up(cell, &grant, mcs, room, bytes, full),
        };
        self.observe_up(cell, &grant, &block);
        let outcome = Outcome {
            decoded: cell.timing.decoded_by_gnb(grant.carrier, grant.slot),
            known: cell.timing.used_by_gnb(grant.carrier, grant.slot),
        };
        let Serving { seen, ul, .. } = &mut self.serving[grant.carrier];
        let arrived = ul.transmit(
            &mut self.ul,
            grant.process,
            block,
            &cell.schemes,
            &seen.sinr_db,
            outcome,
        );
        if arrived {
            let built = cell.timing.start(grant.carrier, block.slot);
            self.buffer_status
                .report(built, block.buffer_status, outcome.decoded);
        }
        self.depart_up(out);
    }

    /// What has become complete at the gNB leaves.
    fn depart_up(&mut self, out: &mut Timeline<OfUe<T>>) {
        while let Some((left, packet)) = self.ul.depart() {
            out.push(left, (self.index, packet));
        }
    }

    /// The UE asks to be heard, in a slot of the primary carrier, if it has data that the gNB does
    /// not know of.
    pub fn request(&mut self, cell: &Cell, slot: u64) {
        let start = cell.timing.start(0, slot);
        if self.buffer_status.unannounced() && self.ul.rlc.backlog_bytes(start) > 0 {
            self.buffer_status
                .request(start, cell.timing.decoded_by_gnb(0, slot));
        }
    }

    fn build_up(
        &mut self,
        cell: &Cell,
        grant: &Grant,
        mcs: u8,
        room: Room,
        bytes: u32,
        full: Capacity,
    ) -> Block {
        let start = cell.timing.start(grant.carrier, grant.slot);
        let payload = self
            .ul
            .rlc
            .fill_or_nothing(bytes - BUFFER_STATUS_BYTES, start);
        let left = self.ul.rlc.backlog_bytes(start);
        self.buffer_status.announce(left);
        let header_bytes = payload.header_bytes + BUFFER_STATUS_BYTES;
        let unused = full.bytes - f64::from(payload.bytes());
        Block {
            span: payload.span,
            header_bytes,
            bytes,
            mcs,
            prb: room.prb,
            re_per_prb: room.re_per_prb,
            layers: room.layers,
            round: 0,
            sinr: 0.0,
            capacity_bytes: full.bytes,
            capacity_sdu_bytes: f64::from(payload.span.bytes()) + cell.ip_bytes(unused),
            slot: grant.slot,
            buffer_status: left,
        }
    }

    /// Leaves in the carrier's `seen` the SNRs of each layer at the gNB.
    fn observe_up(&mut self, cell: &Cell, grant: &Grant, block: &Block) {
        let start = cell.timing.start(grant.carrier, grant.slot);
        let Serving {
            channel, csi, seen, ..
        } = &mut self.serving[grant.carrier];
        channel.observe(start, seen);
        let Some(report) = csi.in_force() else {
            return;
        };
        let power = Power::of(cell.uplink, report, block.prb);
        let noise_dbm = channel.noise_ul_dbm_per_re(start);
        if grant.carrier == 0 {
            self.gauges.headroom_db = Some(power.headroom_db);
            self.gauges
                .rssi_dbm
                .add(power.rssi_dbm(seen.instant_loss_db, noise_dbm, block.prb));
        }
        uplink_snr(seen, power, noise_dbm);
        cell.layers.ul.divide(&mut seen.sinr_db, block.layers);
    }
}

fn choose(adaptation: &Adaptation, cell: &Cell, report: &Report, room: Room) -> Choice {
    let power = Power::of(cell.uplink, report, room.prb);
    let snr_db = power.expected_snr_db(report);
    let snr_db = cell.layers.ul.each_db(snr_db, room.layers);
    Choice {
        mcs: adaptation.choose(&cell.schemes, snr_db),
        room,
        snr_db,
    }
}

/// The most PRBs of `space` on which the UE's power still bears the lowest MCS; no fewer than carry
/// data. A UE spreads P_CMAX over what it is granted (TS 38.213 clause 7.1.1): behind a path that
/// leaves too little for each PRB of the whole carrier, it is heard on some of them.
fn widest(adaptation: &Adaptation, cell: &Cell, report: &Report, space: Space) -> Choice {
    let whole = space.room(report.rank.ul);
    let on = |prb: u16| choose(adaptation, cell, report, whole.narrowed(prb));
    let bears = |prb: u16| {
        let bytes = cell.block_bytes(LOWEST, whole.narrowed(prb));
        adaptation.bears_lowest(&cell.schemes, bytes, on(prb).snr_db)
    };
    if bears(whole.prb) {
        return on(whole.prb);
    }
    let mut low = cell.narrowest(LOWEST, whole, u64::from(LEAST_BYTES)).prb;
    let mut high = whole.prb;
    while low + 1 < high {
        let middle = (low + high) / 2;
        if bears(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    on(low)
}

/// Whether a block could have had half the PRBs.
fn narrows(block: &Block) -> bool {
    block.bytes >= 2 * LEAST_BYTES
}

/// Fewer PRBs where they hold all that waits; with the power on fewer, the MCS may be higher.
fn narrowest(
    adaptation: &Adaptation,
    cell: &Cell,
    report: &Report,
    widest: Choice,
    bytes: u64,
) -> Choice {
    let room = cell.narrowest(widest.mcs, widest.room, bytes);
    let narrowed = choose(adaptation, cell, report, room);
    Choice {
        room: cell.narrowest(narrowed.mcs, room, bytes),
        ..narrowed
    }
}
