// SPDX-License-Identifier: Apache-2.0
//! The propagation paths of a multipath channel.

use crate::radio::decibel::to_ratio;
use crate::scenario::Tap;

/// A propagation path in linear units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ray {
    pub delay_s: f64,
    pub steady_power: f64,
    pub scattered_power: f64,
}

impl From<&Tap> for Ray {
    fn from(tap: &Tap) -> Self {
        let power = to_ratio(tap.power_db.get());
        let k = tap.k_factor_db.map_or(0.0, |k| to_ratio(k.get()));
        Self {
            delay_s: tap.delay_ns.get() * 1e-9,
            steady_power: power * k / (k + 1.0),
            scattered_power: power / (k + 1.0),
        }
    }
}

/// Scales the powers of all rays to a sum of 1.
pub(super) fn normalised(rays: impl Iterator<Item = Ray>) -> Vec<Ray> {
    let mut rays: Vec<Ray> = rays.collect();
    let total: f64 = rays
        .iter()
        .map(|ray| ray.steady_power + ray.scattered_power)
        .sum();
    for ray in &mut rays {
        ray.steady_power /= total;
        ray.scattered_power /= total;
    }
    rays
}
