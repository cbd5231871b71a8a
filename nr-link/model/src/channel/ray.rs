// SPDX-License-Identifier: Apache-2.0
//! The propagation paths of a multipath channel.

use crate::radio::decibel::to_ratio;
use crate::scenario::Tap;

/// A propagation path in linear units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ray {
    pub delay_s: f64,
    pub specular_power: f64,
    pub diffuse_power: f64,
}

impl From<&Tap> for Ray {
    fn from(tap: &Tap) -> Self {
        let power = to_ratio(tap.power_db.get());
        let k = tap.k_factor_db.map_or(0.0, |k| to_ratio(k.get()));
        Self {
            delay_s: tap.delay_ns.get() * 1e-9,
            specular_power: power * k / (k + 1.0),
            diffuse_power: power / (k + 1.0),
        }
    }
}

/// Scales the powers of all rays so that they sum to 1.
pub(super) fn normalised(rays: impl Iterator<Item = Ray>) -> Vec<Ray> {
    let mut rays: Vec<Ray> = rays.collect();
    let total: f64 = rays
        .iter()
        .map(|ray| ray.specular_power + ray.diffuse_power)
        .sum();
    for ray in &mut rays {
        ray.specular_power /= total;
        ray.diffuse_power /= total;
    }
    rays
}
