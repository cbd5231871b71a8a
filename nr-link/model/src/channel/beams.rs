// SPDX-License-Identifier: Apache-2.0
//! Candidate beams of a channel: the same movement, shadowing, noise and fading as the strongest beam, with a loss and
//! blockages of their own.

use std::sync::Arc;

use super::fading::Multipath;
use super::large_scale::Levels;
use super::odometer::Odometer;
use super::random_streams::Streams;
use super::rsrp::RsrpMeter;
use super::time_grid::{GridPosition, TimeGrid};
use crate::problem::Problem;
use crate::radio::Grid;
use crate::scenario::{CandidateBeam, Radio};

/// The properties of one beam.
#[derive(Debug)]
pub(super) struct Beam {
    pub levels: Levels,
    rsrp: RsrpMeter,
}

impl Beam {
    /// Returns the latest measurement of RSRP, dBm.
    pub fn rsrp_dbm(&self, position: GridPosition) -> f64 {
        self.rsrp.at(position, &self.levels)
    }
}

/// The common properties of the beams of a channel.
pub(super) struct Common<'a> {
    pub radio: &'a Radio,
    pub grid: &'a Grid,
    pub ticks: &'a TimeGrid,
    pub odometer: &'a Arc<Odometer>,
    pub streams: &'a Streams,
    pub multipath: &'a Arc<Multipath>,
}

impl Common<'_> {
    /// Makes all beams, the strongest one first.
    pub fn beams(&self) -> Result<Vec<Beam>, Problem> {
        let candidates = self
            .radio
            .beams
            .iter()
            .map(|candidate| self.candidate(candidate));
        std::iter::once(self.beam(self.radio, 0.0))
            .chain(candidates)
            .collect()
    }

    fn candidate(&self, candidate: &CandidateBeam) -> Result<Beam, Problem> {
        let radio = Radio {
            blockage: candidate.blockage.clone(),
            ..self.radio.clone()
        };
        self.beam(&radio, candidate.loss_db.get())
    }

    fn beam(&self, radio: &Radio, loss_db: f64) -> Result<Beam, Problem> {
        let mut levels = Levels::new(radio, self.grid, self.ticks, self.odometer, self.streams)?;
        levels.attenuate(loss_db);
        let rsrp = RsrpMeter::new(self.ticks, self.odometer, self.multipath);
        Ok(Beam { levels, rsrp })
    }
}
