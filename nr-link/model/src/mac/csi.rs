// SPDX-License-Identifier: Apache-2.0
//! What the gNB knows of a UE's channel: measured every period, in force a delay later.

use super::cell::Cell;
use super::power::Power;
use crate::Direction;
use crate::channel::Observation;
use crate::config::PerDirection;
use crate::radio::decibel;
use crate::timeline::Timeline;

const DOWN: Direction = Direction::Downlink;
const UP: Direction = Direction::Uplink;

/// One measurement of both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    /// Layers: of the downlink as the UE reports it (RI), of the uplink as the gNB finds it.
    pub rank: PerDirection<u8>,
    /// CSI-RS: the highest CQI that the UE finds the channel to bear with that rank.
    pub cqi: u8,
    /// Effective downlink SINR a layer, dB: that of a flat channel with the same Shannon capacity.
    pub sinr_db: f64,
    /// SS-RSRP, dBm.
    pub rsrp_dbm: f64,
    /// Path loss as the UE estimates it, dB.
    pub path_loss_db: f64,
    /// SRS: path loss as the gNB finds it, of this instant, dB.
    pub instant_loss_db: f64,
    /// Noise and interference at the gNB, dBm a resource element.
    pub noise_ul_dbm: f64,
}

impl Report {
    /// Of a carrier, of what the UE sees there and of the noise at the gNB; `layered` is where the
    /// SINRs of layers are kept.
    fn of(
        cell: &Cell,
        carrier: usize,
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
            // A CQI is too coarse a step to choose by, but without one nothing is sent.
            if cell.cqi_table.report(layered) == 0 {
                return 0.0;
            }
            cell.schemes.efficiency(layered) * cell.widest(carrier, DOWN, rank).elements()
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
            let room = cell.widest(carrier, UP, rank);
            let power = Power::of(cell.uplink, &report, room.prb);
            let snr_db = cell.layers.ul.each_db(power.expected_snr_db(&report), rank);
            cell.schemes.efficiency(&[snr_db as f32]) * room.elements()
        });
        report
    }
}

/// Periodic measurement and its way to the scheduler.
#[derive(Debug)]
pub(crate) struct Csi {
    period: u64,
    delay: u64,
    under_way: Timeline<Report>,
    in_force: Option<Report>,
    version: u64,
    /// Kept, so that no slot allocates.
    layered: Vec<f32>,
}

impl Csi {
    /// Every `period` slots of its carrier, known `delay` slots later.
    pub fn new(period: u64, delay: u64) -> Self {
        Self {
            period,
            delay,
            under_way: Timeline::default(),
            in_force: None,
            version: 0,
            layered: Vec::new(),
        }
    }

    /// Whether it is time to measure.
    pub fn measures(&self, slot: u64) -> bool {
        slot.is_multiple_of(self.period)
    }

    /// Measures in this slot of a carrier, of what the UE sees there, and reports.
    pub fn measure(
        &mut self,
        cell: &Cell,
        carrier: usize,
        slot: u64,
        seen: &Observation,
        noise_ul_dbm: f64,
    ) -> Report {
        let report = Report::of(cell, carrier, seen, noise_ul_dbm, &mut self.layered);
        self.under_way.push(slot + self.delay, report);
        report
    }

    /// What has been reported by this slot comes into force.
    pub fn come_to(&mut self, slot: u64) {
        while let Some((_, report)) = self.under_way.pop(slot) {
            self.in_force = Some(report);
            self.version += 1;
        }
    }

    pub fn in_force(&self) -> Option<&Report> {
        self.in_force.as_ref()
    }

    /// Counts reports, so that what is derived from one can be kept.
    pub fn version(&self) -> u64 {
        self.version
    }
}

/// The SINR of a flat channel with the same Shannon capacity, dB.
fn shannon_effective_db(sinr_db: &[f32]) -> f64 {
    let bits: f64 = sinr_db
        .iter()
        .map(|&sinr| libm::log2(1.0 + decibel::to_ratio(f64::from(sinr))))
        .sum();
    decibel::from_ratio(libm::exp2(bits / sinr_db.len() as f64) - 1.0)
}
