// SPDX-License-Identifier: Apache-2.0
//! RRC states (TS 38.331 clause 4.2.1): a UE without data for some time goes to RRC_INACTIVE, later to RRC_IDLE, and back by
//! random access; for downlink data it is paged before.

use crate::config::{PerDirection, RrcConfig};
use crate::time::Nanos;

/// A radio frame.
const FRAME: Nanos = 10_000_000;
/// UE_ID is 5G-S-TMSI mod 1024 (TS 38.304 clause 7.1).
const UE_IDS: u64 = 1024;

/// The state of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RrcState {
    Idle,
    Inactive,
    Connected,
}

impl RrcState {
    /// Returns the name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Inactive => "inactive",
            Self::Connected => "connected",
        }
    }

    /// Returns the code in `mac.csv`.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The way back to RRC_CONNECTED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connecting {
    /// The gNB pages the UE at this time.
    Paged(Nanos),
    /// Random access starts at this time, and the UE is connected at the second.
    Accessing(Nanos, Nanos),
}

/// A change that is an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    State(RrcState),
    Paging,
    /// The preamble is sent.
    RandomAccess,
}

/// The RRC connection of one UE.
#[derive(Debug)]
pub(crate) struct Rrc {
    config: RrcConfig,
    /// UE_ID of TS 38.304.
    identity: u64,
    state: RrcState,
    connecting: Option<Connecting>,
    /// When data was last sent or waited.
    last_data: Nanos,
}

impl Rrc {
    /// Makes the connection of a UE; its paging frame follows from `identity`.
    pub fn new(config: RrcConfig, identity: u64) -> Self {
        Self {
            config,
            identity: identity % UE_IDS,
            state: RrcState::Connected,
            connecting: None,
            last_data: 0,
        }
    }

    pub fn state(&self) -> RrcState {
        self.state
    }

    /// Keeps a connected UE so at `now`, as data would.
    pub fn keep(&mut self, now: Nanos) {
        if self.state == RrcState::Connected {
            self.last_data = now;
        }
    }

    /// Runs what happens until a slot that starts at `now`; `waiting` is whether a direction has data. Returns what
    /// changed.
    pub fn advance(&mut self, now: Nanos, waiting: PerDirection<bool>) -> Option<Change> {
        if self.state == RrcState::Connected {
            if waiting.dl || waiting.ul {
                self.last_data = now;
            }
            return self.release(now);
        }
        match self.connecting {
            None if waiting.ul => self.access(now),
            None if waiting.dl => self.connecting = Some(Connecting::Paged(self.paging_frame(now))),
            None => return self.release(now),
            // Uplink data does not wait for the paging.
            Some(Connecting::Paged(_)) if waiting.ul => self.access(now),
            Some(Connecting::Paged(at)) if at <= now => {
                self.access(now);
                return Some(Change::Paging);
            }
            Some(Connecting::Accessing(preamble, _)) if preamble == now => {
                return Some(Change::RandomAccess);
            }
            Some(Connecting::Accessing(_, connected)) if connected <= now => {
                self.state = RrcState::Connected;
                self.connecting = None;
                self.last_data = now;
                return Some(Change::State(self.state));
            }
            Some(_) => {}
        }
        None
    }

    /// Releases a UE without data, as the gNB decides: with suspendConfig to RRC_INACTIVE, without to RRC_IDLE (TS 38.331
    /// clause 5.3.8).
    fn release(&mut self, now: Nanos) -> Option<Change> {
        let quiet = now - self.last_data;
        let is_due = |after: Option<Nanos>| after.is_some_and(|after| quiet >= after);
        let inactive = self.config.inactive.map(|inactive| inactive.after);
        let idle = self.config.idle.map(|idle| idle.after);
        let next = if is_due(idle) {
            RrcState::Idle
        } else if is_due(inactive) {
            RrcState::Inactive
        } else {
            RrcState::Connected
        };
        if next == self.state {
            return None;
        }
        self.state = next;
        Some(Change::State(next))
    }

    /// Returns the UE's next paging frame: "(SFN + PF_offset) mod T = (T div N) * (UE_ID mod N)" (TS 38.304 clause 7.1),
    /// with PF_offset = 0 and N = T.
    fn paging_frame(&self, now: Nanos) -> Nanos {
        let cycle = self.config.paging_cycle_frames;
        let phase = self.identity % cycle;
        let frame = now.div_ceil(FRAME);
        (frame + (cycle + phase - frame % cycle) % cycle) * FRAME
    }

    /// Starts random access in the next frame with PRACH, after the one that begins `now`.
    fn access(&mut self, now: Nanos) {
        let period = self.config.prach_period;
        let preamble = (now / period + 1) * period;
        let rrc = match (self.state, self.config.inactive, self.config.idle) {
            (RrcState::Inactive, Some(inactive), _) => inactive.resume,
            (_, _, Some(idle)) => idle.setup,
            _ => 0,
        };
        let connected = preamble + self.config.random_access + rrc;
        self.connecting = Some(Connecting::Accessing(preamble, connected));
    }
}
