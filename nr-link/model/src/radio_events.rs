// SPDX-License-Identifier: Apache-2.0
//! The events of UEs' connections, in order of time. `docs/run-directory.md`
//! defines the kinds and fields of the file that the programs write from them, `radio-events.jsonl`.

use serde::{Serialize, Serializer};

use crate::Nanos;
use crate::ids::UeId;

/// An event of one UE.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioEvent {
    /// The time at which it happened.
    pub time: Nanos,
    /// The UE.
    pub ue: UeId,
    /// Its kind and fields.
    pub kind: EventKind,
}

/// The kind of an event, with its fields. Cells are numbered as in the scenario, from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// The UE is served by its first cell.
    CellSelected {
        /// The cell.
        cell: usize,
    },
    /// A UE that is not served, or in EN-DC served by LTE, reselects the cell that will serve it.
    CellReselected {
        /// The cell before.
        cell: usize,
        /// The cell from now on.
        target: usize,
    },
    /// A measurement event is fulfilled for its time to trigger, and the UE reports it.
    MeasurementReport {
        /// The serving cell.
        cell: usize,
        /// The neighbour, if the event names one.
        target: Option<usize>,
        /// The event's name: A1 to A6.
        event: &'static str,
        /// Filtered RSRP of the serving cell.
        serving_rsrp_dbm: f64,
        /// Filtered RSRP of the neighbour.
        target_rsrp_dbm: Option<f64>,
    },
    /// The UE has the command to change its cell; of a conditional handover, the condition.
    HandoverCommand {
        /// The source.
        cell: usize,
        /// The target.
        target: usize,
        /// The procedure: a3, cho, daps or ltm.
        handover: &'static str,
        /// Transmissions of the command.
        transmissions: u32,
    },
    /// The UE executes a handover: the source serves it no longer, except with DAPS.
    HandoverStart {
        /// The source.
        cell: usize,
        /// The target.
        target: usize,
        /// The procedure.
        handover: &'static str,
    },
    /// The UE sends a random access preamble.
    RandomAccess {
        /// The cell in which it does.
        cell: usize,
        /// The number of the preamble, from 1.
        attempt: u32,
    },
    /// The target serves the UE.
    HandoverComplete {
        /// The source.
        cell: usize,
        /// The target.
        target: usize,
        /// The procedure.
        handover: &'static str,
        /// The time from the end of service by the source to the start of service by the target.
        interruption_ns: Nanos,
        /// The part of it, or with DAPS of the time beside the source, for processing at the UE.
        processing_ns: Nanos,
        /// The wait for the target's SSB, and its margin.
        synchronisation_ns: Nanos,
        /// Random access, from the wait for its occasion to the target's reception of the completion.
        access_ns: Nanos,
        /// Whether the UE is back in a cell that it left less than a second ago.
        ping_pong: bool,
    },
    /// All data of a handover is where it belongs: the target has the end marker.
    DataForwarded {
        /// The source.
        cell: usize,
        /// The target.
        target: usize,
        /// IP bytes of downlink packets over Xn, whether sent before or not.
        forwarded_bytes: u64,
        /// IP bytes of packets among those in both directions that are retransmitted.
        retransmitted_bytes: u64,
        /// IP bytes of packets in both directions that are lost.
        discarded_bytes: u64,
    },
    /// The UE gives its connection up.
    RadioLinkFailure {
        /// The serving cell; of a handover's failure, the source.
        cell: usize,
        /// `t310`, `t304` (the execution of a handover failed), `rlc` (no answer to a message) or `beam_failure_recovery`.
        cause: &'static str,
    },
    /// T311 expired before a cell could be selected; the search goes on.
    ConnectionLost {
        /// The cell in which the connection failed.
        cell: usize,
    },
    /// The connection is re-established.
    Reestablished {
        /// The cell in which it failed.
        cell: usize,
        /// The cell that serves the UE now.
        target: usize,
        /// The time from the end of service to its start.
        interruption_ns: Nanos,
        /// The class of TS 38.300 clause 15.5.2: `too_late`, `too_early`, `wrong_cell`, or `coverage` in the same cell.
        class: &'static str,
    },
    /// The PDCCH indicates a new transmission, and the UE monitors all slots until drx-InactivityTimer expires.
    DrxEnd {},
    /// drx-InactivityTimer or drx-ShortCycleTimer expired: the UE monitors on-durations only.
    DrxStart {
        /// The cycle: short or long.
        cycle: &'static str,
    },
    /// The gNB changes to another beam, as the UE reported it as better.
    BeamChange {
        /// The beam left; 0 is the strongest one.
        from: usize,
        /// The beam that serves.
        to: usize,
    },
    /// beamFailureInstanceMaxCount is reached: the UE is not served until it recovers.
    BeamFailure {
        /// The beam that has failed.
        beam: usize,
    },
    /// A beam serves the UE again.
    BeamRecovery {
        /// The beam that had failed.
        from: usize,
        /// The beam that serves.
        to: usize,
        /// The time since the failure.
        interruption_ns: Nanos,
    },
    /// The bearer of EN-DC leaves its leg: nothing serves the UE for a time.
    LegChange {
        /// 5t4 or 4t5.
        change: &'static str,
        /// The time without service.
        interruption_ns: Nanos,
    },
    /// A leg serves the UE after a change.
    LegServes {
        /// nr or lte.
        leg: &'static str,
    },
    /// The gNB pages a UE that is not connected.
    Paging {},
    /// The UE is in another RRC state.
    RrcState {
        /// connected, inactive or idle.
        state: &'static str,
    },
}

impl RadioEvent {
    /// Returns the line of `radio-events.jsonl`; `start_utc_ns` is UTC at the link's time 0, ns since 1970.
    pub fn at_utc(&self, start_utc_ns: i64) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Line<'a> {
            utc_ns: i64,
            #[serde(serialize_with = "number")]
            ue: UeId,
            #[serde(flatten)]
            kind: &'a EventKind,
        }
        Line {
            utc_ns: start_utc_ns + self.time as i64,
            ue: self.ue,
            kind: &self.kind,
        }
    }
}

fn number<S: Serializer>(ue: &UeId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(ue.0 as u64)
}
