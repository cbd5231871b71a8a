// SPDX-License-Identifier: Apache-2.0
//! What processing takes, and which slots answer which.

use crate::Nanos;
use crate::config::RadioConfig;
use crate::radio::duplex::SYMBOLS_PER_SLOT;
use crate::radio::overhead::PDCCH_SYMBOLS;
use crate::radio::{Duplex, SlotKind};

/// PDSCH decoding time N1 of a UE of capability 1 with additional DM-RS, symbols, for µ = 0 to 3
/// (TS 38.214 table 5.3-1).
const N1_SYMBOLS: [u64; 4] = [13, 13, 20, 24];
/// PUSCH preparation time N2 of a UE of capability 1, symbols, for µ = 0 to 3 (table 6.4-1).
const N2_SYMBOLS: [u64; 4] = [10, 12, 23, 36];
/// What a gNB takes to decode an uplink slot and to have its next slot ready. No standard says;
/// half a millisecond is one slot at 30 kHz.
const GNB_PROCESSING: Nanos = 500_000;

/// Timing of one carrier.
#[derive(Debug, Clone)]
pub(crate) struct Timing {
    pub slot: Nanos,
    duplex: Duplex,
    n1: Nanos,
    /// Slots from PDSCH to the earliest acknowledgement.
    k1: u64,
    /// Slots that the gNB takes after the end of an uplink slot.
    gnb_slots: u64,
    /// For each slot of the pattern: how many slots later lie the uplink slots that it grants.
    grants: Vec<Vec<u64>>,
}

impl Timing {
    pub fn new(radio: &RadioConfig) -> Self {
        let mu = usize::from(radio.numerology.mu());
        let symbols = u64::from(SYMBOLS_PER_SLOT);
        let slot = radio.slot_ns();
        let k2 = 1 + (u64::from(PDCCH_SYMBOLS) + N2_SYMBOLS[mu]).div_ceil(symbols);
        Self {
            slot,
            duplex: radio.duplex.clone(),
            n1: N1_SYMBOLS[mu] * slot / symbols,
            k1: 1 + N1_SYMBOLS[mu].div_ceil(symbols),
            gnb_slots: GNB_PROCESSING.div_ceil(slot),
            grants: grants(&radio.duplex, k2),
        }
    }

    pub fn kind(&self, slot: u64) -> SlotKind {
        self.duplex.slot(slot)
    }

    pub fn start(&self, slot: u64) -> Nanos {
        slot * self.slot
    }

    /// When a UE has decoded what a slot brought.
    pub fn decoded_by_ue(&self, slot: u64) -> Nanos {
        self.start(slot + 1) + self.n1
    }

    /// When the gNB has decoded what a slot brought.
    pub fn decoded_by_gnb(&self, slot: u64) -> Nanos {
        self.start(slot + 1) + GNB_PROCESSING
    }

    /// The first slot in which the gNB can use what an uplink slot brought.
    pub fn used_by_gnb(&self, slot: u64) -> u64 {
        slot + 1 + self.gnb_slots
    }

    /// The first slot in which the gNB can use the acknowledgement of a downlink slot.
    pub fn acknowledged(&self, slot: u64) -> u64 {
        self.used_by_gnb(self.next_pucch(slot + self.k1))
    }

    /// How long a status report of a UE takes from `slot` to the gNB's scheduler.
    pub fn report_delay(&self, slot: u64) -> Nanos {
        self.start(self.used_by_gnb(self.next_pucch(slot)) - slot)
    }

    /// The uplink slot that this slot grants `nth`, from 0.
    pub fn granted(&self, slot: u64, nth: usize) -> Option<u64> {
        let place = (slot % self.grants.len() as u64) as usize;
        self.grants[place].get(nth).map(|after| slot + after)
    }

    fn next_pucch(&self, from: u64) -> u64 {
        (from..)
            .find(|&slot| self.kind(slot).carries_pucch())
            .unwrap_or(from)
    }
}

/// Each uplink slot is granted in the last downlink slot at least `k2` before it.
fn grants(duplex: &Duplex, k2: u64) -> Vec<Vec<u64>> {
    let period = match duplex {
        Duplex::Tdd(pattern) => pattern.slots() as u64,
        Duplex::Fdd => 1,
    };
    let mut grants = vec![Vec::new(); period as usize];
    let base = period * (1 + k2);
    for slot in (base..base + period).filter(|&slot| duplex.slot(slot).carries_pusch()) {
        let grants_it = |&at: &u64| duplex.slot(at).dl_symbols() >= PDCCH_SYMBOLS;
        if let Some(at) = (0..=slot - k2).rev().find(grants_it) {
            grants[(at % period) as usize].push(slot - at);
        }
    }
    grants.iter_mut().for_each(|after| after.sort_unstable());
    grants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_pattern_grants_both_uplink_slots_before_them() {
        let pattern = crate::radio::TddPattern::new("DDDDDDDSUU", 6, 4).expect("valid");
        let grants = grants(&Duplex::Tdd(pattern), 2);
        let all: Vec<_> = grants
            .iter()
            .enumerate()
            .filter(|(_, after)| !after.is_empty())
            .collect();
        assert_eq!(all, [(6, &vec![2]), (7, &vec![2])]);
    }

    #[test]
    fn every_fdd_slot_grants_one() {
        assert_eq!(grants(&Duplex::Fdd, 2), [[2]]);
    }
}
