// SPDX-License-Identifier: Apache-2.0
//! Link adaptation: the MCS for a reported SINR.

mod outer_loop;
mod thresholds;

use crate::config::{LinkAdaptation, RadioConfig};
use crate::radio::bler::{CodeBlocks, block_error_ratio, sinr_for};
use crate::radio::{Constellation, CqiTable, Mcs};
use crate::time::{Nanos, Slot};
use outer_loop::{Extremes, OuterLoop};
use thresholds::Thresholds;

/// Code blocks for which the thresholds are found.
const REFERENCE: CodeBlocks = CodeBlocks {
    count: 1,
    bits: 8448,
};

/// The schemes of a table with the SINR at which each meets the target.
#[derive(Debug)]
pub(crate) struct Schemes {
    schemes: Vec<Mcs>,
    thresholds_db: Vec<f64>,
    /// The loss of the receiver with each, dB.
    losses_db: Vec<f64>,
    /// The share of blocks that may fail.
    target: f64,
}

impl Schemes {
    pub fn new(radio: &RadioConfig) -> Self {
        let target = match radio.link_adaptation {
            LinkAdaptation::OuterLoop { bler_target } => bler_target,
            LinkAdaptation::Fixed { .. } | LinkAdaptation::Thresholds { .. } => 0.1,
        };
        let schemes = radio.mcs_table.schemes();
        let receiver = radio.gnb().map(|gnb| &gnb.receiver);
        let losses_db: Vec<f64> = schemes
            .iter()
            .map(|&mcs| receiver.map_or(0.0, |receiver| receiver.loss_db(mcs)))
            .collect();
        let thresholds_db = schemes
            .iter()
            .zip(&losses_db)
            .map(|(&mcs, loss_db)| sinr_for(mcs, REFERENCE, target) + loss_db)
            .collect();
        Self {
            schemes,
            thresholds_db,
            losses_db,
            target,
        }
    }

    pub fn get(&self, index: u8) -> Mcs {
        self.schemes[usize::from(index)]
    }

    /// Returns the share of blocks with this scheme that fail at an effective SINR in dB, without the receiver's spread.
    pub fn block_error_ratio(&self, index: u8, bytes: u32, sinr_db: f64) -> f64 {
        let mcs = self.get(index);
        let loss_db = self.losses_db[usize::from(index)];
        block_error_ratio(mcs, CodeBlocks::of(8 * bytes, mcs), sinr_db - loss_db)
    }

    fn highest(&self) -> u8 {
        self.schemes.len() as u8 - 1
    }

    /// Returns the highest scheme that meets the target at this SINR; the lowest if none does. Thresholds
    /// are not monotonic where the modulation changes, so the search is from above.
    fn fitting(&self, sinr_db: f64) -> u8 {
        self.thresholds_db
            .iter()
            .rposition(|&needed| needed <= sinr_db)
            .unwrap_or(0) as u8
    }

    /// Returns the information bits per symbol and layer at these SINRs in dB, one for each part of the
    /// carrier; 0 if no scheme meets the target.
    pub fn efficiency(&self, sinr_db: &[f32]) -> f64 {
        let mut by_modulation = [None; 5];
        let schemes = self.schemes.iter().zip(&self.thresholds_db).rev();
        let mut met = schemes.filter(|(mcs, threshold_db)| {
            let effective_db = by_modulation[usize::from(mcs.bits_per_symbol / 2)]
                .get_or_insert_with(|| {
                    Constellation::of(mcs.bits_per_symbol).effective_db(sinr_db)
                });
            *effective_db >= **threshold_db
        });
        met.next().map_or(0.0, |(mcs, _)| mcs.spectral_efficiency())
    }
}

/// Margin above the threshold of the lowest scheme, which holds for a long code block: with it, short blocks and
/// several code blocks meet the target too.
const CLEAR_DB: f64 = 6.0;

/// The scheme of the lowest rate.
pub(crate) const LOWEST: u8 = 0;

/// When link adaptation is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// In every slot.
    Slot,
    /// When new data is to be sent.
    Data,
}

/// The adaptation of one UE, carrier and direction.
#[derive(Debug)]
pub(crate) enum Adaptation {
    OuterLoop(OuterLoop),
    Thresholds(Thresholds),
    Fixed(u8),
}

impl Adaptation {
    /// Makes the adaptation for a carrier with slots of this length.
    pub fn new(radio: &RadioConfig, slot: Nanos) -> Self {
        match radio.link_adaptation {
            LinkAdaptation::OuterLoop { bler_target } => {
                Self::OuterLoop(OuterLoop::new(bler_target))
            }
            LinkAdaptation::Thresholds { lower, upper, rule } => {
                Self::Thresholds(Thresholds::new(lower, upper, rule, slot))
            }
            LinkAdaptation::Fixed { mcs } => Self::Fixed(mcs),
        }
    }

    /// Returns the MCS for an SINR of a layer in dB, as it was reported.
    pub fn choose(&self, schemes: &Schemes, sinr_db: f64) -> u8 {
        match self {
            Self::OuterLoop(outer) => schemes.fitting(sinr_db + outer.offset_db()),
            Self::Thresholds(rule) => rule.mcs(schemes.highest()),
            Self::Fixed(mcs) => *mcs,
        }
    }

    /// Returns whether a block of `bytes` with the lowest scheme meets the BLER target at a reported SINR in dB;
    /// always true for a fixed MCS.
    pub fn supports_lowest(&self, schemes: &Schemes, bytes: u32, sinr_db: f64) -> bool {
        let offset_db = match self {
            Self::OuterLoop(outer) => outer.offset_db(),
            Self::Thresholds(_) => 0.0,
            Self::Fixed(_) => return true,
        };
        if sinr_db + offset_db > schemes.thresholds_db[usize::from(LOWEST)] + CLEAR_DB {
            return true;
        }
        schemes.block_error_ratio(LOWEST, bytes, sinr_db + offset_db) <= schemes.target
    }

    /// Returns the MCS that a full queue would reach at this SINR. The threshold rule learns from traffic only, so that
    /// without traffic its MCS does not depend on the channel.
    pub fn settled(&self, schemes: &Schemes, sinr_db: f64) -> u8 {
        match self {
            Self::Thresholds(_) => schemes.fitting(sinr_db),
            _ => self.choose(schemes, sinr_db),
        }
    }

    /// Counts a transmission in a HARQ round.
    pub fn count(&mut self, round: u8) {
        if let Self::Thresholds(rule) = self {
            rule.count(round);
        }
    }

    /// Learns from the outcome of a first transmission with this MCS. `could_be_narrower` is whether fewer PRBs, with
    /// more power on each, were possible.
    pub fn learn(&mut self, schemes: &Schemes, mcs: u8, could_be_narrower: bool, arrived: bool) {
        if let Self::OuterLoop(outer) = self {
            let extremes = Extremes {
                fastest: mcs == schemes.highest(),
                safest: mcs == LOWEST && !could_be_narrower,
            };
            outer.learn(extremes, arrived);
        }
    }

    /// Advances to `slot`; returns whether the MCS may have changed.
    pub fn advance(&mut self, schemes: &Schemes, slot: Slot, occasion: Occasion) -> bool {
        match self {
            Self::Thresholds(rule) if rule.looks(occasion) => {
                rule.advance(slot, schemes.highest());
                true
            }
            _ => false,
        }
    }

    /// Returns the number of changes so far, as a key for caches.
    pub fn version(&self) -> u64 {
        match self {
            Self::OuterLoop(outer) => outer.version(),
            Self::Thresholds(rule) => rule.version(),
            Self::Fixed(_) => 0,
        }
    }
}

/// The MCS of new data in the downlink before link adaptation has learned from any.
#[derive(Debug)]
pub struct SettledMcs {
    cqis: CqiTable,
    schemes: Schemes,
    adaptation: Adaptation,
}

impl SettledMcs {
    /// Takes the tables, the link adaptation and the receivers of a configuration.
    pub fn new(radio: &RadioConfig) -> Self {
        Self {
            cqis: CqiTable::new(radio.mcs_table),
            schemes: Schemes::new(radio),
            adaptation: Adaptation::new(radio, radio.carriers[0].numerology.slot_ns()),
        }
    }

    /// Returns the MCS for a reported CQI; `None` if the UE is out of range.
    pub fn get(&self, cqi: u8) -> Option<u8> {
        let in_range = cqi > 0;
        in_range.then(|| {
            self.adaptation
                .settled(&self.schemes, self.cqis.sinr_db(cqi))
        })
    }
}
