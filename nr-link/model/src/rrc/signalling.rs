// SPDX-License-Identifier: Apache-2.0
//! A message of RRC or MAC as a transmission that can be lost: the lowest MCS on the primary carrier, up to four rounds
//! of HARQ, and for messages in acknowledged mode RLC's retransmissions.

use crate::Direction;
use crate::config::Uplink;
use crate::counters::MAX_ROUNDS;
use crate::ids::{CarrierId, CellId};
use crate::mac::activity::Activity;
use crate::mac::adaptation::LOWEST;
use crate::mac::beams::Beams;
use crate::mac::cell::Cell;
use crate::mac::drx::Drx;
use crate::mac::surroundings::Surroundings;
use crate::radio::decibel;
use crate::time::{Nanos, Slot};

const PRIMARY: CarrierId = CarrierId::PRIMARY;
/// The default configuration of a signalling radio bearer (TS 38.331 clause 9.2.1): t-PollRetransmit 45 ms,
/// maxRetxThreshold 8.
const POLL_RETRANSMIT: Nanos = 45_000_000;
const RETRANSMISSIONS: u32 = 8;

/// The kind of a message, which sets its size and what happens when it is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// MeasurementReport. Sizes are chosen: they are those of messages with a few cells.
    Report,
    /// RRCReconfiguration with reconfigurationWithSync, by the source.
    Command,
    /// The cell switch command of LTM, a MAC control element.
    SwitchCommand,
    /// The random access response, which has no HARQ.
    Response,
    /// RRCReconfigurationComplete or RRCReestablishmentRequest, in the grant of the response.
    Completion,
}

impl Kind {
    fn bytes(self) -> u32 {
        match self {
            Self::Report => 60,
            Self::Command => 300,
            Self::SwitchCommand | Self::Response => 16,
            Self::Completion => 30,
        }
    }

    fn direction(self) -> Direction {
        match self {
            Self::Report | Self::Completion => Direction::Uplink,
            Self::Command | Self::SwitchCommand | Self::Response => Direction::Downlink,
        }
    }

    fn rounds(self) -> usize {
        if self == Self::Response {
            1
        } else {
            MAX_ROUNDS
        }
    }

    /// Returns whether the sender waits for the UE's Active Time (TS 38.321 clause 5.7), which the access to a cell belongs to.
    fn waits_for_active_time(self) -> bool {
        matches!(self, Self::Command | Self::SwitchCommand)
    }

    fn is_acknowledged_mode(self) -> bool {
        matches!(self, Self::Report | Self::Command)
    }
}

/// The fate of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Underway,
    /// The receiver has decoded it.
    Arrived,
    Lost,
}

/// A message on its way between the UE and a cell.
#[derive(Debug)]
pub(super) struct Message {
    kind: Kind,
    cell: CellId,
    /// The slot of the next transmission.
    slot: Slot,
    rounds: usize,
    retransmissions: u32,
    pub transmissions: u32,
    /// Sum of the SINRs of this round of HARQ, ratio.
    sinr: f64,
    /// When the receiver has decoded it, if it was received.
    decoded: Option<Nanos>,
}

/// The cell and the channels that a message is sent over, and the receiver's sleep.
pub(crate) struct Air<'a> {
    pub cell: &'a Cell,
    pub surroundings: &'a mut Surroundings,
    pub activity: Option<&'a mut Activity>,
    pub beams: Option<&'a Beams>,
}

impl Air<'_> {
    fn uplink(&self) -> Uplink {
        self.cell.uplink
    }

    /// Returns the DRX timers, if the UE has DRX.
    pub fn drx(&mut self) -> Option<&mut Drx> {
        self.activity.as_deref_mut().and_then(Activity::drx)
    }

    fn listens(&self, now: Nanos) -> bool {
        self.activity
            .as_deref()
            .is_none_or(|activity| activity.listens(now))
    }
}

impl Message {
    /// Makes a message that its sender has ready at `now`.
    pub fn new(kind: Kind, to_or_from: CellId, now: Nanos, cell: &Cell) -> Self {
        let timing = &cell.timing;
        let slot = match kind {
            // After a scheduling request.
            Kind::Report => {
                let requested = timing.next_request(now);
                timing.next_grant(timing.known_by_gnb(PRIMARY, requested))
            }
            // In the grant of the response, N2 and 0.5 ms after it (TS 38.213 clause 8.3).
            Kind::Completion => timing.next_uplink(now + timing.preparation_of_ue()),
            Kind::Command | Kind::SwitchCommand | Kind::Response => timing.next_downlink(now),
        };
        Self {
            kind,
            cell: to_or_from,
            slot,
            rounds: 0,
            retransmissions: 0,
            transmissions: 0,
            sinr: 0.0,
            decoded: None,
        }
    }

    /// Runs the slot that starts at `now`.
    pub fn run(&mut self, now: Nanos, air: &mut Air) -> Fate {
        if let Some(decoded) = self.decoded {
            return if decoded <= now {
                Fate::Arrived
            } else {
                Fate::Underway
            };
        }
        let timing = &air.cell.timing;
        if now < timing.start(PRIMARY, self.slot) {
            return Fate::Underway;
        }
        if self.rounds == 0 {
            if self.kind.waits_for_active_time() && !air.listens(now) {
                self.slot = timing.next_downlink(now + 1);
                return Fate::Underway;
            }
            self.keep_awake(now, air);
        }
        let timing = &air.cell.timing;
        self.transmissions += 1;
        self.rounds += 1;
        self.sinr += decibel::to_ratio(self.sinr_db(now, air));
        let sinr_db = decibel::from_ratio(self.sinr);
        let schemes = &air.cell.schemes;
        let failing = schemes.block_error_ratio(LOWEST, self.kind.bytes(), sinr_db);
        let (decoded, answered) = match self.kind.direction() {
            Direction::Downlink => (
                timing.decoded_by_ue(PRIMARY, self.slot),
                timing.acknowledged(PRIMARY, self.slot),
            ),
            Direction::Uplink => (
                timing.decoded_by_gnb(PRIMARY, self.slot),
                timing.used_by_gnb(PRIMARY, self.slot),
            ),
        };
        if !air.surroundings.draws.happens(failing) {
            self.decoded = Some(decoded);
            return Fate::Underway;
        }
        let mut ready = timing.start(PRIMARY, answered);
        if self.rounds == self.kind.rounds() {
            if !self.kind.is_acknowledged_mode() || self.retransmissions == RETRANSMISSIONS {
                return Fate::Lost;
            }
            self.retransmissions += 1;
            self.rounds = 0;
            self.sinr = 0.0;
            ready = ready.max(now + POLL_RETRANSMIT);
        }
        self.slot = match self.kind.direction() {
            Direction::Downlink => timing.next_downlink(ready),
            Direction::Uplink => timing.next_grant(ready),
        };
        Fate::Underway
    }

    /// "if the PDCCH indicates a new transmission (DL or UL): start or restart drx-InactivityTimer" (TS 38.321 clause 5.7). The
    /// PDCCH of an uplink message is some slots before it, in which the UE is awake as its request is pending.
    fn keep_awake(&self, now: Nanos, air: &mut Air) {
        let pdcch_end = air.cell.timing.pdcch_end(PRIMARY, self.slot);
        if let Some(drx) = air.drx() {
            if self.kind == Kind::Report {
                drx.report(now);
            }
            drx.new_transmission(now, pdcch_end);
        }
    }

    fn sinr_db(&self, now: Nanos, air: &mut Air) -> f64 {
        match self.kind.direction() {
            Direction::Downlink => air.surroundings.downlink_sinr_db(self.cell, now),
            Direction::Uplink => {
                let cell = air.cell;
                let whole = cell.whole_carrier(PRIMARY, Direction::Uplink, 1);
                let taken = cell.narrowest(LOWEST, whole, u64::from(self.kind.bytes()));
                let uplink = air.uplink();
                let surroundings = &mut air.surroundings;
                surroundings.uplink_snr_db(self.cell, now, taken.prb, uplink)
            }
        }
    }
}
