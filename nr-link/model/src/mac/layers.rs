// SPDX-License-Identifier: Apache-2.0
//! The number of MIMO layers, and the power and interference of each.
//!
//! A UE reports the rank (RI) at which the CQI that it would report carries the most bits; TS
//! 38.214 clauses 5.2.1.4.2 and 5.2.2.5 leave the method to the UE. The gNB determines the uplink
//! rank from SRS in the same manner. Each of L layers has 1/L of the power. If the antennas do not
//! separate the layers completely, each other layer is interference, attenuated by the isolation:
//!
//! ```text
//! SINR of a layer = (γ/L) / (1 + (L − 1) (γ/L) / isolation)
//! ```

use crate::radio::decibel::{from_ratio, to_ratio};

/// The numbers of layers that a direction may use, and the isolation between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layers {
    least: u8,
    most: u8,
    isolation_db: Option<f64>,
}

impl Layers {
    /// Allows up to `most` layers if `adaptive`, else exactly `most`.
    pub fn new(most: u8, adaptive: bool, isolation_db: Option<f64>) -> Self {
        Self {
            least: if adaptive { 1 } else { most },
            most,
            isolation_db,
        }
    }

    /// Returns the number of layers for which `bits`, the bits that all layers carry together in
    /// any unit, is largest; the smallest such number.
    pub fn best(self, mut bits: impl FnMut(u8) -> f64) -> u8 {
        if self.least == self.most {
            return self.most;
        }
        let (mut best, mut most) = (self.least, bits(self.least));
        for layers in self.least + 1..=self.most {
            let carried = bits(layers);
            if carried > most {
                (best, most) = (layers, carried);
            }
        }
        best
    }

    /// Returns the SINR in dB of each of `layers` layers; a single layer with all power has
    /// `sinr_db`.
    pub fn each_db(self, sinr_db: f64, layers: u8) -> f64 {
        let share_db = sinr_db - from_ratio(f64::from(layers));
        match self.isolation_db {
            Some(isolation_db) if layers > 1 => {
                let others = f64::from(layers - 1) * to_ratio(share_db - isolation_db);
                share_db - from_ratio(1.0 + others)
            }
            _ => share_db,
        }
    }

    /// Does the same for each part of the carrier.
    pub fn divide(self, sinr_db: &mut [f32], layers: u8) {
        if layers == 1 {
            return;
        }
        for sinr in sinr_db {
            *sinr = self.each_db(f64::from(*sinr), layers) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_number_of_layers_wins_a_tie() {
        let layers = Layers::new(4, true, None);
        assert_eq!(layers.best(|_| 0.0), 1);
        assert_eq!(layers.best(|layers| f64::from(layers.min(3))), 3);
        assert_eq!(Layers::new(4, false, None).best(|_| 0.0), 4);
    }

    #[test]
    fn power_is_shared_and_isolation_bounds_the_sinr() {
        let apart = Layers::new(4, true, None);
        assert!((apart.each_db(20.0, 4) - (20.0 - 6.0206)).abs() < 1e-4);
        let leaking = Layers::new(4, true, Some(20.0));
        assert_eq!(leaking.each_db(20.0, 1), 20.0);
        // At any power, the SINR is at most the isolation divided among the three other layers.
        assert!((leaking.each_db(90.0, 4) - (20.0 - 4.7712)).abs() < 1e-4);
        assert!(leaking.each_db(20.0, 4) < apart.each_db(20.0, 4));
    }
}
