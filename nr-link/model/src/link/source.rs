// SPDX-License-Identifier: Apache-2.0
//! The source of a link's capacity.

use crate::capacity::Supply;
use crate::channel::Channel;
use crate::config::{PerDirection, ResolvedConfig};
use crate::packet::Direction;
use crate::problem::{Problem, violation};
use crate::radio::Grid;
use crate::scenario::{Rate, Scenario};

/// The capacity of each UE, in the order of UEs.
#[derive(Debug, Clone)]
pub enum Source {
    /// A radio channel for each component carrier, on which the MAC provides the capacity.
    Radio(Vec<Vec<Channel>>),
    /// Capacity that the scenario specifies directly.
    Capacity(Vec<PerDirection<Supply>>),
}

impl Source {
    /// Loads the scenario files of the configuration's UEs; a file that several UEs share is read
    /// once.
    ///
    /// # Errors
    /// A file cannot be read or breaks a rule; also the errors of [`Source::of_each`].
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

    /// Makes the source of a link whose UEs all have the same scenario.
    ///
    /// # Errors
    /// As [`Source::of_each`].
    pub fn of(scenario: &Scenario, config: &ResolvedConfig) -> Result<Self, Problem> {
        Self::of_each(&vec![scenario.clone(); config.ues.len()], config)
    }

    /// Makes the source of a link from the scenario of each UE. The seeds of UEs count up from the
    /// scenario's seed or, without one, from the configuration's.
    ///
    /// # Errors
    /// Some scenarios have radio and others capacity; the configuration lacks the carrier that a
    /// radio scenario needs, or the channel is not valid on it; a trace cannot be read.
    pub fn of_each(scenarios: &[Scenario], config: &ResolvedConfig) -> Result<Self, Problem> {
        let with_capacity: Vec<_> = scenarios
            .iter()
            .filter(|scenario| scenario.capacity.is_some())
            .collect();
        if with_capacity.is_empty() {
            return channels(scenarios, config).map(Self::Radio);
        }
        if with_capacity.len() < scenarios.len() {
            return Err(violation!(
                "some UEs have scenarios with radio, others with capacity",
                "Use scenarios of one of these types for all UEs"
            )
            .at_key("devices.ue")
            .or_in_file(&config.file));
        }
        let mut all: Vec<PerDirection<Supply>> = Vec::with_capacity(with_capacity.len());
        for (index, scenario) in with_capacity.iter().enumerate() {
            // Clones share the content of a trace.
            let same = with_capacity[..index]
                .iter()
                .position(|before| before == scenario && !depends_on_seed(scenario));
            all.push(match same {
                Some(same) => all[same].clone(),
                None => supplies(scenario, seed(scenario, config, index))
                    .map_err(|problem| problem.or_in_file(&config.ues[index].scenario))?,
            });
        }
        Ok(Self::Capacity(all))
    }

    /// Returns the number of UEs.
    pub(super) fn ues(&self) -> usize {
        match self {
            Self::Radio(channels) => channels.len(),
            Self::Capacity(supplies) => supplies.len(),
        }
    }
}

/// Makes a source with one channel for each UE, for a link with one carrier.
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

/// Returns whether the capacity depends on the seed.
fn depends_on_seed(scenario: &Scenario) -> bool {
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

/// Returns the seed from which a UE's channel or capacity is drawn.
fn seed(scenario: &Scenario, config: &ResolvedConfig, ue: usize) -> u64 {
    let seed = config.scenario_seed.or(scenario.seed);
    seed.unwrap_or(config.seed).wrapping_add(ue as u64)
}
