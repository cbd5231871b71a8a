// SPDX-License-Identifier: Apache-2.0
//! The way into a target cell: processing, synchronisation, random access (TS 38.321 clause 5.1) and the completion.

use super::measurements::SSB_PERIOD;
use super::signalling::{Air, Fate, Kind, Message};
use crate::Nanos;
use crate::config::{Handover, HandoverKind};
use crate::ids::{CarrierId, CellId};

/// T_margin of TS 38.133 clause 6.1.1.2: reception of the SSB to the end, and its processing.
const MARGIN: Nanos = 2_000_000;
/// The SNR at which a gNB with two antennas detects 99 % of the preambles of format 0, dB (TS 38.104 table 8.4.2.2-1).
const DETECTED_SNR_DB: f64 = -14.5;
/// PRBs of a preamble of 139 subcarriers (TS 38.211 clause 6.3.3.2).
const PREAMBLE_PRB: u16 = 12;
/// T301, for a re-establishment: 100 to 2000 ms in TS 38.331 (UE-TimersAndConstants); chosen.
const T301: Nanos = 1_000_000_000;

/// The cause for which a UE enters a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Handover,
    /// After a failure in the source.
    Reestablishment,
}

/// The UE's way into `target`.
#[derive(Debug)]
pub(super) struct Access {
    pub source: CellId,
    pub target: CellId,
    pub cause: Cause,
    /// When the execution began.
    pub began: Nanos,
    /// When the source serves the UE no longer; with DAPS, when it fails.
    pub left: Nanos,
    /// When processing ends, and when random access begins.
    pub processed: Nanos,
    pub ready: Nanos,
    /// When the UE gives up: T304, or T301.
    pub deadline: Nanos,
    pub attempts: u32,
    period: Nanos,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// Until the next preamble.
    Waiting(Nanos),
    Response(Message),
    Completing(Message),
}

/// The progress in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    Underway,
    /// A preamble was sent.
    Preamble,
    /// The target serves the UE.
    Complete,
    Failed,
}

impl Access {
    /// Begins the execution of a handover at `now`.
    pub fn by_handover(
        source: CellId,
        target: CellId,
        now: Nanos,
        config: &Handover,
        air: &mut Air,
    ) -> Self {
        // TS 38.133 clause 6.1.1.2: T_search is 0 for a known cell, and T_Δ ends with the first SSB.
        let processing = match config.kind {
            HandoverKind::Ltm => config.ltm_processing,
            HandoverKind::Cho => config.ue_processing,
            _ => config.rrc_processing + config.ue_processing,
        };
        let processed = now + processing;
        let is_ltm = config.kind == HandoverKind::Ltm;
        let ready = match is_ltm {
            true => processed, // it is in sync with candidates
            false => processed.next_multiple_of(SSB_PERIOD) + MARGIN,
        };
        let mut access = Self::to(source, target, Cause::Handover, now, ready, config);
        access.processed = processed;
        if is_ltm {
            // It knows the timing advance: without random access.
            air.surroundings.aim(target, now);
            let completion = Message::new(Kind::Completion, target, ready, air.cell);
            access.phase = Phase::Completing(completion);
        }
        access
    }

    /// Begins the re-establishment at `now`, in the cell that was selected.
    pub fn by_reestablishment(
        source: CellId,
        target: CellId,
        left: Nanos,
        now: Nanos,
        config: &Handover,
    ) -> Self {
        let access = Self::to(source, target, Cause::Reestablishment, now, now, config);
        let deadline = now + T301;
        Self {
            left,
            deadline,
            ..access
        }
    }

    fn to(
        source: CellId,
        target: CellId,
        cause: Cause,
        now: Nanos,
        ready: Nanos,
        config: &Handover,
    ) -> Self {
        let period = config.random_access_period;
        Self {
            source,
            target,
            cause,
            began: now,
            left: now,
            processed: now,
            ready,
            deadline: now + config.failure.t304,
            attempts: 0,
            period,
            phase: Phase::Waiting(ready.next_multiple_of(period)),
        }
    }

    /// Runs the slot that starts at `now`.
    pub fn run(&mut self, now: Nanos, air: &mut Air) -> Progress {
        if now > self.deadline {
            return Progress::Failed;
        }
        match &mut self.phase {
            Phase::Waiting(occasion) if now < *occasion => Progress::Underway,
            Phase::Waiting(_) => {
                self.attempts += 1;
                self.send_preamble(now, air);
                Progress::Preamble
            }
            Phase::Response(message) => match message.run(now, air) {
                Fate::Underway => Progress::Underway,
                Fate::Arrived => {
                    let completion = Message::new(Kind::Completion, self.target, now, air.cell);
                    self.phase = Phase::Completing(completion);
                    Progress::Underway
                }
                Fate::Lost => self.again(now),
            },
            Phase::Completing(message) => match message.run(now, air) {
                Fate::Underway => Progress::Underway,
                Fate::Arrived => Progress::Complete,
                Fate::Lost => self.again(now),
            },
        }
    }

    fn send_preamble(&mut self, now: Nanos, air: &mut Air) {
        air.surroundings.aim(self.target, now);
        let timing = &air.cell.timing;
        let uplink = air.cell.uplink;
        let snr_db = air
            .surroundings
            .uplink_snr_db(self.target, now, PREAMBLE_PRB, uplink);
        let sent = timing.next_uplink(now);
        self.phase = if snr_db >= DETECTED_SNR_DB {
            let detected = timing.decoded_by_gnb(CarrierId::PRIMARY, sent);
            Phase::Response(Message::new(
                Kind::Response,
                self.target,
                detected,
                air.cell,
            ))
        } else {
            // The response window passes.
            Phase::Waiting((now + 1 + self.period).next_multiple_of(self.period))
        };
    }

    fn again(&mut self, now: Nanos) -> Progress {
        self.phase = Phase::Waiting((now + 1).next_multiple_of(self.period));
        Progress::Underway
    }
}
