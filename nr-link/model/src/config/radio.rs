// SPDX-License-Identifier: Apache-2.0
//! The carrier and how it is used, checked.

use crate::Nanos;
use crate::config::PerDirection;
use crate::radio::{Duplex, Grid, McsTable, Numerology};

/// The carrier and how it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioConfig {
    /// Centre frequency, Hz.
    pub carrier_hz: f64,
    /// µ of TS 38.211.
    pub numerology: Numerology,
    /// Transmission bandwidth, PRBs.
    pub prb: u16,
    /// TDD pattern or FDD.
    pub duplex: Duplex,
    /// MIMO layers, 1 to 4.
    pub layers: PerDirection<u8>,
    /// MCS table of TS 38.214 clause 5.1.3.1, and the CQI table that goes with it.
    pub mcs_table: McsTable,
    /// How MCSs are chosen.
    pub link_adaptation: LinkAdaptation,
    /// Slots between two CSI reports.
    pub csi_period_slots: u64,
    /// Slots from measurement to the scheduler's use of the report.
    pub csi_delay_slots: u64,
    /// Mode of the RLC entities.
    pub rlc: RlcMode,
    /// Power of the UE.
    pub uplink: Uplink,
}

impl RadioConfig {
    /// The grid of the carrier.
    pub fn grid(&self) -> Grid {
        Grid {
            carrier_hz: self.carrier_hz,
            scs_hz: f64::from(self.numerology.scs_khz()) * 1e3,
            prb: self.prb,
        }
    }

    /// Length of a slot.
    pub fn slot_ns(&self) -> Nanos {
        self.numerology.slot_ns()
    }
}

/// How MCSs are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinkAdaptation {
    /// From CQI, corrected by an outer loop that holds the share of failed first transmissions.
    OuterLoop {
        /// That share.
        bler_target: f64,
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
