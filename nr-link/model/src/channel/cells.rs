// SPDX-License-Identifier: Apache-2.0
//! The channels of one UE to all cells.

use super::random_streams::Streams;
use super::{Channel, NO_SIGNAL_DBM};
use crate::problem::{Problem, violation};
use crate::radio::Grid;
use crate::scenario::Scenario;

/// The mean SNR below which no cell can serve: the lowest MCS fails even over one PRB, with four rounds of HARQ.
const LEAST_SNR_DB: f64 = -12.0;

impl Channel {
    /// Makes the channels of one UE: of each cell, on each component carrier, the primary one first. Cell 0 of several
    /// has the draws that a single cell would have.
    ///
    /// # Errors
    /// As [`Channel::new`]; the UE's route leaves all cells.
    pub fn to_cells(
        scenario: &Scenario,
        grids: &[Grid],
        seed: u64,
    ) -> Result<Vec<Vec<Self>>, Problem> {
        let cells = scenario.cells();
        if cells.is_empty() {
            return Ok(vec![Self::on_carriers(scenario, grids, seed)?]);
        }
        let mut channels = Vec::with_capacity(cells.len());
        for (number, cell) in cells.iter().enumerate() {
            let mut own: Vec<Grid> = grids.to_vec();
            if let Some(ghz) = cell.carrier_ghz {
                own[0].carrier_hz = ghz.get() * 1e9;
            }
            let site = cells.iter().position(|other| other.shares_site(cell));
            let site = site.unwrap_or(number) as u64;
            let streams = Streams::new(seed).to_cell(number as u64, site);
            let mut made = Self::with_streams(&scenario.with_cell(number), &own, streams)?;
            for channel in &mut made {
                channel.individual_offset_db = cell.individual_offset_db.map_or(0.0, |db| db.get());
            }
            channels.push(made);
        }
        check_coverage(&channels)?;
        Ok(channels)
    }
}

/// Checks that at each time some cell is near enough to serve the UE, but for shadowing and blockage.
fn check_coverage(channels: &[Vec<Channel>]) -> Result<(), Problem> {
    let Some(first) = channels.first().and_then(|carriers| carriers.first()) else {
        return Ok(());
    };
    let best_snr_db = |tick: usize| {
        let primary = channels.iter().filter_map(|carriers| carriers.first());
        primary
            .map(|channel| channel.served().levels.mean_snr_db(tick))
            .fold(NO_SIGNAL_DBM, f64::max)
    };
    let uncovered = (0..first.ticks.count()).find(|&tick| best_snr_db(tick) < LEAST_SNR_DB);
    match uncovered {
        None => Ok(()),
        Some(tick) => {
            let t_s = tick as f64 * first.ticks.tick_s();
            let snr_db = best_snr_db(tick);
            Err(violation!(
                "at {t_s:.1} s the UE's path leaves all cells: the best has a mean SNR of {snr_db:.1} dB, and the lowest MCS needs {LEAST_SNR_DB}",
                "Place a cell there, or end the route before"
            )
            .at_key("radio.cells"))
        }
    }
}
