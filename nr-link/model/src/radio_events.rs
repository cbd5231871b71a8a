// SPDX-License-Identifier: Apache-2.0
//! Events of a UE's connection and their times: one record for each event, in order of time. `docs/run-directory.md`
//! defines the kinds and fields of the file that the programs write from them, `radio-events.jsonl`.

use serde::{Serialize, Serializer};

use crate::Nanos;
use crate::ids::UeId;

/// An event of one UE.
#[derive(Debug, Clone, PartialEq)]
pub struct RadioEvent {
    /// When.
    pub time: Nanos,
    /// The UE.
    pub ue: UeId,
    /// The event.
    pub kind: EventKind,
}

/// The kind of an event, with its fields. Cells are numbered as in the scenario, from 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EventKind {
    /// The UE sends a random access preamble.
    RandomAccess {
        /// The cell in which it does.
        cell: usize,
        /// The number of the preamble, from 1.
        attempt: u32,
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
