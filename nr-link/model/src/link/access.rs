// SPDX-License-Identifier: Apache-2.0
//! The access link between gNB and UEs: radio, or driven by a capacity trace.

use super::endpoints::Endpoints;
use super::radio_access::{self, RadioAccess};
use super::source::{Source, UeRadio};
use super::trace_driven::{self, STEP, TraceDriven};
use crate::config::{PerDirection, Queue, ResolvedConfig};
use crate::counters::{Counters, Totals};
use crate::delays::Part;
use crate::ids::UeId;
use crate::mac::lte_leg::LteLeg;
use crate::mac::pdu::MacPdu;
use crate::problem::{Problem, violation};
use crate::radio_events::RadioEvent;
use crate::rlc::Buffer;
use crate::samples::{Extent, MacSample};
use crate::{Direction, Nanos, Packet};

#[derive(Debug)]
pub(super) enum Access<T> {
    Radio(Box<RadioAccess<T>>),
    TraceDriven(TraceDriven<T>),
}

impl<T> Access<T> {
    pub fn new(config: &ResolvedConfig, source: Source) -> Result<Self, Problem> {
        let (available, ues) = (source.ues(), config.ues.len());
        if available != ues {
            return Err(violation!(
                "the source is for {available} UEs, and the configuration has {ues}",
                "Make the source from this configuration"
            )
            .at_key("devices.ue"));
        }
        Ok(match source {
            Source::Radio(radios) => Self::radio(config, radios, Vec::new())?,
            Source::DualConnectivity { radio, lte } => Self::radio(config, radio, lte)?,
            Source::Capacity(supplies) => Self::TraceDriven(TraceDriven::new(config, supplies)),
        })
    }

    /// Begins to record the blocks that arrive; a capacity trace has none.
    pub fn record_pdus(&mut self) {
        if let Self::Radio(radio) = self {
            radio.record_pdus();
        }
    }

    /// Removes the blocks that have arrived.
    pub fn pdus(&mut self) -> Vec<MacPdu> {
        match self {
            Self::Radio(radio) => radio.pdus(),
            Self::TraceDriven(_) => Vec::new(),
        }
    }

    fn radio(
        config: &ResolvedConfig,
        radios: Vec<UeRadio>,
        legs: Vec<Option<LteLeg>>,
    ) -> Result<Self, Problem> {
        let radio = config.radio()?;
        let carriers = radio.carriers.len();
        let mut cells = radios.iter().flat_map(|radio| &radio.channels);
        if let Some(other) = cells.find(|each| each.len() != carriers) {
            let channels = other.len();
            return Err(violation!(
                "a UE has {channels} channels, and the link {carriers} component carriers",
                "Make the source from this configuration"
            )
            .at_key("radio.secondary"));
        }
        let radio = RadioAccess::new(config, radio, radios, legs);
        Ok(Self::Radio(Box::new(radio)))
    }

    /// Begins to account for why packets wait.
    pub fn explain(&mut self) {
        match self {
            Self::Radio(radio) => radio.explain(),
            Self::TraceDriven(trace) => trace.explain(),
        }
    }

    /// Returns the parts that the delay of a packet can have.
    pub fn parts(&self) -> &'static [Part] {
        match self {
            Self::Radio(_) => radio_access::PARTS,
            Self::TraceDriven(_) => trace_driven::PARTS,
        }
    }

    /// Returns when the next event is.
    pub fn next(&self, ends: &Endpoints<T>) -> Option<Nanos> {
        match self {
            Self::Radio(radio) => Some(radio.next(ends)),
            Self::TraceDriven(trace) => trace.next(ends),
        }
    }

    /// Returns when the next event is that concerns a packet.
    pub fn next_work(&self, ends: &Endpoints<T>) -> Option<Nanos> {
        match self {
            Self::Radio(radio) => radio.next_work(ends),
            Self::TraceDriven(trace) => trace.next(ends),
        }
    }

    /// Runs the events at `now`.
    pub fn run(&mut self, now: Nanos, ends: &mut Endpoints<T>) {
        match self {
            Self::Radio(radio) => radio.run(now, ends),
            Self::TraceDriven(trace) => trace.run(now, ends),
        }
    }

    /// Closes an interval: one sample for each UE.
    pub fn sample(&mut self, start: Nanos, end: Nanos, to: &mut Vec<MacSample>) {
        match self {
            Self::Radio(radio) => to.extend(radio.sample(start, end)),
            Self::TraceDriven(trace) => to.extend(trace.sample(start, end)),
        }
    }

    pub fn counters(&mut self, ue: UeId, direction: Direction) -> &mut Counters {
        match self {
            Self::Radio(radio) => &mut radio.bearer_mut(ue, direction).counters,
            Self::TraceDriven(trace) => &mut trace.bearer_mut(ue, direction).counters,
        }
    }

    /// Schedules so many PRBs of the primary carrier; a capacity has none.
    pub fn schedule(&mut self, prb: u16) {
        if let Self::Radio(radio) = self {
            radio.schedule(prb);
        }
    }

    /// Gives the buffers of all UEs at `now` another limit and queue management.
    pub fn change_queues(&mut self, queue: &PerDirection<Queue>, seed: u64, now: Nanos) {
        for ue in (0..self.ues()).map(UeId) {
            for direction in Direction::BOTH {
                let draws = || Buffer::<T>::draws(seed, ue, direction);
                self.buffer(ue, direction)
                    .change(*queue.of(direction), draws, now);
            }
        }
    }

    fn buffer(&mut self, ue: UeId, direction: Direction) -> &mut Buffer<T> {
        match self {
            Self::Radio(radio) => &mut radio.bearer_mut(ue, direction).rlc.buffer,
            Self::TraceDriven(trace) => &mut trace.bearer_mut(ue, direction).buffer,
        }
    }

    /// Returns the totals by `now`.
    pub fn totals(&self, ue: UeId, direction: Direction, now: Nanos) -> Totals {
        match self {
            Self::Radio(radio) => radio.bearer(ue, direction).totals(),
            Self::TraceDriven(trace) => trace.bearer(ue, direction).totals(now),
        }
    }

    /// Calls `each` with every packet of one UE that is in its buffer or in transmission.
    pub fn packets(&self, ue: UeId, direction: Direction, each: impl FnMut(&Packet<T>)) {
        match self {
            Self::Radio(radio) => radio.packets(ue, direction).for_each(each),
            Self::TraceDriven(trace) => trace.packets(ue, direction).for_each(each),
        }
    }

    /// Returns what the columns of `mac.csv` depend on.
    pub fn extent(&self) -> Extent {
        match self {
            Self::Radio(radio) => Extent {
                activity: radio.has_activity(),
                legs: radio.has_legs(),
                cells: radio.cells(),
            },
            Self::TraceDriven(_) => Extent {
                activity: false,
                legs: false,
                cells: 1,
            },
        }
    }

    pub fn radio_events(&mut self) -> Vec<RadioEvent> {
        match self {
            Self::Radio(radio) => radio.events(),
            Self::TraceDriven(_) => Vec::new(),
        }
    }

    pub fn cells(&self) -> usize {
        match self {
            Self::Radio(radio) => radio.cells(),
            Self::TraceDriven(_) => 1,
        }
    }

    pub fn ues(&self) -> usize {
        match self {
            Self::Radio(radio) => radio.ues(),
            Self::TraceDriven(trace) => trace.ues(),
        }
    }

    pub fn slots(&self, now: Nanos) -> u64 {
        match self {
            Self::Radio(radio) => radio.ticks(),
            Self::TraceDriven(_) => now / STEP,
        }
    }

    pub fn slot_length(&self) -> Nanos {
        match self {
            Self::Radio(radio) => radio.tick_length(),
            Self::TraceDriven(_) => STEP,
        }
    }
}
