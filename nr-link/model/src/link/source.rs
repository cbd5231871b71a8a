// SPDX-License-Identifier: Apache-2.0
//! Where a link's capacity comes from.

use crate::capacity::Supply;
use crate::channel::Channel;
use crate::config::{PerDirection, ResolvedConfig};
use crate::packet::Direction;
use crate::problem::{Problem, violation};
use crate::radio::Grid;
use crate::scenario::{Rate, Scenario};

/// What a scenario gives to each UE, the first one first.
#[derive(Debug, Clone)]
pub enum Source {
    /// A radio channel for each component carrier, of which the MAC makes capacity.
    Radio(Vec<Vec<Channel>>),
    /// Capacity itself.
    Capacity(Vec<PerDirection<Supply>>),
}

impl Source {
    /// What the files that `config` names give to its UEs; one that several name is read once.
    ///
    /// # Errors
    /// A file that cannot be read or breaks a rule; as [`Source::of_each`].
    pub fn load(config: &ResolvedConfig) -> Result<Self, Problem> {
        let mut scenarios: Vec<Scenario> = Vec::with_capacity(config.ues.len());
        for (index, ue) in config.ues.iter().enumerate() {
            let before = config.ues[..index]
                .iter()
                .position(|other| other.scenario == ue.scenario);
            scenarios.push(match before {
                Some(same) => scenarios[same].clone(),
                None => Scenario::load(&ue.scenario)?,
            });
        }
        Self::of_each(&scenarios, config)
    }

    /// What one `scenario` gives to all UEs of `config`.
    ///
    /// # Errors
    /// As [`Source::of_each`].
    pub fn of(scenario: &Scenario, config: &ResolvedConfig) -> Result<Self, Problem> {
        Self::of_each(&vec![scenario.clone(); config.ues.len()], config)
    }

    /// What each UE's scenario gives to it: a channel or capacity, drawn from seeds that count up
    /// from the scenario's, or else from the configuration's.
    ///
    /// # Errors
    /// Some give radio and others capacity; the configuration lacks the carrier that a radio
    /// scenario needs, or the channel cannot be played on it; a trace that cannot be read.
    pub fn of_each(scenarios: &[Scenario], config: &ResolvedConfig) -> Result<Self, Problem> {
        let given: Vec<_> = scenarios
            .iter()
            .filter(|scenario| scenario.capacity.is_some())
            .collect();
        if given.is_empty() {
            return channels(scenarios, config).map(Self::Radio);
        }
        if given.len() < scenarios.len() {
            return Err(violation!(
                "some UEs have scenarios with radio, others with capacity",
                "Use scenarios of one of these types for all UEs"
            )
            .at_key("devices.ue")
            .or_in_file(&config.file));
        }
        let mut all: Vec<PerDirection<Supply>> = Vec::with_capacity(given.len());
        for (index, scenario) in given.iter().enumerate() {
            // Clones share what was read from a trace.
            let same = given[..index]
                .iter()
                .position(|before| before == scenario && !draws(scenario));
            all.push(match same {
                Some(same) => all[same].clone(),
                None => supplies(scenario, seed(scenario, config, index))
                    .map_err(|problem| problem.or_in_file(&config.ues[index].scenario))?,
            });
        }
        Ok(Self::Capacity(all))
    }

    /// For how many UEs.
    pub(super) fn ues(&self) -> usize {
        match self {
            Self::Radio(channels) => channels.len(),
            Self::Capacity(supplies) => supplies.len(),
        }
    }
}

/// One channel for each UE of a link of one carrier.
impl From<Vec<Channel>> for Source {
    fn from(channels: Vec<Channel>) -> Self {
        Self::Radio(channels.into_iter().map(|channel| vec![channel]).collect())
    }
}

fn supplies(scenario: &Scenario, seed: u64) -> Result<PerDirection<Supply>, Problem> {
    let supply = |direction| -> Result<Supply, Problem> {
        let supply = Supply::of(scenario, direction, seed)?;
        supply.ok_or_else(|| {
            violation!(
                "the scenario has no capacity",
                "Choose a scenario with capacity"
            )
            .at_key("capacity")
        })
    };
    Ok(PerDirection {
        dl: supply(Direction::Downlink)?,
        ul: supply(Direction::Uplink)?,
    })
}

/// Whether another seed would give another capacity.
fn draws(scenario: &Scenario) -> bool {
    let capacity = scenario.capacity.iter();
    let mut rates = capacity.flat_map(|both| [&both.dl, &both.ul]);
    rates.any(|rate| matches!(rate, Rate::Drawn(_)))
}

fn channels(scenarios: &[Scenario], config: &ResolvedConfig) -> Result<Vec<Vec<Channel>>, Problem> {
    let grids: Vec<Grid> = config.radio()?.grids().collect();
    let channels = scenarios.iter().enumerate().map(|(ue, scenario)| {
        Channel::on_carriers(scenario, &grids, seed(scenario, config, ue))
            .map_err(|problem| problem.or_in_file(&config.ues[ue].scenario))
    });
    channels.collect()
}

/// What a UE's channel or capacity is drawn from.
fn seed(scenario: &Scenario, config: &ResolvedConfig, ue: usize) -> u64 {
    scenario.seed.unwrap_or(config.seed).wrapping_add(ue as u64)
}
