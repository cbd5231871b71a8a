// SPDX-License-Identifier: Apache-2.0
//! Whether a UE can be scheduled: it is connected, and in its Active Time.

use super::drx::{self, Drx};
use super::rrc_state::{self, Rrc, RrcState};
use crate::config::{DrxConfig, PerDirection, RadioConfig};
use crate::ids::{CellId, UeId};
use crate::radio_events::{EventKind, RadioEvent};
use crate::time::Nanos;

/// The activity of a UE that has DRX or RRC states.
#[derive(Debug)]
pub(crate) struct Activity {
    drx: Option<Drx>,
    rrc: Option<Rrc>,
    config: Option<DrxConfig>,
    /// Slots of the sample interval, and those of them in Active Time.
    slots: (u64, u64),
}

/// DRX and RRC in a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActivitySample {
    /// RRC state at the end: 0 RRC_IDLE, 1 RRC_INACTIVE, 2 RRC_CONNECTED.
    pub rrc_state: u8,
    /// Share of slots in which the UE monitored the PDCCH.
    pub drx_active_ratio: Option<f64>,
}

/// A change that is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Drx(drx::Change),
    Rrc(rrc_state::Change),
}

impl Change {
    /// Returns the event for the log, of a UE that is in a cell.
    pub fn event(self, time: Nanos, ue: UeId, cell: CellId) -> RadioEvent {
        let kind = match self {
            Self::Drx(drx::Change::Ended(_)) => EventKind::DrxEnd {},
            Self::Drx(drx::Change::Cycle(cycle)) => EventKind::DrxStart {
                cycle: cycle.name(),
            },
            Self::Rrc(rrc_state::Change::Paging) => EventKind::Paging {},
            Self::Rrc(rrc_state::Change::RandomAccess) => EventKind::RandomAccess {
                cell: cell.0,
                attempt: 1,
            },
            Self::Rrc(rrc_state::Change::State(state)) => EventKind::RrcState {
                state: state.name(),
            },
        };
        RadioEvent { time, ue, kind }
    }
}

impl Activity {
    /// Makes the activity of a UE with an RNTI; `None` if it is always connected and never sleeps.
    pub fn new(radio: &RadioConfig, rnti: u16) -> Option<Self> {
        let configured = radio.drx.is_some() || radio.rrc.is_some();
        configured.then(|| Self {
            drx: radio.drx.map(|config| Drx::new(config, 0)),
            rrc: radio.rrc.map(|config| Rrc::new(config, rnti.into())),
            config: radio.drx,
            slots: (0, 0),
        })
    }

    /// Returns whether the UE monitors the PDCCH at `now`.
    pub fn listens(&self, now: Nanos) -> bool {
        self.is_connected() && self.drx.as_ref().is_none_or(|drx| drx.is_active(now))
    }

    /// Returns whether the UE is in RRC_CONNECTED.
    pub fn is_connected(&self) -> bool {
        self.state() == RrcState::Connected
    }

    pub fn state(&self) -> RrcState {
        self.rrc.as_ref().map_or(RrcState::Connected, Rrc::state)
    }

    /// Starts over in a cell that serves the UE from `now` on: a handover resets MAC, which stops all timers (TS 38.321 clause
    /// 5.12), and the PDCCH that ends the access indicates a new transmission (clause 5.7). The gNB counts the time without
    /// data from here.
    pub fn enter_cell(&mut self, now: Nanos) {
        self.drx = self.config.map(|config| Drx::new(config, now));
        if let Some(rrc) = &mut self.rrc {
            rrc.keep(now);
        }
    }

    /// Runs the timers up to a slot that starts at `now`; calls `log` with what changed.
    pub fn advance(
        &mut self,
        now: Nanos,
        waiting: PerDirection<bool>,
        mut log: impl FnMut(Nanos, Change),
    ) {
        if let Some(change) = self.rrc.as_mut().and_then(|rrc| rrc.advance(now, waiting)) {
            log(now, Change::Rrc(change));
            if change == rrc_state::Change::State(RrcState::Connected) {
                self.drx = self.config.map(|config| Drx::new(config, now));
            }
        }
        if self.is_connected() {
            for change in self
                .drx
                .iter_mut()
                .flat_map(|drx| drx.advance(now))
                .flatten()
            {
                let at = match change {
                    drx::Change::Ended(at) => at,
                    drx::Change::Cycle(_) => now,
                };
                log(at, Change::Drx(change));
            }
        }
        self.slots.0 += 1;
        self.slots.1 += u64::from(self.listens(now));
    }

    /// Ends the sample interval and returns its sample.
    pub fn take_sample(&mut self) -> ActivitySample {
        let (all, active) = std::mem::take(&mut self.slots);
        ActivitySample {
            rrc_state: self.state().code(),
            drx_active_ratio: (all > 0).then(|| active as f64 / all as f64),
        }
    }

    /// Passes to DRX what it depends on.
    pub fn drx(&mut self) -> Option<&mut Drx> {
        self.drx.as_mut()
    }
}
