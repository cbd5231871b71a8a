// SPDX-License-Identifier: Apache-2.0
//! Discontinuous reception (TS 38.321 clause 5.7): the times in which a UE monitors the PDCCH, its Active Time.
//!
//! One DRX group for all carriers. The gNB follows the same timers, so that it schedules a UE in its Active Time only.

use super::timing::Timing;
use crate::Direction;
use crate::config::{DrxConfig, ShortCycle};
use crate::ids::{CarrierId, HarqId};
use crate::radio::duplex::SYMBOLS_PER_SLOT;
use crate::time::Nanos;

/// retxBSR-Timer: one of the values of TS 38.331 BSR-Config, as OpenAirInterface has it.
const RETX_BSR: Nanos = 80_000_000;

/// The SFN has 10 bits and counts frames of 10 ms (TS 38.211 clause 4.3.1): cycles that do not divide this time start again with it.
const SFN_PERIOD: Nanos = 1024 * 10_000_000;

/// A HARQ process, whose timers run on their own.
pub(crate) type Process = (Direction, CarrierId, HarqId);

/// A change that is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The UE uses this cycle from now on.
    Cycle(Cycle),
    /// The PDCCH indicated a new transmission at this time, and the UE monitors all slots.
    Ended(Nanos),
}

/// The cycle in which the on-duration timer starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cycle {
    Short,
    Long,
}

impl Cycle {
    /// Returns the name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }
}

/// A timer that runs from `start` until before `end`.
#[derive(Debug, Clone, Copy, Default)]
struct Timer {
    start: Nanos,
    end: Nanos,
}

impl Timer {
    fn runs(self, now: Nanos) -> bool {
        (self.start..self.end).contains(&now)
    }
}

/// The timers of one UE.
#[derive(Debug)]
pub(crate) struct Drx {
    config: DrxConfig,
    cycle: Cycle,
    /// drx-onDurationTimer, of the last two starts: a timer may run until after the next start, or until that start's
    /// drx-SlotOffset is over.
    on_durations: [Timer; 2],
    /// End of drx-InactivityTimer; `None` once its expiry has been handled.
    inactivity: Option<Nanos>,
    /// When the PDCCH ended drx, for the log.
    ended: Option<Nanos>,
    /// End of drx-ShortCycleTimer.
    short_cycles: Nanos,
    /// drx-RetransmissionTimerDL and -UL, which start when drx-HARQ-RTT-TimerDL and -UL expire.
    retransmission: Vec<(Process, Timer)>,
    /// A scheduling request is pending.
    requested: bool,
    /// The end of retxBSR-Timer.
    retx_bsr: Nanos,
}

/// Returns whether the gNB can reach a UE in the on-durations of long cycles: one of them has a downlink slot of the primary
/// carrier. Their positions in the TDD pattern repeat after so many cycles as it has slots, or sooner. So many
/// cycles of 60 or 70 ms, which do not divide the period of the SFN, are over within it.
pub(crate) fn reaches(config: &DrxConfig, timing: &Timing) -> bool {
    let first = config.start_offset + config.slot_offset;
    (0..timing.pattern_slots()).any(|cycle| {
        let start = first + cycle * config.long_cycle;
        let slot = timing.next_downlink(start);
        timing.start(CarrierId::PRIMARY, slot) < start + config.on_duration
    })
}

impl Drx {
    /// Starts at `now` as if the PDCCH had just indicated a new transmission.
    pub fn new(config: DrxConfig, now: Nanos) -> Self {
        Self {
            cycle: Cycle::Long,
            on_durations: Default::default(),
            inactivity: Some(now + config.inactivity),
            ended: None,
            short_cycles: now,
            retransmission: Vec::new(),
            requested: false,
            retx_bsr: now,
            config,
        }
    }

    /// "the Active Time […] includes the time while: drx-onDurationTimer or drx-InactivityTimer […] is running; or
    /// drx-RetransmissionTimerDL or drx-RetransmissionTimerUL is running […]; or […] a Scheduling Request is sent on
    /// PUCCH and is pending".
    pub fn is_active(&self, now: Nanos) -> bool {
        self.on_durations.iter().any(|timer| timer.runs(now))
            || self.inactivity.is_some_and(|end| now < end)
            || self.requested
            || self.retransmission.iter().any(|(_, timer)| timer.runs(now))
    }

    /// Runs the timers up to a slot that starts at `now`; returns what changed.
    pub fn advance(&mut self, now: Nanos) -> [Option<Change>; 2] {
        self.retransmission.retain(|(_, timer)| now < timer.end);
        let ended = self.ended.take().map(Change::Ended);
        let cycle = self.expire(now).then_some(Change::Cycle(self.cycle));
        self.start_on_duration(now);
        [ended, cycle]
    }

    /// Ends the timers that choose the cycle; returns whether one of them expired.
    fn expire(&mut self, now: Nanos) -> bool {
        // "if drx-InactivityTimer […] expires: if the Short DRX cycle is configured: start or restart
        // drx-ShortCycleTimer […]; use the Short DRX cycle […]; else: use the Long DRX cycle".
        let inactive = self.inactivity.filter(|&end| end <= now);
        if let Some(end) = inactive {
            self.inactivity = None;
            self.cycle = Cycle::Long;
            if let Some(ShortCycle { cycle, cycles }) = self.config.short {
                self.short_cycles = end + cycles * cycle;
                self.cycle = Cycle::Short;
            }
        }
        // "if drx-ShortCycleTimer […] expires: use the Long DRX cycle".
        let long = self.cycle == Cycle::Short && self.short_cycles <= now;
        if long {
            self.cycle = Cycle::Long;
        }
        inactive.is_some() || (long && self.inactivity.is_none())
    }

    /// "if the Short DRX cycle is used […], and [(SFN × 10) + subframe number] modulo (drx-ShortCycle) =
    /// (drx-StartOffset) modulo (drx-ShortCycle): start drx-onDurationTimer […] after drx-SlotOffset from the beginning
    /// of the subframe"; in the same way with drx-LongCycle.
    fn start_on_duration(&mut self, now: Nanos) {
        let period = match (self.cycle, self.config.short) {
            (Cycle::Short, Some(short)) => short.cycle,
            _ => self.config.long_cycle,
        };
        if now % SFN_PERIOD % period == self.config.start_offset % period {
            let start = now + self.config.slot_offset;
            let end = start + self.config.on_duration;
            self.on_durations = [self.on_durations[1], Timer { start, end }];
        }
    }

    /// "if the PDCCH indicates a new transmission (DL or UL) […]: start or restart drx-InactivityTimer […] in the first
    /// symbol after the end of the PDCCH reception". The PDCCH is in a slot that starts at `slot`.
    pub fn new_transmission(&mut self, slot: Nanos, pdcch_end: Nanos) {
        if self.inactivity.is_none() {
            self.ended = Some(slot);
        }
        self.inactivity = Some(pdcch_end + self.config.inactivity);
    }

    /// "if the PDCCH indicates a DL transmission […]: stop the drx-RetransmissionTimerDL for the corresponding HARQ
    /// process"; in the same way for UL.
    pub fn transmission(&mut self, process: Process) {
        self.retransmission.retain(|(other, _)| *other != process);
    }

    /// "if a drx-HARQ-RTT-TimerDL expires: if the data of the corresponding HARQ process was not successfully decoded:
    /// start the drx-RetransmissionTimerDL […] in the first symbol after the expiry". The first timer starts at `from`:
    /// after the acknowledgement, or in the uplink after the PUSCH, whatever its outcome. `slot` is the length of a slot.
    pub fn await_retransmission(&mut self, process: Process, from: Nanos, slot: Nanos) {
        let rtt = self.config.harq_rtt_symbols.of(process.0) * slot / u64::from(SYMBOLS_PER_SLOT);
        let start = from + rtt;
        let end = start + self.config.retransmission_slots.of(process.0) * slot;
        self.transmission(process);
        self.retransmission.push((process, Timer { start, end }));
    }

    /// Records that the UE sent a scheduling request.
    pub fn request(&mut self) {
        self.requested = true;
    }

    /// Records that the UE sends a block with a report of its buffer at `now`. No scheduling request is pending any more: "when
    /// the MAC PDU is transmitted and this PDU includes a […] BSR MAC CE" (clause 5.4.4).
    pub fn report(&mut self, now: Nanos) {
        self.requested = false;
        self.retx_bsr = now + RETX_BSR;
    }

    /// Returns whether a UE that has data sends a scheduling request though it has reported it: the gNB did not grant it in
    /// Active Time. "if the retxBSR-Timer expires": a Regular BSR is triggered (clause 5.4.5).
    pub fn asks_again(&self, now: Nanos) -> bool {
        !self.requested && self.retx_bsr <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PerDirection;

    const MS: Nanos = 1_000_000;
    const SLOT: Nanos = MS / 2;

    /// Returns the slots that start in a time and in which a UE is active that has no data from 0 on.
    fn active(config: DrxConfig, from: Nanos, to: Nanos) -> Vec<Nanos> {
        let mut drx = Drx::new(config, 0);
        let mut active = Vec::new();
        for now in (0..to).step_by(SLOT as usize) {
            drx.advance(now);
            if now >= from && drx.is_active(now) {
                active.push(now);
            }
        }
        active
    }

    fn config(on_ms: Nanos, long_ms: Nanos, short: Option<ShortCycle>) -> DrxConfig {
        DrxConfig {
            on_duration: on_ms * MS,
            inactivity: 0,
            long_cycle: long_ms * MS,
            start_offset: 0,
            slot_offset: 0,
            short,
            harq_rtt_symbols: PerDirection { dl: 0, ul: 0 },
            retransmission_slots: PerDirection { dl: 0, ul: 0 },
        }
    }

    #[test]
    fn a_start_does_not_end_an_on_duration_that_is_running() {
        // Of 8 ms, each 5 ms, half a millisecond after the beginning of the subframe; 4 short cycles, then long ones.
        let short = ShortCycle {
            cycle: 5 * MS,
            cycles: 4,
        };
        let overlapping = DrxConfig {
            slot_offset: MS / 2,
            ..config(8, 40, Some(short))
        };
        // The last short cycle starts at 15 ms: 20 ms is in a long one.
        let expected: Vec<_> = (SLOT..23 * MS + SLOT).step_by(SLOT as usize).collect();
        assert_eq!(active(overlapping, 0, 40 * MS), expected);
    }

    #[test]
    fn on_durations_count_from_the_period_of_the_sfn() {
        // 146 × 70 ms = 10220 ms; SFN 0 begins again at 10240 ms.
        let starts = active(config(1, 70, None), 10_100 * MS, 10_400 * MS);
        let starts = starts.iter().filter(|&start| start % MS == 0);
        let starts: Vec<_> = starts.map(|start| start / MS).collect();
        assert_eq!(starts, [10_150, 10_220, 10_240, 10_310, 10_380]);
    }
}
