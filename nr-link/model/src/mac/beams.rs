// SPDX-License-Identifier: Apache-2.0
//! The beam that serves a UE: changes by reports, failure and recovery (TS 38.321 clause 5.17, TS 38.213 clause 6).

use crate::Nanos;
use crate::config::BeamConfig;
use crate::radio_events::EventKind;

/// Slots from the preamble to the gNB's answer: "from slot n + 4", and the slot of the answer itself (TS 38.213 clause 6).
const RESPONSE_SLOTS: Nanos = 5;
/// "after 28 symbols from a last symbol of a first PDCCH reception […], the UE assumes [the new beam]": two slots.
const SETTLE_SLOTS: Nanos = 2;

/// The measurements of a UE on the SSBs of all beams.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// SINR of the serving beam, dB.
    pub sinr_db: f64,
    /// RSRP of the serving beam, dBm.
    pub rsrp_dbm: f64,
    /// The strongest other beam, and its RSRP, dBm.
    pub best: Option<(usize, f64)>,
}

/// The beam of one UE.
#[derive(Debug)]
pub(crate) struct Beams {
    config: BeamConfig,
    /// Length of a slot.
    slot: Nanos,
    serving: usize,
    /// BFI_COUNTER.
    instances: u64,
    /// The end of beamFailureDetectionTimer.
    detection: Nanos,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// The beam serves the UE.
    Serving,
    /// The gNB changes to a beam at this time.
    Changing(usize, Nanos),
    /// The beam has failed at the first time, and no candidate is good enough yet.
    Failed(Nanos),
    /// The UE sends the preamble of a beam, and the beam serves at the last time. It had failed at the first.
    Recovering(Nanos, usize, Nanos),
}

impl Beams {
    pub fn new(config: BeamConfig, slot: Nanos) -> Self {
        Self {
            config,
            slot,
            serving: 0,
            instances: 0,
            detection: 0,
            state: State::Serving,
        }
    }

    /// Starts over in a cell that the UE entered by this beam.
    pub fn enter_cell(&mut self, beam: usize) {
        *self = Self {
            serving: beam,
            ..Self::new(self.config, self.slot)
        };
    }

    /// Returns whether recovery has failed by `now`: the UE found no candidate until it had sent preambleTransMax preambles,
    /// and MAC indicates "a Random Access problem to upper layers" (TS 38.321 clause 5.1.4).
    pub fn has_given_up(&self, now: Nanos) -> bool {
        let tries = self.config.preamble_trans_max * self.config.prach_period;
        matches!(self.state, State::Failed(since) if since + tries <= now)
    }

    /// Returns the serving beam.
    pub fn serving(&self) -> usize {
        self.serving
    }

    /// Returns whether the gNB can schedule the UE: its beam has not failed.
    pub fn serves(&self) -> bool {
        matches!(self.state, State::Serving | State::Changing(..))
    }

    /// Returns whether the UE measures in a slot that starts at `now`.
    pub fn measures(&self, now: Nanos) -> bool {
        now.is_multiple_of(self.config.ssb_period)
    }

    /// Runs what happens until a slot that starts at `now`, in which the UE `measured` or not; returns an event.
    pub fn advance(&mut self, now: Nanos, measured: Option<Measured>) -> Option<EventKind> {
        if let Some(done) = self.complete(now) {
            return Some(done);
        }
        // "if the beamFailureDetectionTimer expires: set BFI_COUNTER to 0". An indication at that instant restarts it before:
        // with the value pbfd1, one in each reporting period would count for nothing otherwise.
        if self.detection < now {
            self.instances = 0;
        }
        let measured = measured?;
        match self.state {
            State::Failed(since) => {
                self.recover(since, &measured, now);
                None
            }
            State::Recovering(..) => None,
            State::Serving | State::Changing(..) => self.detect(&measured, now).or_else(|| {
                self.consider(&measured, now);
                None
            }),
        }
    }

    fn complete(&mut self, now: Nanos) -> Option<EventKind> {
        match self.state {
            State::Changing(beam, at) if at <= now => {
                let from = std::mem::replace(&mut self.serving, beam);
                self.state = State::Serving;
                Some(EventKind::BeamChange { from, to: beam })
            }
            // "if the Beam Failure Recovery procedure is successfully completed: set BFI_COUNTER to 0".
            State::Recovering(since, beam, at) if at <= now => {
                let from = std::mem::replace(&mut self.serving, beam);
                self.state = State::Serving;
                self.instances = 0;
                Some(EventKind::BeamRecovery {
                    from,
                    to: beam,
                    interruption_ns: now - since,
                })
            }
            _ => None,
        }
    }

    /// "if beam failure instance indication has been received from lower layers: start or restart the
    /// beamFailureDetectionTimer; increment BFI_COUNTER by 1; if BFI_COUNTER >= beamFailureInstanceMaxCount: initiate a Random
    /// Access procedure".
    fn detect(&mut self, measured: &Measured, now: Nanos) -> Option<EventKind> {
        if measured.sinr_db >= self.config.q_out_db {
            return None;
        }
        self.detection = now + self.config.detection_timer;
        self.instances += 1;
        if self.instances < self.config.instance_max_count {
            return None;
        }
        self.recover(now, measured, now);
        Some(EventKind::BeamFailure { beam: self.serving })
    }

    /// Selects a candidate "with SS-RSRP above rsrp-ThresholdSSB" (clause 5.1.2) and its preamble in the next frame with
    /// PRACH. While beamFailureRecoveryTimer runs the preamble is dedicated and the answer is a PDCCH; later the access is
    /// contention-based and takes Msg2 to Msg4.
    fn recover(&mut self, since: Nanos, measured: &Measured, now: Nanos) {
        let own = (self.serving, measured.rsrp_dbm);
        let (beam, rsrp_dbm) = measured
            .best
            .filter(|&(_, rsrp_dbm)| rsrp_dbm > own.1)
            .unwrap_or(own);
        if rsrp_dbm < self.config.rsrp_threshold_dbm {
            self.state = State::Failed(since);
            return;
        }
        let preamble =
            (now + self.slot).div_ceil(self.config.prach_period) * self.config.prach_period;
        let dedicated = preamble < since + self.config.recovery_timer;
        let answers = if dedicated { 1 } else { 3 };
        let answered = preamble + (answers * RESPONSE_SLOTS + SETTLE_SLOTS) * self.slot;
        self.state = State::Recovering(since, beam, answered);
    }

    /// The gNB changes to a candidate that the UE reports as better by the margin.
    fn consider(&mut self, measured: &Measured, now: Nanos) {
        let margin_db = self.config.change_margin_db;
        let better = |&(_, rsrp_dbm): &(usize, f64)| rsrp_dbm > measured.rsrp_dbm + margin_db;
        if let (State::Serving, Some((beam, _))) = (self.state, measured.best.filter(better)) {
            self.state = State::Changing(beam, now + self.config.change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn an_instance_as_the_detection_timer_ends_is_counted() {
        let config = BeamConfig {
            instance_max_count: 3,
            detection_timer: 20 * MS,
            recovery_timer: 40 * MS,
            preamble_trans_max: 10,
            q_out_db: -5.0,
            rsrp_threshold_dbm: -110.0,
            ssb_period: 20 * MS,
            prach_period: 10 * MS,
            change_margin_db: 3.0,
            change: 6 * MS,
        };
        let failing = Measured {
            sinr_db: -10.0,
            rsrp_dbm: -120.0,
            best: None,
        };
        let failure = |missed: Nanos| {
            let mut beams = Beams::new(config, MS / 2);
            (0..200 * MS).step_by(MS as usize / 2).find(|&now| {
                let measures = beams.measures(now) && now != missed;
                beams.advance(now, measures.then_some(failing)).is_some()
            })
        };
        assert_eq!(failure(Nanos::MAX), Some(40 * MS));
        // Without an indication in a period the timer expires.
        assert_eq!(failure(40 * MS), Some(100 * MS));
    }
}
