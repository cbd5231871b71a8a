// SPDX-License-Identifier: Apache-2.0
//! Where a link's capacity comes from.

use std::error::Error;

use crate::capacity::Supply;
use crate::channel::Channel;
use crate::config::{PerDirection, ResolvedConfig};
use crate::scenario::{Capacity, Scenario};

/// What a scenario gives to each UE, the first one first.
#[derive(Debug, Clone)]
pub enum Source {
    /// A radio channel each, which the MAC makes capacity of.
    Radio(Vec<Channel>),
    /// Capacity itself.
    Capacity(Vec<PerDirection<Supply>>),
}

impl Source {
    /// What `scenario` gives to the UEs of `config`: channels drawn from seeds that count up from
    /// the configuration's, or the same capacity to each.
    ///
    /// # Errors
    /// The configuration lacks the carrier that a radio scenario needs, or the channel cannot be
    /// played on it; a trace that cannot be read.
    pub fn of(
        scenario: &Scenario,
        config: &ResolvedConfig,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        match &scenario.capacity {
            Some(capacity) => {
                let supplies = supplies(scenario, capacity)?;
                Ok(Self::Capacity(vec![supplies; config.devices.ue.len()]))
            }
            None => channels(scenario, config).map(Self::Radio),
        }
    }

    /// For how many UEs.
    pub(super) fn ues(&self) -> usize {
        match self {
            Self::Radio(channels) => channels.len(),
            Self::Capacity(supplies) => supplies.len(),
        }
    }
}

impl From<Vec<Channel>> for Source {
    fn from(channels: Vec<Channel>) -> Self {
        Self::Radio(channels)
    }
}

fn supplies(
    scenario: &Scenario,
    capacity: &Capacity,
) -> Result<PerDirection<Supply>, Box<dyn Error + Send + Sync>> {
    let supply = |rate| Supply::new(rate, scenario.duration_s.get(), scenario.at_end);
    Ok(PerDirection {
        dl: supply(&capacity.dl)?,
        ul: supply(&capacity.ul)?,
    })
}

fn channels(
    scenario: &Scenario,
    config: &ResolvedConfig,
) -> Result<Vec<Channel>, Box<dyn Error + Send + Sync>> {
    let grid = config.radio()?.grid();
    let seeds = (0..config.devices.ue.len() as u64).map(|ue| config.seed.wrapping_add(ue));
    let channels = seeds.map(|seed| Channel::new(scenario, &grid, seed));
    Ok(channels.collect::<Result<_, _>>()?)
}
