// SPDX-License-Identifier: Apache-2.0
//! The source of a link's capacity.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::capacity::Supply;
use crate::channel::Channel;
use crate::config::{Event, HandoverKind, PerDirection, ResolvedConfig};
use crate::ids::UeId;
use crate::mac::drx;
use crate::mac::lte_leg::LteLeg;
use crate::mac::timing::Timing;
use crate::packet::Direction;
use crate::problem::{Problem, violation};
use crate::radio::Grid;
use crate::random::seed_of_ue;
use crate::rrc::{Level, Prescribed, can_enter};
use crate::scenario::{Capacity, Scenario};

/// The radio of one UE.
#[derive(Debug, Clone)]
pub struct UeRadio {
    /// Its channel to each cell, on each component carrier.
    pub(super) channels: Vec<Vec<Channel>>,
    /// The handovers that the scenario prescribes.
    pub(super) prescribed: Option<Prescribed>,
}

impl UeRadio {
    /// Makes the radio of a UE in one cell, with its channel on each component carrier.
    pub(super) fn in_one_cell(channels: Vec<Channel>) -> Self {
        Self {
            channels: vec![channels],
            prescribed: None,
        }
    }

    /// Returns whether the entering condition of an event is ever fulfilled without fading, in any serving cell.
    fn can_enter(&self, event: Event, hysteresis_db: f64) -> bool {
        let primary = || self.channels.iter().filter_map(|carriers| carriers.first());
        let ticks = primary().map(|cell| cell.levels_dbm().len()).min();
        let mut levels = (0..ticks.unwrap_or(0)).map(|tick| -> Vec<Level> {
            let cells = primary().map(|cell| Level {
                dbm: f64::from(cell.levels_dbm()[tick]),
                offset_db: cell.individual_offset_db(),
                carrier_hz: cell.carrier_hz(),
            });
            cells.collect()
        });
        levels.any(|cells| can_enter(event, hysteresis_db, &cells))
    }
}

/// The capacity of each UE, in the order of UEs.
#[derive(Debug, Clone)]
pub enum Source {
    /// Radio channels, on which the MAC provides the capacity.
    Radio(Vec<UeRadio>),
    /// EN-DC: radio channels, and the LTE leg of the UEs that have one.
    DualConnectivity {
        /// The channels, as in [`Source::Radio`].
        radio: Vec<UeRadio>,
        /// The leg of each UE.
        lte: Vec<Option<LteLeg>>,
    },
    /// Capacity that the scenario specifies directly.
    Capacity(Vec<PerDirection<Supply>>),
}

impl Source {
    /// Loads the scenario files of the configuration's UEs.
    ///
    /// # Errors
    /// A file cannot be read or breaks a rule; also the errors of [`Source::of_each`].
    pub fn load(config: &ResolvedConfig) -> Result<Self, Problem> {
        Self::of_each(&scenarios(config)?, config)
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
        let capacities = scenarios
            .iter()
            .filter_map(|scenario| scenario.capacity.as_ref());
        let capacities: Vec<&Capacity> = capacities.collect();
        if capacities.is_empty() {
            let radio = radios(scenarios, config)?;
            let lte = lte_legs(scenarios, config)?;
            return Ok(match lte.iter().any(Option::is_some) {
                true => Self::DualConnectivity { radio, lte },
                false => Self::Radio(radio),
            });
        }
        if capacities.len() < scenarios.len() {
            return Err(violation!(
                "some UEs have scenarios with radio, others with capacity",
                "Use scenarios of one of these types for all UEs"
            )
            .at_key("devices.ue")
            .or_in_file(&config.file));
        }
        let mut all: Vec<PerDirection<Supply>> = Vec::with_capacity(capacities.len());
        for (index, (scenario, capacity)) in scenarios.iter().zip(capacities).enumerate() {
            // Clones share the content of a trace.
            let same = scenarios[..index]
                .iter()
                .position(|before| before == scenario && !capacity.depends_on_seed());
            all.push(match same {
                Some(same) => all[same].clone(),
                None => supplies(scenario, capacity, seed(scenario, config, index))
                    .map_err(|problem| problem.or_in_file(&config.ues[index].scenario))?,
            });
        }
        Ok(Self::Capacity(all))
    }

    /// Returns what is allowed and most likely a mistake: measurement events that the scenario's levels never fulfil.
    pub fn warnings(&self, config: &ResolvedConfig) -> Vec<Problem> {
        let (Self::Radio(radios) | Self::DualConnectivity { radio: radios, .. }, Some(radio)) =
            (self, &config.radio)
        else {
            return Vec::new();
        };
        let handover = &radio.handover;
        let starts =
            handover.kind != HandoverKind::Off && radios.iter().any(|one| one.prescribed.is_none());
        let event = starts.then_some((handover.event, "radio.handover.event"));
        let reports = handover.reports.iter();
        let reports = reports.map(|&event| (event, "radio.handover.reports"));
        let several: Vec<_> = radios.iter().filter(|one| one.channels.len() > 1).collect();
        let is_never_entered = |event| {
            let mut radios = several.iter();
            !several.is_empty() && !radios.any(|one| one.can_enter(event, handover.hysteresis_db))
        };
        let written = event.into_iter().chain(reports);
        written
            .filter(|&(event, _)| is_never_entered(event))
            .map(|(event, key)| {
                let name = event.name();
                violation!(
                    "no cell ever fulfils the entering condition of {name}, at the scenario's levels without fading",
                    "Choose a level that its cells reach, or leave it for a UE that keeps its cell"
                )
                .at_key(key)
                .or_in_file(&config.file)
            })
            .collect()
    }

    /// Returns the number of UEs.
    pub(super) fn ues(&self) -> usize {
        match self {
            Self::Radio(radio) | Self::DualConnectivity { radio, .. } => radio.len(),
            Self::Capacity(supplies) => supplies.len(),
        }
    }
}

/// A configuration with the scenario of each UE, which another program can read without the YAML.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResolvedLink {
    /// The configuration.
    pub config: ResolvedConfig,
    scenarios: Vec<Scenario>,
}

impl ResolvedLink {
    /// Loads a configuration and its scenarios from their files.
    ///
    /// # Errors
    /// A file cannot be read or breaks a rule.
    pub fn load(config: &Path) -> Result<Self, Problem> {
        let config = ResolvedConfig::load(config)?;
        Ok(Self {
            scenarios: scenarios(&config)?,
            config,
        })
    }

    /// Makes the source of the link, with the tables and traces that its scenarios name.
    ///
    /// # Errors
    /// One of these files cannot be read or breaks a rule; also the errors of
    /// [`Source::of_each`].
    pub fn source(&mut self) -> Result<Source, Problem> {
        for scenario in &mut self.scenarios {
            scenario.load_files()?;
        }
        Source::of_each(&self.scenarios, &self.config)
    }
}

impl ResolvedLink {
    /// Makes the radio channels of each UE on the primary carrier, one for each of `pairs` pairs of antennas; the first
    /// is that of [`ResolvedLink::source`].
    ///
    /// # Errors
    /// As [`ResolvedLink::source`]; a scenario has capacity and no radio.
    pub fn antenna_channels(&mut self, pairs: u64) -> Result<Vec<Vec<Channel>>, Problem> {
        for scenario in &mut self.scenarios {
            scenario.load_files()?;
        }
        let config = &self.config;
        let grid = config.radio()?.grids().next();
        let grid = grid.expect("a configuration has at least one carrier");
        let channels = self.scenarios.iter().enumerate().map(|(ue, scenario)| {
            Channel::on_antennas(scenario, &grid, seed(scenario, config, ue), pairs)
                .map_err(|problem| problem.or_in_file(&config.ues[ue].scenario))
        });
        channels.collect()
    }
}

/// Loads the scenario of each UE; a file that several UEs share is read once.
fn scenarios(config: &ResolvedConfig) -> Result<Vec<Scenario>, Problem> {
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
    Ok(scenarios)
}

/// Makes a source with one channel for each UE, for a link with one cell and carrier.
impl From<Vec<Channel>> for Source {
    fn from(channels: Vec<Channel>) -> Self {
        let channels = channels.into_iter();
        Self::Radio(
            channels
                .map(|channel| UeRadio::in_one_cell(vec![channel]))
                .collect(),
        )
    }
}

fn supplies(
    scenario: &Scenario,
    capacity: &Capacity,
    seed: u64,
) -> Result<PerDirection<Supply>, Problem> {
    Ok(PerDirection {
        dl: Supply::new(scenario, capacity, Direction::Downlink, seed)?,
        ul: Supply::new(scenario, capacity, Direction::Uplink, seed)?,
    })
}

fn radios(scenarios: &[Scenario], config: &ResolvedConfig) -> Result<Vec<UeRadio>, Problem> {
    let cells = |scenario: &Scenario| scenario.cells().to_vec();
    if let Some(other) = scenarios
        .iter()
        .position(|one| cells(one) != cells(&scenarios[0]))
    {
        return Err(violation!(
            "the scenarios of UEs have different cells",
            "Place the same cells in each"
        )
        .at_key("radio.cells")
        .or_in_file(&config.ues[other].scenario));
    }
    let radio = config.radio()?;
    if radio.needs_cells && scenarios.iter().all(|one| one.cells().len() < 2) {
        return Err(violation!(
            "the scenario has one cell, and radio.handover and radio.neighbour_load are about several",
            "Leave them out, or choose a scenario with cells, such as corridor"
        )
        .at_key("radio.handover")
        .or_in_file(&config.file));
    }
    if let Some(drx) = &radio.drx
        && !drx::reaches(drx, &Timing::new(radio))
    {
        return Err(violation!(
            "no on-duration has a downlink slot, so that the gNB never reaches a sleeping UE",
            "Write a longer on-duration, or other offsets"
        )
        .at_key("radio.drx.on_duration_ms")
        .or_in_file(&config.file));
    }
    let grids: Vec<Grid> = radio.grids().collect();
    let radios = scenarios.iter().enumerate().map(|(ue, scenario)| {
        let channels = Channel::to_cells(scenario, &grids, seed(scenario, config, ue))
            .map_err(|problem| problem.or_in_file(&config.ues[ue].scenario))?;
        let prescribed = Prescribed::by(scenario);
        Ok(UeRadio {
            channels,
            prescribed,
        })
    });
    radios.collect()
}

fn lte_legs(
    scenarios: &[Scenario],
    config: &ResolvedConfig,
) -> Result<Vec<Option<LteLeg>>, Problem> {
    let is_daps = config.radio()?.handover.kind == HandoverKind::Daps;
    let legs = scenarios.iter().enumerate().map(|(ue, scenario)| {
        let leg = scenario.lte.as_ref();
        if leg.is_some() && scenario.cells().len() > 1 && is_daps {
            return Err(violation!(
                "DAPS is a handover of the master cell group, which is LTE's in this scenario: its NR cells are secondary ones",
                "Choose a3, cho or ltm, which change the secondary cell"
            )
            .at_key("radio.handover.kind")
            .or_in_file(&config.file));
        }
        let leg = leg.map(|leg| LteLeg::new(scenario, leg, seed(scenario, config, ue)));
        leg.transpose()
            .map_err(|problem| problem.or_in_file(&config.ues[ue].scenario))
    });
    legs.collect()
}

/// Returns the seed from which a UE's channel or capacity is drawn.
fn seed(scenario: &Scenario, config: &ResolvedConfig, ue: usize) -> u64 {
    let seed = config.scenario_seed.or(scenario.seed);
    seed_of_ue(seed.unwrap_or(config.seed), UeId(ue))
}
