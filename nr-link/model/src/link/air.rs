// SPDX-License-Identifier: Apache-2.0
//! What carries packets between the ends: radio, or capacity as given.

use super::ends::Ends;
use super::given::{GRAIN, Given};
use super::radio::Radio;
use super::source::Source;
use crate::config::ResolvedConfig;
use crate::mac::account::{Account, Totals};
use crate::problem::{Problem, violation};
use crate::samples::MacSample;
use crate::{Direction, Nanos, Packet};

#[derive(Debug)]
pub(super) enum Air<T> {
    Radio(Box<Radio<T>>),
    Given(Given<T>),
}

impl<T> Air<T> {
    pub fn new(config: &ResolvedConfig, source: Source) -> Result<Self, Problem> {
        let (given, ues) = (source.ues(), config.ues.len());
        if given != ues {
            return Err(violation!(
                "the source is for {given} UEs, and the configuration has {ues}",
                "Make the source from this configuration"
            )
            .at_key("devices.ue"));
        }
        Ok(match source {
            Source::Radio(channels) => {
                let radio = config.radio()?;
                let carriers = radio.carriers.len();
                if let Some(other) = channels.iter().find(|each| each.len() != carriers) {
                    let channels = other.len();
                    return Err(violation!(
                        "a UE has {channels} channels, and the link {carriers} component carriers",
                        "Make the source from this configuration"
                    )
                    .at_key("radio.secondary"));
                }
                Self::Radio(Box::new(Radio::new(config, radio, channels)))
            }
            Source::Capacity(supplies) => Self::Given(Given::new(config, supplies)),
        })
    }

    /// When something happens next.
    pub fn next(&self, ends: &Ends<T>) -> Option<Nanos> {
        match self {
            Self::Radio(radio) => Some(radio.next(ends)),
            Self::Given(given) => given.next(ends),
        }
    }

    /// When something happens next that has to do with a packet.
    pub fn next_work(&self, ends: &Ends<T>) -> Option<Nanos> {
        match self {
            Self::Radio(radio) => radio.next_work(ends),
            Self::Given(given) => given.next(ends),
        }
    }

    /// Runs what happens next, at `now`.
    pub fn run(&mut self, now: Nanos, ends: &mut Ends<T>) {
        match self {
            Self::Radio(radio) => radio.run(now, ends),
            Self::Given(given) => given.run(now, ends),
        }
    }

    /// Closes an interval: one sample for each UE.
    pub fn sample(&mut self, start: Nanos, end: Nanos, to: &mut Vec<MacSample>) {
        match self {
            Self::Radio(radio) => to.extend(radio.sample(start, end)),
            Self::Given(given) => to.extend(given.sample(start, end)),
        }
    }

    pub fn account(&mut self, ue: usize, direction: Direction) -> &mut Account {
        match self {
            Self::Radio(radio) => &mut radio.bearer_mut(ue, direction).account,
            Self::Given(given) => &mut given.pipe_mut(ue, direction).account,
        }
    }

    /// Counters by `now`.
    pub fn totals(&self, ue: usize, direction: Direction, now: Nanos) -> Totals {
        match self {
            Self::Radio(radio) => radio.bearer(ue, direction).totals(),
            Self::Given(given) => given.pipe(ue, direction).totals(now),
        }
    }

    /// Calls `each` with every packet of one UE that is in its buffer or on the air.
    pub fn packets(&self, ue: usize, direction: Direction, each: impl FnMut(&Packet<T>)) {
        match self {
            Self::Radio(radio) => radio.packets(ue, direction).for_each(each),
            Self::Given(given) => given.packets(ue, direction).for_each(each),
        }
    }

    pub fn ues(&self) -> usize {
        match self {
            Self::Radio(radio) => radio.ues(),
            Self::Given(given) => given.ues(),
        }
    }

    pub fn slots(&self, now: Nanos) -> u64 {
        match self {
            Self::Radio(radio) => radio.ticks(),
            Self::Given(_) => now / GRAIN,
        }
    }

    pub fn slot_length(&self) -> Nanos {
        match self {
            Self::Radio(radio) => radio.tick_length(),
            Self::Given(_) => GRAIN,
        }
    }
}
