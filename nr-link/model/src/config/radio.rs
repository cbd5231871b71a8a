// SPDX-License-Identifier: Apache-2.0
//! The checked configuration of the carrier and its use.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::{
    BeamConfig, DrxConfig, Gnb, GnbProfile, Handover, PerDirection, Polling, RrcConfig,
};
use crate::packet::Direction;
use crate::radio::{Duplex, Grid, McsTable, Numerology};

/// The carrier and its use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RadioConfig {
    /// The component carriers, 1 to 16, the primary one first.
    pub carriers: Vec<Carrier>,
    /// The largest number of MIMO layers, 1 to 4.
    pub layers: PerDirection<u8>,
    /// Whether the number of layers adapts to the channel; otherwise it is always the largest.
    pub adapts_rank: bool,
    /// The attenuation of each other layer in the signal of a layer, dB; `None` means no
    /// interference between layers.
    pub layer_isolation_db: Option<f64>,
    /// MCS table of TS 38.214 clause 5.1.3.1, with the CQI table that belongs to it.
    pub mcs_table: McsTable,
    /// The scheduler of each carrier.
    pub scheduler: Discipline,
    /// The method of link adaptation.
    pub link_adaptation: LinkAdaptation,
    /// Slots of the carrier between two CSI reports.
    pub csi_period_slots: u64,
    /// Slots of the carrier from a measurement to the scheduler's use of the report.
    pub csi_delay_slots: u64,
    /// RLC mode.
    pub rlc: RlcMode,
    /// Uplink power control.
    pub uplink: Uplink,
    /// The behaviour of the gNB that the standard leaves open.
    pub gnb_profile: GnbProfile,
    /// Handover between several cells.
    pub handover: Handover,
    /// The share of resources in which each cell that does not serve a UE transmits, 0 to 1.
    pub neighbour_load: f64,
    /// Whether a key is given that has no meaning with one cell.
    pub needs_cells: bool,
    /// Discontinuous reception; `None`: UEs always monitor the PDCCH.
    pub drx: Option<DrxConfig>,
    /// Beam management and recovery, where the scenario has candidate beams.
    pub beams: BeamConfig,
    /// RRC states of UEs without data; `None`: UEs stay connected.
    pub rrc: Option<RrcConfig>,
}

impl RadioConfig {
    /// Returns the habits of the gNB; `None` is a gNB that uses all that the standard allows.
    pub fn gnb(&self) -> Option<&'static Gnb> {
        self.gnb_profile.habits()
    }

    /// Returns the grids of the carriers.
    pub fn grids(&self) -> impl Iterator<Item = Grid> {
        self.carriers.iter().map(|carrier| Grid {
            carrier_hz: carrier.hz,
            scs_hz: f64::from(carrier.numerology.scs_khz()) * 1e3,
            prb: carrier.prb,
        })
    }

    /// Returns the bit/s of a direction if each resource element of every slot carried data at the
    /// highest rate of the MCS table: more than any link can carry.
    pub fn bound_bps(&self, direction: Direction) -> f64 {
        let schemes = self.mcs_table.schemes();
        let efficiency = schemes.iter().map(|mcs| mcs.spectral_efficiency());
        let symbols_per_s = |carrier: &Carrier| 14.0 * 1e9 / carrier.numerology.slot_ns() as f64;
        let elements_per_s: f64 = self
            .carriers
            .iter()
            .filter(|carrier| carrier.uplink || direction == Direction::Downlink)
            .map(|carrier| 12.0 * f64::from(carrier.prb) * symbols_per_s(carrier))
            .sum();
        let layers = f64::from(*self.layers.of(direction));
        layers * elements_per_s * efficiency.fold(0.0, f64::max)
    }

    /// Returns the length of the shortest slot of all carriers.
    pub fn shortest_slot_ns(&self) -> Nanos {
        let slots = self
            .carriers
            .iter()
            .map(|carrier| carrier.numerology.slot_ns());
        slots.min().expect("there is a primary carrier")
    }
}

/// One component carrier.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Carrier {
    /// Centre frequency, Hz.
    pub hz: f64,
    /// Transmission bandwidth, PRBs.
    pub prb: u16,
    /// Whether UEs transmit on it too.
    pub uplink: bool,
    /// Numerology µ of TS 38.211.
    pub numerology: Numerology,
    /// TDD pattern or FDD.
    pub duplex: Duplex,
}

/// The order in which UEs are served in a slot; each UE takes from what those before it left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Discipline {
    /// Round robin: the first UE of a queue, which goes to the back after taking the resources of a
    /// whole slot.
    RoundRobin,
    /// Proportional fair: the UE whose current rate is highest relative to its average rate.
    ProportionalFair {
        /// The window of that average, slots: each slot it loses 1/window of its value.
        window_slots: f64,
    },
    /// Maximum C/I: the UE whose current rate is highest.
    MaxCi,
}

/// The method by which MCSs are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum LinkAdaptation {
    /// Chosen from CQI, corrected by an outer loop that controls the ratio of failed first transmissions.
    OuterLoop {
        /// The target of that ratio.
        bler_target: f64,
    },
    /// OpenAirInterface's rule: once per window, one MCS up or down if the filtered ratio of
    /// retransmissions is below or above its bounds.
    Thresholds {
        /// The MCS increases by one below this ratio.
        lower: f64,
        /// The MCS decreases by one above this ratio.
        upper: f64,
        /// The versions whose rule applies.
        rule: ThresholdRule,
    },
    /// A constant MCS.
    Fixed {
        /// Index in the MCS table.
        mcs: u8,
    },
}

/// The version of OpenAirInterface's rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThresholdRule {
    /// 2021 to 2024: it starts with MCS 9, and falls to it without traffic.
    FromMiddle,
    /// Versions from 2025 on: it starts with MCS 0, falls to it, and looks at its windows only when there is data to send.
    FromLowest,
}

/// RLC mode (TS 38.322 clause 4.2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RlcMode {
    /// Acknowledged mode: data that HARQ gave up is retransmitted.
    Acknowledged {
        /// t-Reassembly: how long the receiver waits before it reports a gap.
        t_reassembly: Nanos,
        /// Polling and status PDUs; `None`: the sender knows of each loss when the receiver would report it, and reports
        /// take no resources.
        polling: Option<Polling>,
    },
    /// Unacknowledged mode: data that HARQ gave up is lost, and segments that come after t-Reassembly are.
    Unacknowledged {
        /// t-Reassembly: how long the receiver waits for the other segments of a packet.
        t_reassembly: Nanos,
        /// t-Reordering of PDCP: how long it waits for packets before it delivers those after them.
        t_reordering: Nanos,
    },
}

/// The condition for uplink grants.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grants {
    /// A UE gets what its scheduling requests and buffer status reports ask for.
    #[default]
    Requested,
    /// None: whatever is free in an uplink slot is granted, also to a UE without data.
    Unlimited,
}

/// Uplink power control and grants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Uplink {
    /// Largest power of the UE, dBm: P_CMAX of TS 38.101-1 clause 6.2.4.
    pub pcmax_dbm: f64,
    /// Target SNR at the gNB, dB.
    pub target_snr_db: f64,
    /// The gNB receives with the downlink's SINR instead, whatever power the UE would have.
    pub as_downlink: bool,
    /// The condition for grants.
    pub grants: Grants,
}
