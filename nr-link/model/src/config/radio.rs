// SPDX-License-Identifier: Apache-2.0
//! The carrier and how it is used, checked.

use crate::Nanos;
use crate::config::PerDirection;
use crate::radio::{Duplex, Grid, McsTable, Numerology};

/// The carrier and how it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioConfig {
    /// The component carriers, 1 to 16; the first is the primary one.
    pub carriers: Vec<Carrier>,
    /// Most MIMO layers, 1 to 4.
    pub layers: PerDirection<u8>,
    /// Whether there are fewer where they carry more; otherwise there are always so many.
    pub adapts_rank: bool,
    /// How much weaker than itself a layer receives each other one, dB; none: not at all.
    pub layer_isolation_db: Option<f64>,
    /// MCS table of TS 38.214 clause 5.1.3.1, and the CQI table that goes with it.
    pub mcs_table: McsTable,
    /// Whose turn it is, on each carrier.
    pub scheduler: Discipline,
    /// How MCSs are chosen.
    pub link_adaptation: LinkAdaptation,
    /// Slots of its carrier between two CSI reports.
    pub csi_period_slots: u64,
    /// Slots of its carrier from measurement to the scheduler's use of the report.
    pub csi_delay_slots: u64,
    /// Mode of the RLC entities.
    pub rlc: RlcMode,
    /// Power of the UE.
    pub uplink: Uplink,
}

impl RadioConfig {
    /// The grids of the carriers.
    pub fn grids(&self) -> impl Iterator<Item = Grid> {
        self.carriers.iter().map(|carrier| Grid {
            carrier_hz: carrier.hz,
            scs_hz: f64::from(carrier.numerology.scs_khz()) * 1e3,
            prb: carrier.prb,
        })
    }

    /// Length of the shortest slot of all carriers.
    pub fn shortest_slot_ns(&self) -> Nanos {
        let slots = self
            .carriers
            .iter()
            .map(|carrier| carrier.numerology.slot_ns());
        slots.min().expect("there is a primary carrier")
    }
}

/// One component carrier.
#[derive(Debug, Clone, PartialEq)]
pub struct Carrier {
    /// Centre frequency, Hz.
    pub hz: f64,
    /// Transmission bandwidth, PRBs.
    pub prb: u16,
    /// Whether UEs also send on it.
    pub uplink: bool,
    /// µ of TS 38.211.
    pub numerology: Numerology,
    /// TDD pattern or FDD.
    pub duplex: Duplex,
}

/// Which UE is served first in a slot; the next ones get what it leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Discipline {
    /// The first of a line, to whose end goes who has taken as much as a whole slot has.
    RoundRobin,
    /// The one whose rate now is highest beside what it has been given.
    ProportionalFair {
        /// Over how many slots that is remembered: each forgets 1/window of it.
        window_slots: f64,
    },
    /// The one whose rate now is highest.
    MaxCi,
}

/// How MCSs are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkAdaptation {
    /// From CQI, corrected by an outer loop that holds the share of failed first transmissions.
    OuterLoop {
        /// That share.
        bler_target: f64,
    },
    /// OpenAirInterface's rule: once a window, one MCS up or down where the filtered share of
    /// retransmissions is below or above its bounds.
    Thresholds {
        /// One MCS up below it.
        lower: f64,
        /// One MCS down above it.
        upper: f64,
    },
    /// One MCS, whatever the channel does.
    Fixed {
        /// Index into the MCS table.
        mcs: u8,
    },
}

/// Mode of the RLC entities (TS 38.322 clause 4.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RlcMode {
    /// Acknowledged: what HARQ gave up is sent again.
    Acknowledged {
        /// t-Reassembly: how long the receiver waits before it reports a gap.
        t_reassembly: Nanos,
    },
    /// Unacknowledged: what HARQ gave up is lost.
    Unacknowledged {
        /// t-Reassembly: how long the receiver waits before it gives up a gap.
        t_reassembly: Nanos,
    },
}

/// Power of the UE.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uplink {
    /// Most that the UE sends, dBm: P_CMAX of TS 38.101-1 clause 6.2.4.
    pub pcmax_dbm: f64,
    /// SNR at the gNB that closed-loop power control aims at, dB.
    pub target_snr_db: f64,
}
