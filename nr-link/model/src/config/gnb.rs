// SPDX-License-Identifier: Apache-2.0
//! The behaviour of a real gNB that the standard leaves open: the habits of its scheduler, as parameters. Without them (the profile
//! `ideal`) a gNB uses every slot and every symbol that the standard allows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Polling;
use crate::radio::SlotKind;
use crate::radio::overhead::DataSymbols;
use crate::radio::{Mcs, McsTable};
use crate::time::Slot;
use crate::{Direction, Nanos};

/// The behaviour of the gNB that the standard leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum GnbProfile {
    /// Every slot and symbol that the standard allows.
    #[default]
    #[serde(rename = "ideal")]
    Ideal,
    /// OpenAirInterface's gNB of September 2025.
    #[serde(rename = "oai-2025.w36")]
    Oai2025W36,
    /// OpenAirInterface's gNB of March 2026.
    #[serde(rename = "oai-2026.w11")]
    Oai2026W11,
}

impl GnbProfile {
    /// Returns the name that configurations have.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ideal => "ideal",
            Self::Oai2025W36 => "oai-2025.w36",
            Self::Oai2026W11 => "oai-2026.w11",
        }
    }

    /// Returns the habits of the profile; `None` is a gNB that uses all that the standard allows.
    pub fn habits(self) -> Option<&'static Gnb> {
        match self {
            Self::Ideal => None,
            Self::Oai2025W36 => Some(&OAI_2025_W36),
            Self::Oai2026W11 => Some(&OAI_2026_W11),
        }
    }
}

/// The habits of a gNB. Slots are those of its carrier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gnb {
    /// Time from the decision about a downlink slot to its start. The content of the slot is fixed then.
    pub ahead_slots: u64,
    /// Time from a UE's decision about the content of an uplink slot to its start.
    pub ue_ahead_slots: u64,
    /// Slots from an uplink slot to the first downlink slot that is scheduled with knowledge of its content.
    pub uplink_known_slots: u64,
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
    /// t-Reordering of PDCP.
    pub t_reordering: Nanos,
    /// Polling of RLC in acknowledged mode, unless the configuration has its own.
    pub polling: Polling,
    /// Slots between two occasions for a scheduling request.
    pub request_period_slots: u64,
    /// Whether the uplink has the downlink's SINR, where no target for its power is given.
    pub uplink_as_downlink: bool,
    /// The cost of the UE's channel estimation for narrow allocations: by their number of PRBs, in ascending order, the SINR
    /// in dB that they have at most. Wider ones have no limit.
    pub narrow_pdsch_sinr_db: &'static [(u16, f64)],
    /// The same of the gNB's, for the uplink.
    pub narrow_pusch_sinr_db: &'static [(u16, f64)],
    /// The UE's loss beyond that of [`Gnb::receiver`], dB.
    pub pdsch_loss_db: f64,
    /// The receivers of the UE and of the gNB.
    pub receiver: Receiver,
}

/// The loss of a receiver against `radio::bler`, whose code blocks meet a perfect estimate of the channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Receiver {
    /// The median loss for each MCS of table 1, dB.
    pub losses_db: [f64; 29],
    /// Standard deviation of the loss from block to block, dB.
    pub spread_db: f64,
}

impl Receiver {
    /// Returns the median loss for a scheme, dB: that of the scheme of table 1 with its modulation, or 64QAM for 256QAM,
    /// and the nearest code rate.
    pub fn loss_db(&self, mcs: Mcs) -> f64 {
        let order = mcs.bits_per_symbol.min(6);
        let schemes = McsTable::Qam64.schemes();
        let alike = schemes
            .iter()
            .zip(&self.losses_db)
            .filter(|(scheme, _)| scheme.bits_per_symbol == order);
        let nearest =
            alike.min_by_key(|(scheme, _)| scheme.rate_by_2048.abs_diff(mcs.rate_by_2048));
        nearest.map_or(0.0, |(_, loss_db)| *loss_db)
    }
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
    /// The gNB reads those of a slot with a report from last to first.
    pub backward_with_report: bool,
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

/// OpenAirInterface of September 2025 with the configuration that this project gives it (containers/ran/gnb.conf.j2).
pub static OAI_2025_W36: Gnb = Gnb {
    feedback: FeedbackRule {
        understood_with_report: 3,
        backward_with_report: true,
        ..MARCH_2026.feedback
    },
    pdsch_loss_db: 0.76,
    ..MARCH_2026
};

/// OpenAirInterface of March 2026 with the same configuration.
pub static OAI_2026_W11: Gnb = MARCH_2026;

/// `docs/nr-link-model.md` has the source of each value.
const MARCH_2026: Gnb = Gnb {
    ahead_slots: 5,
    ue_ahead_slots: 2,
    uplink_known_slots: 7,
    grant_slots: 6,
    feedback: FeedbackRule {
        first_slots: 6,
        choices: 8,
        bits: 2,
        bits_with_report: 3,
        understood_with_report: 2,
        backward_with_report: false,
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
    t_reordering: 100_000_000,
    polling: Polling {
        pdus: Some(64),
        bytes: Some(500_000),
        t_poll_retransmit: 45_000_000,
        t_status_prohibit: 15_000_000,
    },
    unasked_grant_slots: 20,
    request_period_slots: 10,
    uplink_as_downlink: true,
    pdsch_loss_db: 0.0,
    narrow_pdsch_sinr_db: &[(5, 21.3), (6, 24.3), (7, 27.0), (8, 27.0)],
    narrow_pusch_sinr_db: &[(5, 21.1)],
    receiver: Receiver {
        losses_db: [
            3.46, 3.01, 3.10, 2.86, 2.49, 2.33, 2.07, 1.87, 1.72, 1.59, // QPSK
            3.29, 2.97, 2.78, 2.33, 2.14, 1.93, 1.84, // 16QAM
            2.65, 2.55, 2.25, 2.14, 2.25, 2.03, 1.88, 1.93, 1.79, 1.60, 1.54, 1.31, // 64QAM
        ],
        spread_db: 0.27,
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Direction::{Downlink, Uplink};
    use crate::radio::bler::{CodeBlocks, block_error_ratio, sinr_at};

    /// (direction, MCS, bytes of a block, SINR of the setting in dB, share of first transmissions that failed): a real gNB
    /// and UE over rfsim, 24 PRB, at ploss 0, with a fixed MCS and 1,800 to 7,600 blocks each.
    const MEASURED: [(Direction, usize, u32, f64, f64); 30] = [
        (Downlink, 12, 672, 8.5, 0.0103),
        (Downlink, 12, 672, 8.3, 0.0250),
        (Downlink, 14, 848, 9.7, 0.0037),
        (Downlink, 14, 848, 9.5, 0.0211),
        (Downlink, 14, 848, 9.3, 0.0801),
        (Downlink, 20, 1313, 14.3, 0.0047),
        (Downlink, 20, 1313, 14.1, 0.0267),
        (Downlink, 20, 1313, 13.9, 0.1171),
        (Downlink, 23, 1665, 16.9, 0.0016),
        (Downlink, 23, 1665, 16.7, 0.0170),
        (Downlink, 17, 1008, 11.1, 0.88),
        (Downlink, 21, 1441, 14.1, 0.95),
        (Uplink, 17, 1057, 11.1, 0.93),
        (Uplink, 21, 1505, 14.1, 0.97),
        (Uplink, 9, 544, 5.5, 0.0139),
        (Uplink, 9, 544, 5.3, 0.0419),
        (Uplink, 9, 544, 5.1, 0.0873),
        (Uplink, 14, 896, 9.9, 0.0139),
        (Uplink, 14, 896, 9.7, 0.0510),
        (Uplink, 14, 896, 9.5, 0.1101),
        (Uplink, 14, 896, 9.3, 0.2132),
        (Uplink, 17, 1057, 12.2, 0.0127),
        (Uplink, 17, 1057, 12.0, 0.0332),
        (Uplink, 20, 1377, 14.5, 0.0072),
        (Uplink, 20, 1377, 14.3, 0.0191),
        (Uplink, 20, 1377, 14.1, 0.0560),
        (Uplink, 20, 1377, 13.9, 0.1631),
        (Uplink, 23, 1729, 17.1, 0.0082),
        (Uplink, 23, 1729, 16.9, 0.0330),
        (Uplink, 23, 1729, 16.7, 0.0810),
    ];

    /// Returns the mean share of failures over the receiver's spread.
    fn failing(mcs: Mcs, bytes: u32, sinr_db: f64) -> f64 {
        let receiver = &OAI_2026_W11.receiver;
        let blocks = CodeBlocks::of(8 * bytes, mcs);
        let (mut sum, mut weights) = (0.0, 0.0);
        for step in -40..=40 {
            let deviation = 0.1 * f64::from(step);
            let weight = libm::exp(-0.5 * deviation * deviation);
            let lost_db = receiver.loss_db(mcs) + deviation * receiver.spread_db;
            sum += weight * block_error_ratio(mcs, blocks, sinr_db - lost_db);
            weights += weight;
        }
        sum / weights
    }

    /// Returns the SINR in dB at which this share fails.
    fn needed_db(mcs: Mcs, bytes: u32, ratio: f64) -> f64 {
        sinr_at(ratio, |sinr_db| failing(mcs, bytes, sinr_db))
    }

    #[test]
    fn blocks_fail_as_between_a_real_gnb_and_ue() {
        let schemes = McsTable::Qam64.schemes();
        let mut squares = 0.0;
        for (direction, mcs, bytes, sinr_db, ratio) in MEASURED {
            let error_db = needed_db(schemes[mcs], bytes, ratio) - sinr_db;
            assert!(
                error_db.abs() < 0.4,
                "{direction:?}, MCS {mcs}, {ratio}: {error_db:.2} dB"
            );
            squares += error_db * error_db;
        }
        let rms_db = (squares / MEASURED.len() as f64).sqrt();
        assert!(rms_db < 0.2, "{rms_db:.2} dB");
    }

    /// (bytes of a block, SINR in dB at which half of them failed) for MCS 0 to 28 in OpenAirInterface's link simulator of
    /// the downlink: 24 PRB, 12 symbols with 2 of DM-RS, 300 blocks at each step of 0.25 dB.
    const SIMULATED: [(u32, f64); 29] = [
        (92, -3.24),
        (123, -2.41),
        (149, -1.30),
        (201, -0.20),
        (241, 0.51),
        (301, 1.51),
        (349, 2.26),
        (405, 3.08),
        (469, 3.88),
        (528, 4.70),
        (528, 6.47),
        (576, 6.85),
        (672, 7.52),
        (752, 8.10),
        (848, 8.91),
        (944, 9.69),
        (1008, 10.25),
        (1008, 11.27),
        (1089, 11.98),
        (1185, 12.69),
        (1313, 13.66),
        (1441, 14.55),
        (1537, 15.34),
        (1665, 16.32),
        (1793, 17.31),
        (1921, 18.18),
        (2017, 19.09),
        (2112, 19.97),
        (2178, 20.79),
    ];

    #[test]
    fn half_of_the_blocks_fail_where_they_do_in_the_link_simulator() {
        let schemes = McsTable::Qam64.schemes();
        for (mcs, (bytes, sinr_db)) in SIMULATED.into_iter().enumerate() {
            let error_db = needed_db(schemes[mcs], bytes, 0.5) - sinr_db;
            assert!(error_db.abs() < 0.2, "MCS {mcs}: {error_db:.2} dB");
        }
    }

    /// The same for MCS 1 to 28 of 2025.w36, 400 blocks at each step.
    const SIMULATED_2025: [(u32, f64); 28] = [
        (123, -1.79),
        (149, -0.55),
        (201, 0.51),
        (241, 1.28),
        (301, 2.28),
        (349, 3.00),
        (405, 3.80),
        (469, 4.58),
        (528, 5.26),
        (528, 7.13),
        (576, 7.51),
        (672, 8.18),
        (752, 8.82),
        (848, 9.65),
        (944, 10.40),
        (1008, 10.97),
        (1008, 12.10),
        (1089, 12.82),
        (1185, 13.53),
        (1313, 14.57),
        (1441, 15.41),
        (1537, 16.23),
        (1665, 17.17),
        (1793, 18.20),
        (1921, 18.92),
        (2017, 19.89),
        (2112, 20.66),
        (2178, 21.58),
    ];

    #[test]
    fn the_ue_of_2025_needs_as_much_more_as_in_its_link_simulator() {
        let schemes = McsTable::Qam64.schemes();
        for (mcs, (bytes, sinr_db)) in (1..).zip(SIMULATED_2025) {
            let found_db = needed_db(schemes[mcs], bytes, 0.5) + OAI_2025_W36.pdsch_loss_db;
            let error_db = found_db - sinr_db;
            assert!(error_db.abs() < 0.4, "MCS {mcs}: {error_db:.2} dB");
        }
    }
}
