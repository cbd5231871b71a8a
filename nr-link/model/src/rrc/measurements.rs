// SPDX-License-Identifier: Apache-2.0
//! A UE's measurements of all cells: RSRP over the SSB, averaged by layer 1 and filtered by layer 3.

use libm::pow;

use crate::Nanos;
use crate::ids::CellId;
use crate::radio::decibel::{from_ratio, to_ratio};

/// The period of the SSB (TS 38.213 clause 4.1).
pub(super) const SSB_PERIOD: Nanos = 20_000_000;

#[derive(Debug)]
pub(crate) struct Measurements {
    /// The period of layer 1's measurements (TS 38.133 clause 9.2.5).
    period: Nanos,
    /// a of layer 3's filter.
    newest: f64,
    next_ssb: Nanos,
    cells: Vec<Measured>,
}

/// The measurements of one cell.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    /// Sum and number of the samples of this period.
    sum_mw: f64,
    samples: u32,
    /// The filtered measurement F, dBm.
    filtered_dbm: Option<f64>,
}

impl Measurements {
    pub fn new(period: Nanos, filter_coefficient: u8, cells: usize) -> Self {
        Self {
            period,
            // TS 38.331 clause 5.5.3.2: a = 1/2^(k/4), with k = 0 for no filter.
            newest: pow(0.5, f64::from(filter_coefficient) / 4.0),
            next_ssb: 0,
            cells: vec![Measured::default(); cells],
        }
    }

    /// Samples the SSBs at `now` if it is their time; `rsrp_dbm` returns the power of a cell's. Returns whether layer 3
    /// has new measurements.
    pub fn run(&mut self, now: Nanos, mut rsrp_dbm: impl FnMut(CellId) -> f64) -> bool {
        if now < self.next_ssb {
            return false;
        }
        self.next_ssb = now + SSB_PERIOD;
        let ends = now.is_multiple_of(self.period);
        for (number, cell) in self.cells.iter_mut().enumerate() {
            cell.sum_mw += to_ratio(rsrp_dbm(CellId(number)));
            cell.samples += 1;
            if ends {
                cell.measure(self.newest);
            }
        }
        ends
    }

    /// Returns the filtered RSRP of a cell, dBm, if there is a measurement.
    pub fn rsrp_dbm(&self, cell: CellId) -> Option<f64> {
        self.cells[cell.0].filtered_dbm
    }

    pub fn cells(&self) -> impl Iterator<Item = CellId> + use<> {
        (0..self.cells.len()).map(CellId)
    }
}

impl Measured {
    /// TS 38.331 clause 5.5.3.2: F = (1 − a) F + a M, in dB; the first F is the first M.
    fn measure(&mut self, newest: f64) {
        let measured_dbm = from_ratio(self.sum_mw / f64::from(self.samples));
        let before_dbm = self.filtered_dbm.unwrap_or(measured_dbm);
        *self = Self {
            filtered_dbm: Some((1.0 - newest) * before_dbm + newest * measured_dbm),
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layer_1_averages_power_and_layer_3_levels() {
        let mut measurements = Measurements::new(40_000_000, 4, 1);
        let levels = [-80.0, -80.0, -90.0, -100.0, -100.0];
        for (ssb, level) in levels.into_iter().enumerate() {
            let now = ssb as Nanos * SSB_PERIOD;
            assert_eq!(measurements.run(now, |_| level), ssb % 2 == 0);
        }
        // M = −80 at 0 ms; the mean of 10^-8 and 10^-9 mW at 40 ms; −100 at 80 ms. k = 4 halves.
        let second = 0.5 * -80.0 + 0.5 * (10.0 * libm::log10((1e-8 + 1e-9) / 2.0));
        let third = 0.5 * second + 0.5 * -100.0;
        assert!((measurements.rsrp_dbm(CellId(0)).unwrap() - third).abs() < 1e-9);
    }

    #[test]
    fn coefficient_zero_filters_nothing() {
        let mut measurements = Measurements::new(SSB_PERIOD, 0, 1);
        measurements.run(0, |_| -80.0);
        measurements.run(SSB_PERIOD, |_| -95.0);
        assert!((measurements.rsrp_dbm(CellId(0)).unwrap() + 95.0).abs() < 1e-9);
    }
}
