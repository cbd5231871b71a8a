// SPDX-License-Identifier: Apache-2.0
//! Link adaptation: which MCS the scheduler takes for what it believes of the SINR.

mod outer_loop;
mod thresholds;

use crate::Nanos;
use crate::config::{LinkAdaptation, RadioConfig};
use crate::radio::bler::{CodeBlocks, block_error_ratio, sinr_for};
use crate::radio::{Constellation, Mcs, McsTable};
use outer_loop::{Ends, OuterLoop};
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
    /// The share of blocks that may fail.
    target: f64,
}

impl Schemes {
    pub fn new(table: McsTable, adaptation: LinkAdaptation) -> Self {
        let target = match adaptation {
            LinkAdaptation::OuterLoop { bler_target } => bler_target,
            LinkAdaptation::Fixed { .. } | LinkAdaptation::Thresholds { .. } => 0.1,
        };
        let schemes = table.schemes();
        let thresholds_db = schemes
            .iter()
            .map(|&mcs| sinr_for(mcs, REFERENCE, target))
            .collect();
        Self {
            schemes,
            thresholds_db,
            target,
        }
    }

    pub fn get(&self, index: u8) -> Mcs {
        self.schemes[usize::from(index)]
    }

    fn highest(&self) -> u8 {
        self.schemes.len() as u8 - 1
    }

    /// The highest scheme that meets the target at this SINR; the lowest if none does. Thresholds
    /// are not monotonic where the modulation changes, so the search is from above.
    fn fitting(&self, sinr_db: f64) -> u8 {
        self.thresholds_db
            .iter()
            .rposition(|&needed| needed <= sinr_db)
            .unwrap_or(0) as u8
    }

    /// Information bits of a symbol and layer at these SINRs in dB, one for each part of the
    /// carrier; 0 if no scheme meets the target.
    pub fn efficiency(&self, sinr_db: &[f32]) -> f64 {
        let mut of_modulation = [None; 5];
        let schemes = self.schemes.iter().zip(&self.thresholds_db).rev();
        let mut met = schemes.filter(|(mcs, threshold_db)| {
            let effective_db = of_modulation[usize::from(mcs.bits_per_symbol / 2)]
                .get_or_insert_with(|| {
                    Constellation::of(mcs.bits_per_symbol).effective_db(sinr_db)
                });
            *effective_db >= **threshold_db
        });
        met.next().map_or(0.0, |(mcs, _)| mcs.spectral_efficiency())
    }
}

/// So far above the lowest threshold, found for a long code block, short and cut ones fail no more.
const CLEAR_DB: f64 = 6.0;

/// The scheme of the lowest rate.
pub(crate) const LOWEST: u8 = 0;

/// The adaptation of one UE, carrier and direction.
#[derive(Debug)]
pub(crate) enum Adaptation {
    OuterLoop(OuterLoop),
    Thresholds(Thresholds),
    Fixed(u8),
}

impl Adaptation {
    /// For a carrier with slots of this length.
    pub fn new(radio: &RadioConfig, slot: Nanos) -> Self {
        match radio.link_adaptation {
            LinkAdaptation::OuterLoop { bler_target } => {
                Self::OuterLoop(OuterLoop::new(bler_target))
            }
            LinkAdaptation::Thresholds { lower, upper } => {
                Self::Thresholds(Thresholds::new(lower, upper, slot))
            }
            LinkAdaptation::Fixed { mcs } => Self::Fixed(mcs),
        }
    }

    /// The MCS for an SINR in dB as it was reported, of each layer.
    pub fn choose(&self, schemes: &Schemes, sinr_db: f64) -> u8 {
        match self {
            Self::OuterLoop(outer) => schemes.fitting(sinr_db + outer.offset_db()),
            Self::Thresholds(rule) => rule.mcs(schemes.highest()),
            Self::Fixed(mcs) => *mcs,
        }
    }

    /// Whether a block of this many bytes with the lowest scheme fails no more often than the target at
    /// an SINR in dB as it was reported. One MCS that was given for good asks for nothing.
    pub fn bears_lowest(&self, schemes: &Schemes, bytes: u32, sinr_db: f64) -> bool {
        let offset_db = match self {
            Self::OuterLoop(outer) => outer.offset_db(),
            Self::Thresholds(_) => 0.0,
            Self::Fixed(_) => return true,
        };
        if sinr_db + offset_db > schemes.thresholds_db[usize::from(LOWEST)] + CLEAR_DB {
            return true;
        }
        let lowest = schemes.get(LOWEST);
        let blocks = CodeBlocks::of(8 * bytes, lowest);
        block_error_ratio(lowest, blocks, sinr_db + offset_db) <= schemes.target
    }

    /// The MCS that a full queue would come to at this SINR. The threshold rule learns only from
    /// traffic; without any it tells nothing of the channel.
    pub fn settled(&self, schemes: &Schemes, sinr_db: f64) -> u8 {
        match self {
            Self::Thresholds(_) => schemes.fitting(sinr_db),
            _ => self.choose(schemes, sinr_db),
        }
    }

    /// A block was sent, for the `round`th time.
    pub fn count(&mut self, round: u8) {
        if let Self::Thresholds(rule) = self {
            rule.count(round);
        }
    }

    /// A first transmission with this MCS arrived, or not; `narrows` where it could have had fewer PRBs
    /// and more power on each.
    pub fn learn(&mut self, schemes: &Schemes, mcs: u8, narrows: bool, arrived: bool) {
        if let Self::OuterLoop(outer) = self {
            let ends = Ends {
                fastest: mcs == schemes.highest(),
                safest: mcs == LOWEST && !narrows,
            };
            outer.learn(ends, arrived);
        }
    }

    /// The scheduler comes to `slot`.
    pub fn come_to(&mut self, schemes: &Schemes, slot: u64) {
        if let Self::Thresholds(rule) = self {
            rule.come_to(slot, schemes.highest());
        }
    }

    /// Counts changes of what is chosen, so that what is derived from it can be kept.
    pub fn version(&self) -> u64 {
        match self {
            Self::OuterLoop(outer) => outer.version(),
            Self::Thresholds(rule) => rule.version(),
            Self::Fixed(_) => 0,
        }
    }
}
