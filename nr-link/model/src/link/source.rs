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

/// Why a source cannot be made.
type Failure = Box<dyn Error + Send + Sync>;

impl Source {
    /// What the files that `config` names give to its UEs; one that several name is read once.
    ///
    /// # Errors
    /// A file that cannot be read or breaks a rule; as [`Source::of_each`].
    pub fn load(config: &ResolvedConfig) -> Result<Self, Failure> {
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
        let cannot = |error| format!("{} cannot be played: {error}", names(config));
        Self::of_each(&scenarios, config).map_err(|error| cannot(error).into())
    }

    /// What one `scenario` gives to all UEs of `config`.
    ///
    /// # Errors
    /// As [`Source::of_each`].
    pub fn of(scenario: &Scenario, config: &ResolvedConfig) -> Result<Self, Failure> {
        Self::of_each(&vec![scenario.clone(); config.ues.len()], config)
    }

    /// What each UE's scenario gives to it: channels drawn from seeds that count up from the
    /// configuration's, or capacity.
    ///
    /// # Errors
    /// Some give radio and others capacity; the configuration lacks the carrier that a radio
    /// scenario needs, or the channel cannot be played on it; a trace that cannot be read.
    pub fn of_each(scenarios: &[Scenario], config: &ResolvedConfig) -> Result<Self, Failure> {
        let given: Vec<_> = scenarios
            .iter()
            .filter_map(|scenario| Some((scenario, scenario.capacity.as_ref()?)))
            .collect();
        if given.is_empty() {
            return channels(scenarios, config).map(Self::Radio);
        }
        if given.len() < scenarios.len() {
            return Err(
                "some UEs have scenarios of radio and some of capacity; one link is of one kind, give all the same".into(),
            );
        }
        let mut all: Vec<PerDirection<Supply>> = Vec::with_capacity(given.len());
        for (index, (scenario, capacity)) in given.iter().enumerate() {
            // Clones share what was read from a trace.
            let same = given[..index]
                .iter()
                .position(|(before, _)| before == scenario);
            all.push(match same {
                Some(same) => all[same].clone(),
                None => supplies(scenario, capacity)?,
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

impl From<Vec<Channel>> for Source {
    fn from(channels: Vec<Channel>) -> Self {
        Self::Radio(channels)
    }
}

/// The scenario files, each once.
fn names(config: &ResolvedConfig) -> String {
    let mut names: Vec<_> = config
        .ues
        .iter()
        .map(|ue| ue.scenario.display().to_string())
        .collect();
    names.dedup();
    names.join(", ")
}

fn supplies(scenario: &Scenario, capacity: &Capacity) -> Result<PerDirection<Supply>, Failure> {
    let supply = |rate| Supply::new(rate, scenario.duration_s.get(), scenario.at_end);
    Ok(PerDirection {
        dl: supply(&capacity.dl)?,
        ul: supply(&capacity.ul)?,
    })
}

fn channels(scenarios: &[Scenario], config: &ResolvedConfig) -> Result<Vec<Channel>, Failure> {
    let grid = config.radio()?.grid();
    let channels = scenarios.iter().zip(0..).map(|(scenario, ue)| {
        let seed = config.seed.wrapping_add(ue);
        Channel::new(scenario, &grid, seed)
    });
    Ok(channels.collect::<Result<_, _>>()?)
}
