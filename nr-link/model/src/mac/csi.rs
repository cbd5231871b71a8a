// SPDX-License-Identifier: Apache-2.0
//! Channel state information: measured periodically, and used by the scheduler after a delay.

use super::cell::Cell;
use super::power::Power;
use super::report::Report;
use crate::Direction;
use crate::channel::Observation;
use crate::config::PerDirection;
use crate::ids::CarrierId;
use crate::radio::decibel;
use crate::time::{Slot, Timeline};

const DOWN: Direction = Direction::Downlink;
const UP: Direction = Direction::Uplink;

impl Report {
    /// Makes the report of a carrier from the UE's observation and the noise at the gNB. `layered` is scratch memory
    /// for the SINRs of layers.
    fn of(
        cell: &Cell,
        carrier: CarrierId,
        seen: &Observation,
        noise_ul_dbm: f64,
        layered: &mut Vec<f32>,
    ) -> Self {
        let divide = |layered: &mut Vec<f32>, rank| {
            layered.clone_from(&seen.sinr_db);
            cell.layers.dl.divide(layered, rank);
        };
        let rank = cell.layers.dl.best(|rank| {
            divide(layered, rank);
            // The CQI is too coarse to choose the rank by, but with CQI 0 nothing is sent.
            if cell.cqi_table.report(layered) == 0 {
                return 0.0;
            }
            cell.schemes.efficiency(layered) * cell.whole_carrier(carrier, DOWN, rank).elements()
        });
        divide(layered, rank);
        let mut report = Self {
            rank: PerDirection { dl: rank, ul: 1 },
            cqi: cell.cqi_table.report(layered),
            sinr_db: shannon_effective_db(layered),
            rsrp_dbm: seen.rsrp_dbm,
            path_loss_db: seen.path_loss_db,
            instant_loss_db: seen.instant_loss_db,
            noise_ul_dbm,
        };
        report.rank.ul = cell.layers.ul.best(|rank| {
            let allocation = cell.whole_carrier(carrier, UP, rank);
            let power = Power::of(cell.uplink, &report, allocation.prb);
            let snr_db = cell.layers.ul.each_db(power.expected_snr_db(&report), rank);
            cell.schemes.efficiency(&[snr_db as f32]) * allocation.elements()
        });
        report
    }
}

/// A measurement on its way to the scheduler.
#[derive(Debug, Clone, Copy)]
struct Measured {
    report: Report,
    /// Whether the UE reports it; otherwise it counts for the capacity only.
    is_reported: bool,
}

/// Periodic measurement, and the reports on their way to the scheduler.
#[derive(Debug)]
pub(crate) struct Csi {
    period: u64,
    delay: u64,
    pending: Timeline<Measured, Slot>,
    in_force: Option<Report>,
    latest: Option<Report>,
    /// The number of measurements in `latest` so far.
    version: u64,
    /// Kept so that no slot allocates memory.
    layered: Vec<f32>,
}

impl Csi {
    /// Measures every `period` slots of the carrier; reports come into force `delay` slots later.
    pub fn new(period: u64, delay: u64) -> Self {
        Self {
            period,
            delay,
            pending: Timeline::default(),
            in_force: None,
            latest: None,
            version: 0,
            layered: Vec::new(),
        }
    }

    /// Returns whether the UE, which `reports` or not, measures in this slot: in one of each period, and in its first one in a
    /// cell or a connection.
    pub fn measures(&self, slot: Slot, reports: bool) -> bool {
        slot.0.is_multiple_of(self.period) || self.is_first(reports)
    }

    fn is_first(&self, reports: bool) -> bool {
        match reports {
            true => self.lacks_report(),
            false => self.latest.is_none() && self.pending.is_empty(),
        }
    }

    /// Returns whether no report is in force or on its way.
    pub fn lacks_report(&self) -> bool {
        let mut pending = self.pending.items();
        self.in_force.is_none() && !pending.any(|measured| measured.is_reported)
    }

    /// Makes a report from the UE's observation.
    pub fn measure(
        &mut self,
        cell: &Cell,
        carrier: CarrierId,
        seen: &Observation,
        noise_ul_dbm: f64,
    ) -> Report {
        Report::of(cell, carrier, seen, noise_ul_dbm, &mut self.layered)
    }

    /// Keeps the measurement of this slot, which the UE sends to the gNB if it `is_reported`.
    pub fn push(&mut self, slot: Slot, report: Report, is_reported: bool) {
        let measured = Measured {
            report,
            is_reported,
        };
        self.pending.push(slot + self.delay, measured);
    }

    /// Puts the reports that are known by this slot into force.
    pub fn advance(&mut self, slot: Slot) {
        while let Some((_, measured)) = self.pending.pop(slot) {
            self.latest = Some(measured.report);
            if measured.is_reported {
                self.in_force = Some(measured.report);
            }
            self.version += 1;
        }
    }

    /// Forgets the reports, as the gNB does when the connection ends; the capacity goes on.
    pub fn forget_reports(&mut self) {
        self.in_force = None;
        for measured in self.pending.items_mut() {
            measured.is_reported = false;
        }
    }

    /// Returns the report by which the gNB schedules.
    pub fn in_force(&self) -> Option<&Report> {
        self.in_force.as_ref()
    }

    /// Returns the report that would be in force had the UE reported each measurement: a full queue keeps it awake.
    pub fn latest(&self) -> Option<&Report> {
        self.latest.as_ref()
    }

    /// Returns the number of measurements so far, as a key for caches.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// Returns the SINR of a flat channel with the same Shannon capacity, dB.
fn shannon_effective_db(sinr_db: &[f32]) -> f64 {
    let bits: f64 = sinr_db
        .iter()
        .map(|&sinr| libm::log2(1.0 + decibel::to_ratio(f64::from(sinr))))
        .sum();
    decibel::from_ratio(libm::exp2(bits / sinr_db.len() as f64) - 1.0)
}
