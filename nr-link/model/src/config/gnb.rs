// SPDX-License-Identifier: Apache-2.0
//! What a real gNB does beside the standard: the habits of its scheduler, as parameters. Without them (the profile
//! `ideal`) a gNB uses every slot and every symbol that the standard allows.

use crate::Direction;
use crate::radio::SlotKind;
use crate::radio::overhead::DataSymbols;
use crate::time::Slot;

/// The habits of a gNB. Slots are those of its carrier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gnb {
    /// Time from the decision about a downlink slot to its start. The content of the slot is fixed then.
    pub ahead_slots: u64,
    /// Time from a UE's decision about the content of an uplink slot to its start.
    pub ue_ahead_slots: u64,
    /// k2: slots from a grant to its PUSCH, at least.
    pub grant_slots: u64,
    /// Acknowledgements of the downlink.
    pub feedback: FeedbackRule,
    /// Symbols of PDCCH on carriers with fewer PRBs than [`Gnb::narrow_below_prb`], and on others.
    pub pdcch_symbols: [u8; 2],
    /// The first number of PRBs that is not narrow.
    pub narrow_below_prb: u16,
    /// Downlink resources of the SSB, in the middle of the carrier: an allocation is contiguous, so that the larger
    /// rest is left.
    pub broadcast: Reserved,
    /// Uplink resources of random access, at the edge of the carrier.
    pub random_access: Reserved,
    /// Symbols of an uplink slot after the last PUSCH symbol.
    pub pusch_symbols_left: u8,
    /// The fewest uplink symbols of a special slot that carry PUSCH.
    pub special_pusch_symbols: u8,
    /// DM-RS symbols of PUSCH in a whole slot.
    pub pusch_dmrs_symbols: u8,
    /// The fewest PRBs of an allocation.
    pub least_prb: u16,
    /// A UE without a grant for so many slots gets one unasked.
    pub unasked_grant_slots: u64,
    /// Slots between two occasions for a scheduling request.
    pub request_period_slots: u64,
    /// Whether a scheduling request is heard in a slot in which the UE acknowledges blocks too.
    pub hears_request_beside_feedback: bool,
    /// What the UE's channel estimation costs narrow allocations: by their number of PRBs, in ascending order, the SINR
    /// in dB that they have at most. Wider ones have no limit.
    pub narrow_pdsch_sinr_db: &'static [(u16, f64)],
}

impl Gnb {
    /// Returns the symbols of PDCCH on a carrier with so many PRBs.
    pub fn pdcch_symbols(&self, prb: u16) -> u8 {
        self.pdcch_symbols[usize::from(prb >= self.narrow_below_prb)]
    }

    /// Returns the symbols for data in a slot of a carrier with so many PRBs.
    pub(crate) fn data_symbols(
        &self,
        prb: u16,
        kind: SlotKind,
        direction: Direction,
    ) -> DataSymbols {
        let (all, dmrs) = match direction {
            Direction::Downlink => {
                let pdcch = self.pdcch_symbols(prb);
                let all = kind.dl_symbols().saturating_sub(pdcch);
                (all, if pdcch + all >= 8 { 2 } else { 1 })
            }
            Direction::Uplink => {
                let all = kind.ul_symbols().saturating_sub(self.pusch_symbols_left);
                let whole = kind.carries_pusch();
                (all, if whole { self.pusch_dmrs_symbols } else { 1 })
            }
        };
        // The shortest allocation of the downlink's mapping type A has 3 symbols.
        let least = match direction {
            Direction::Downlink => 3,
            Direction::Uplink => self.special_pusch_symbols,
        };
        DataSymbols {
            all: if all < least { 0 } else { all },
            dmrs,
        }
    }
}

impl FeedbackRule {
    /// Returns whether a slot carries a report of measurements.
    pub fn reports_in(&self, slot: Slot) -> bool {
        slot.0 % self.report_period_slots == self.report_slot
    }
}

impl Reserved {
    /// Returns whether a slot has them.
    pub fn is_in(&self, slot: Slot) -> bool {
        slot.0 % self.period_slots == self.slot
    }
}

/// In which slots downlink blocks are acknowledged, and how many in each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeedbackRule {
    /// k1: slots from the block to its acknowledgement, at least.
    pub first_slots: u64,
    /// The number of values of k1, one slot apart. The first slot of them is used that has uplink and room.
    pub choices: u64,
    /// Acknowledgements that a UE sends in a slot.
    pub bits: u8,
    /// Acknowledgements in a slot that carries a report of measurements too.
    pub bits_with_report: u8,
    /// So many of them are understood; the gNB takes the blocks of further ones as failed.
    pub understood_with_report: u8,
    /// Slots between two such reports.
    pub report_period_slots: u64,
    /// The slot of the first one.
    pub report_slot: u64,
}

/// Resources that are taken periodically.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reserved {
    /// The period, slots.
    pub period_slots: u64,
    /// The first slot.
    pub slot: u64,
    /// PRBs.
    pub prb: u16,
}

/// OpenAirInterface of March 2026 with the configuration that this project gives it (containers/ran/gnb.conf.j2).
/// `docs/nr-link-model.md` has the source of each value.
pub const OAI_2026_W11: Gnb = Gnb {
    ahead_slots: 5,
    ue_ahead_slots: 1,
    grant_slots: 6,
    feedback: FeedbackRule {
        first_slots: 6,
        choices: 8,
        bits: 2,
        bits_with_report: 3,
        understood_with_report: 2,
        report_period_slots: 160,
        report_slot: 8,
    },
    pdcch_symbols: [2, 1],
    narrow_below_prb: 48,
    broadcast: Reserved {
        period_slots: 40,
        slot: 0,
        prb: 20,
    },
    random_access: Reserved {
        period_slots: 40,
        slot: 39,
        prb: 12,
    },
    pusch_symbols_left: 1,
    special_pusch_symbols: 3,
    pusch_dmrs_symbols: 3,
    least_prb: 5,
    unasked_grant_slots: 20,
    request_period_slots: 10,
    hears_request_beside_feedback: false,
    narrow_pdsch_sinr_db: &[(5, 21.3), (6, 24.3), (7, 27.0), (8, 27.0)],
};
