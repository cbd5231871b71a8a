// SPDX-License-Identifier: Apache-2.0
//! Uplink power (TS 38.213 clause 7.1.1): closed-loop control to a target SNR, up to P_CMAX.

use super::report::Report;
use crate::channel::Observation;
use crate::config::Uplink;
use crate::radio::decibel;
use crate::radio::grid::SUBCARRIERS_PER_PRB;

/// Power of one PUSCH.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Power {
    /// Transmit power of the UE, dBm per resource element.
    pub dbm_per_re: f64,
    /// Power headroom, dB (clause 7.7.1): P_CMAX less the power needed for the target.
    pub headroom_db: f64,
}

impl Power {
    /// Returns the power for `prb` PRBs, when power control uses `report`.
    pub fn of(uplink: Uplink, report: &Report, prb: u16) -> Self {
        let width_db = decibel::from_ratio(f64::from(u32::from(prb) * SUBCARRIERS_PER_PRB));
        let most = uplink.pcmax_dbm - width_db;
        let (snr_db, loss_db, limit) = if uplink.as_downlink {
            (report.sinr_db, report.instant_loss_db, f64::INFINITY)
        } else {
            (uplink.target_snr_db, report.path_loss_db, most)
        };
        let wanted = snr_db + report.noise_ul_dbm + loss_db;
        Self {
            dbm_per_re: wanted.min(limit),
            headroom_db: most - wanted,
        }
    }

    /// Returns the power received by the gNB over `prb` PRBs, signal and noise, dBm.
    pub fn rssi_dbm(&self, loss_db: f64, noise_dbm_per_re: f64, prb: u16) -> f64 {
        let mw_per_re =
            decibel::to_ratio(self.dbm_per_re - loss_db) + decibel::to_ratio(noise_dbm_per_re);
        decibel::from_ratio(mw_per_re * f64::from(u32::from(prb) * SUBCARRIERS_PER_PRB))
    }

    /// Returns the SNR in dB, of all layers together, that the gNB expects if `report` is still
    /// accurate.
    pub fn expected_snr_db(&self, report: &Report) -> f64 {
        self.dbm_per_re - report.instant_loss_db - report.noise_ul_dbm
    }
}

/// Turns a downlink observation into the SNRs of the uplink at the same time, of all layers
/// together. The channel is reciprocal: it has the same loss and the same frequency selectivity.
pub(crate) fn uplink_snr(seen: &mut Observation, power: Power, noise_ul_dbm: f64) {
    let groups = seen.sinr_db.len() as f64;
    let mean = seen
        .sinr_db
        .iter()
        .map(|&sinr| decibel::to_ratio(f64::from(sinr)))
        .sum::<f64>()
        / groups;
    let level = power.dbm_per_re - seen.instant_loss_db - noise_ul_dbm;
    let shift = (level - decibel::from_ratio(mean)) as f32;
    seen.sinr_db.iter_mut().for_each(|sinr| *sinr += shift);
}
