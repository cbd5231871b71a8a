// SPDX-License-Identifier: Apache-2.0
//! The content of a CSI report.

use crate::config::PerDirection;

/// One measurement of both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Report {
    /// The ranks: of the downlink as the UE reports it (RI), of the uplink as the gNB measures it.
    pub rank: PerDirection<u8>,
    /// The highest CQI that the channel supports with that rank, measured on CSI-RS.
    pub cqi: u8,
    /// Effective downlink SINR of a layer, dB: that of a flat channel with the same Shannon
    /// capacity.
    pub sinr_db: f64,
    /// SS-RSRP, dBm.
    pub rsrp_dbm: f64,
    /// Path loss as the UE estimates it from RSRP, dB.
    pub path_loss_db: f64,
    /// Path loss at this instant as the gNB measures it from SRS, dB.
    pub instant_loss_db: f64,
    /// Noise and interference at the gNB, dBm per resource element.
    pub noise_ul_dbm: f64,
}
