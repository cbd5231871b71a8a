// SPDX-License-Identifier: Apache-2.0
//! MAC samples: one row of `mac.csv` for each UE and interval.

mod csv;

use crate::Nanos;
use crate::capacity::bearer::TraceBearer;
use crate::config::PerDirection;
use crate::counters::{IntervalSums, Totals};
use crate::ids::UeId;
use crate::mac::activity::Activity;
pub use crate::mac::activity::ActivitySample;
use crate::mac::bearer::Bearer;
use crate::mac::cell::Cell;
use crate::mac::lte_leg::Legs;
use crate::mac::ue::Ue;
use crate::rlc::Buffer;
use crate::rrc::Connection;
use crate::scenario::Leg;

pub use csv::csv_columns;
pub(crate) use csv::{Extent, csv_header};

/// The sample of one UE and interval. Gauges are means over the interval, and `None` without a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct MacSample {
    /// Start of the interval.
    pub start: Nanos,
    /// Length of the interval.
    pub duration: Nanos,
    /// The UE.
    pub ue: UeId,
    /// Radio and MAC; `None` over a capacity trace.
    pub radio: Option<RadioSample>,
    /// The values of each direction.
    pub directions: PerDirection<DirectionSample>,
    /// Technology that serves the UE at the end: 0 none, 1 LTE, 2 NR of EN-DC, 3 NR alone; `None` on a link without EN-DC.
    pub technology: Option<u8>,
    /// DRX and RRC; `None` on a link whose UEs are always connected and never sleep.
    pub activity: Option<ActivitySample>,
}

/// The values of radio and MAC in a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioSample {
    /// RNTI of the UE.
    pub rnti: u16,
    /// Whether the last CQI in force is in range.
    pub in_sync: bool,
    /// SS-RSRP, dBm.
    pub rsrp_dbm: Option<f64>,
    /// Measurements since the start.
    pub rsrp_meas_count: u64,
    /// Effective downlink SINR of a layer, dB.
    pub sinr_db: Option<f64>,
    /// Uplink SNR of a layer at the gNB, dB, of an SRS over the whole carrier.
    pub ul_snr_db: Option<f64>,
    /// CQI in force.
    pub cqi: Option<u8>,
    /// Downlink rank in force, as reported by the UE.
    pub ri: Option<u8>,
    /// Uplink rank in force, as measured by the gNB.
    pub ul_ri: Option<u8>,
    /// Power headroom of the last PUSCH, dB.
    pub phr_db: Option<f64>,
    /// P_CMAX, dBm.
    pub pcmax_dbm: f64,
    /// Power at the gNB over the PRBs of a PUSCH, signal and noise, dBm.
    pub rssi_dbm: Option<f64>,
    /// Index of the MCS table, 0 to 2.
    pub mcs_table: u8,
    /// The UE among several cells; `None` with one.
    pub mobility: Option<MobilitySample>,
}

/// The connection of a UE among several cells at the interval's end.
#[derive(Debug, Clone, PartialEq)]
pub struct MobilitySample {
    /// The cell that serves the UE, or did so last.
    pub cell: usize,
    /// Whether it does so at this time.
    pub state: ConnectionState,
    /// Filtered SS-RSRP of each cell, dBm.
    pub cells_rsrp_dbm: Vec<Option<f64>>,
}

/// Whether a UE can send and receive data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ConnectionState {
    /// A cell serves it.
    Connected = 0,
    /// None does: it is being handed over, or re-establishes its connection.
    Interrupted = 1,
}

impl MobilitySample {
    pub(crate) fn take(connection: &Connection) -> Self {
        Self {
            cell: connection.serving().0,
            state: match connection.is_served() {
                true => ConnectionState::Connected,
                false => ConnectionState::Interrupted,
            },
            cells_rsrp_dbm: connection.rsrp_dbm().collect(),
        }
    }
}

/// The values of one direction in a sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectionSample {
    /// Mean MCS of the first transmissions.
    pub mcs: Option<f64>,
    /// Ratio of failed to all first transmissions.
    pub bler_ratio: Option<f64>,
    /// Counters since the start.
    pub totals: Totals,
    /// IP bytes in the RLC buffer at the end.
    pub queue_bytes: u64,
    /// Packets in the RLC buffer at the end.
    pub queue_packets: u64,
    /// Mean time from a packet's entry into the buffer to the start of the slot that first carried
    /// its last byte, ms; over a capacity trace, to the time at which its last byte was served.
    pub wait_ms: Option<f64>,
    /// Mean time from there to delivery, ms: transmission, decoding, HARQ, RLC retransmission,
    /// reordering.
    pub harq_ms: Option<f64>,
    /// Mean time on the path of the packets that entered it, ms: queue, transmission on its line,
    /// and delay.
    pub path_ms: Option<f64>,
}

impl MacSample {
    /// Ends the interval of a UE with a radio channel, and returns its sample. Among several cells it has a `connection`.
    pub(crate) fn for_ue<T>(
        ue: &mut Ue<T>,
        cell: &Cell,
        has_legs: bool,
        connection: Option<&Connection>,
        start: Nanos,
        end: Nanos,
    ) -> Self {
        Self {
            start,
            duration: end - start,
            ue: ue.id,
            radio: Some(RadioSample::take(ue, cell, connection)),
            technology: has_legs.then(|| technology(ue.legs.as_deref())),
            activity: ue.activity.as_mut().map(Activity::take_sample),
            directions: PerDirection {
                dl: DirectionSample::for_bearer(&mut ue.dl),
                ul: DirectionSample::for_bearer(&mut ue.ul),
            },
        }
    }

    /// Ends the interval of a UE over a capacity trace, and returns its sample.
    pub(crate) fn for_trace<T>(
        ue: UeId,
        bearers: &mut PerDirection<TraceBearer<T>>,
        start: Nanos,
        end: Nanos,
    ) -> Self {
        Self {
            start,
            duration: end - start,
            ue,
            radio: None,
            technology: None,
            activity: None,
            directions: PerDirection {
                dl: DirectionSample::for_trace(&mut bearers.dl, end),
                ul: DirectionSample::for_trace(&mut bearers.ul, end),
            },
        }
    }
}

fn technology(legs: Option<&Legs>) -> u8 {
    match legs.map(Legs::serving) {
        Some(None) => 0,
        Some(Some(Leg::Lte)) => 1,
        Some(Some(Leg::Nr)) => 2,
        None => 3,
    }
}

impl RadioSample {
    fn take<T>(ue: &mut Ue<T>, cell: &Cell, connection: Option<&Connection>) -> Self {
        let gauges = ue.take_gauges();
        let csi = &ue.primary().csi;
        let report = csi.in_force();
        Self {
            rnti: ue.id.rnti(),
            in_sync: csi.latest().is_some_and(|measured| measured.cqi > 0),
            rsrp_dbm: gauges.rsrp_dbm.get(),
            rsrp_meas_count: gauges.measurements,
            sinr_db: gauges.sinr_db.get(),
            ul_snr_db: gauges.ul_snr_db.get(),
            cqi: report.map(|report| report.cqi),
            ri: report.map(|report| report.rank.dl),
            ul_ri: report.map(|report| report.rank.ul),
            phr_db: gauges.headroom_db,
            pcmax_dbm: cell.radio.uplink.pcmax_dbm,
            rssi_dbm: gauges.rssi_dbm.get(),
            mcs_table: cell.radio.mcs_table.index(),
            mobility: connection.map(MobilitySample::take),
        }
    }
}

impl DirectionSample {
    fn for_bearer<T>(bearer: &mut Bearer<T>) -> Self {
        let totals = bearer.totals();
        let interval = std::mem::take(&mut bearer.counters.interval);
        Self {
            mcs: interval.mcs(),
            bler_ratio: interval.bler_ratio(),
            harq_ms: interval.recovery_ms(),
            ..Self::for_buffer(&bearer.rlc.buffer, &interval, totals)
        }
    }

    fn for_trace<T>(bearer: &mut TraceBearer<T>, end: Nanos) -> Self {
        bearer.serve_before(end);
        let totals = bearer.totals_before(end);
        let interval = std::mem::take(&mut bearer.counters.interval);
        Self::for_buffer(&bearer.buffer, &interval, totals)
    }

    fn for_buffer<T>(buffer: &Buffer<T>, interval: &IntervalSums, totals: Totals) -> Self {
        Self {
            mcs: None,
            bler_ratio: None,
            totals,
            queue_bytes: buffer.bytes(),
            queue_packets: buffer.len() as u64,
            wait_ms: interval.wait_ms(),
            harq_ms: None,
            path_ms: interval.path_ms(),
        }
    }
}
