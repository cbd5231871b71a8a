// SPDX-License-Identifier: Apache-2.0
//! What the gNB knows of a UE's channel: measured every period, in force a delay later.

use crate::Nanos;
use crate::channel::{Channel, Observation};
use crate::radio::{CqiTable, decibel};
use crate::timeline::Timeline;

/// One measurement of both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    /// CSI-RS: the highest CQI that the UE finds the channel to bear.
    pub cqi: u8,
    /// Effective downlink SINR a layer, dB: that of a flat channel with the same Shannon capacity.
    pub sinr_db: f64,
    /// SS-RSRP, dBm.
    pub rsrp_dbm: f64,
    /// Path loss as the UE estimates it, dB.
    pub path_loss_db: f64,
    /// Noise and interference at the gNB, dBm a resource element.
    pub noise_ul_dbm: f64,
}

/// Periodic measurement and its way to the scheduler.
#[derive(Debug)]
pub(crate) struct Csi {
    period: u64,
    delay: u64,
    layer_db: f32,
    under_way: Timeline<Report>,
    in_force: Option<Report>,
    version: u64,
}

impl Csi {
    /// Every `period` slots, known `delay` slots later; the power is shared by `layers`.
    pub fn new(period: u64, delay: u64, layers: u8) -> Self {
        Self {
            period,
            delay,
            layer_db: layer_db(layers),
            under_way: Timeline::default(),
            in_force: None,
            version: 0,
        }
    }

    /// Measures and reports when it is time. Returns what was measured in this slot.
    pub fn run(
        &mut self,
        slot: u64,
        start: Nanos,
        channel: &Channel,
        table: &CqiTable,
        seen: &mut Observation,
    ) -> Option<Report> {
        let measured = slot.is_multiple_of(self.period).then(|| {
            channel.observe(start, seen);
            self.measure(channel.noise_ul_dbm_per_re(start), table, seen)
        });
        if let Some(report) = measured {
            self.under_way.push(slot + self.delay, report);
        }
        while let Some((_, report)) = self.under_way.pop(slot) {
            self.in_force = Some(report);
            self.version += 1;
        }
        measured
    }

    fn measure(&self, noise_ul_dbm: f64, table: &CqiTable, seen: &mut Observation) -> Report {
        per_layer(&mut seen.sinr_db, self.layer_db);
        Report {
            cqi: table.report(&seen.sinr_db),
            sinr_db: shannon_effective_db(&seen.sinr_db),
            rsrp_dbm: seen.rsrp_dbm,
            path_loss_db: seen.path_loss_db,
            noise_ul_dbm,
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

/// What each of `layers` loses against one that has all power, dB.
pub(crate) fn layer_db(layers: u8) -> f32 {
    decibel::from_ratio(f64::from(layers)) as f32
}

/// Turns the SINRs of the whole power into those of each layer.
pub(crate) fn per_layer(sinr_db: &mut [f32], layer_db: f32) {
    sinr_db.iter_mut().for_each(|sinr| *sinr -= layer_db);
}

/// The SINR of a flat channel with the same Shannon capacity, dB.
pub(crate) fn shannon_effective_db(sinr_db: &[f32]) -> f64 {
    let bits: f64 = sinr_db
        .iter()
        .map(|&sinr| libm::log2(1.0 + decibel::to_ratio(f64::from(sinr))))
        .sum();
    decibel::from_ratio(libm::exp2(bits / sinr_db.len() as f64) - 1.0)
}
