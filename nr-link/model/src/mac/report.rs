// SPDX-License-Identifier: Apache-2.0
//! The content of a CSI report.

use crate::config::PerDirection;

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
