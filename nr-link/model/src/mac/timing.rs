// SPDX-License-Identifier: Apache-2.0
//! What processing takes, and which slots answer which.
//!
//! Every carrier counts its own slots. They begin together, and a slot of one lasts a power of two
//! of another's (TS 38.211 clause 4.3.2): the shortest slots are the ticks of all. Across carriers
//! only instants compare.

use crate::config::{Carrier, RadioConfig};
use crate::radio::duplex::SYMBOLS_PER_SLOT;
use crate::radio::overhead::{PDCCH_SYMBOLS, shared_symbols};
use crate::radio::{Duplex, Numerology, SlotKind, bands};
use crate::{Direction, Nanos};

/// PDSCH decoding time N1 of a UE of capability 1 with additional DM-RS, symbols, for µ = 0 to 3
/// (TS 38.214 table 5.3-1).
const N1_SYMBOLS: [u64; 4] = [13, 13, 20, 24];
/// PUSCH preparation time N2 of a UE of capability 1, symbols, for µ = 0 to 3 (table 6.4-1).
const N2_SYMBOLS: [u64; 4] = [10, 12, 23, 36];
/// What a gNB takes to decode an uplink slot and to have its next slot ready. No standard says;
/// half a millisecond is one slot at 30 kHz.
const GNB_PROCESSING: Nanos = 500_000;

/// Timing of all carriers.
#[derive(Debug, Clone)]
pub(crate) struct Timing {
    clocks: Vec<Clock>,
    /// Length of the shortest slot.
    pub tick: Nanos,
}

/// Timing of one carrier.
#[derive(Debug, Clone)]
struct Clock {
    slot: Nanos,
    /// Ticks of a slot.
    ticks: u64,
    duplex: Duplex,
    /// The carrier over which its downlink is acknowledged.
    pucch: usize,
    /// What a UE takes from the end of a PDSCH.
    n1: Nanos,
    /// For each slot of the pattern: how many slots later lie the uplink slots that it grants.
    grants: Vec<Vec<u64>>,
}

impl Timing {
    pub fn new(radio: &RadioConfig) -> Self {
        Self::of(&radio.carriers, radio.shortest_slot_ns())
    }

    fn of(carriers: &[Carrier], tick: Nanos) -> Self {
        let clock = |carrier| Clock::new(carrier, carriers, tick);
        Self {
            clocks: carriers.iter().map(clock).collect(),
            tick,
        }
    }

    /// The slot of a carrier that begins with this tick, if one does.
    pub fn slot_at(&self, carrier: usize, tick: u64) -> Option<u64> {
        let ticks = self.clocks[carrier].ticks;
        tick.is_multiple_of(ticks).then(|| tick / ticks)
    }

    pub fn kind(&self, carrier: usize, slot: u64) -> SlotKind {
        self.clocks[carrier].duplex.slot(slot)
    }

    pub fn start(&self, carrier: usize, slot: u64) -> Nanos {
        slot * self.clocks[carrier].slot
    }

    /// When a UE has decoded what a slot brought.
    pub fn decoded_by_ue(&self, carrier: usize, slot: u64) -> Nanos {
        self.start(carrier, slot + 1) + self.clocks[carrier].n1
    }

    /// When the gNB has decoded what a slot brought, and can use it.
    pub fn decoded_by_gnb(&self, carrier: usize, slot: u64) -> Nanos {
        self.start(carrier, slot + 1) + GNB_PROCESSING
    }

    /// The first slot in which the gNB can use what an uplink slot brought.
    pub fn used_by_gnb(&self, carrier: usize, slot: u64) -> u64 {
        self.decoded_by_gnb(carrier, slot)
            .div_ceil(self.clocks[carrier].slot)
    }

    /// The first slot in which the gNB can use the acknowledgement of a downlink slot.
    pub fn acknowledged(&self, carrier: usize, slot: u64) -> u64 {
        let Clock {
            pucch,
            slot: length,
            ..
        } = self.clocks[carrier];
        let sent = self.next_pucch(pucch, self.decoded_by_ue(carrier, slot));
        self.decoded_by_gnb(pucch, sent).div_ceil(length)
    }

    /// When the gNB's scheduler can use what a UE reports from `at` on: the primary carrier's next slot
    /// with uplink, and decoding. (Its request and grant are left out.)
    pub fn status_of_ue(&self, at: Nanos) -> Nanos {
        self.start(0, self.used_by_gnb(0, self.next_pucch(0, at)))
    }

    /// When a UE can use what the gNB reports from `at` on: the primary carrier's next downlink slot,
    /// and decoding.
    pub fn status_of_gnb(&self, at: Nanos) -> Nanos {
        let carries = |kind: SlotKind| shared_symbols(kind, Direction::Downlink) > 0;
        self.decoded_by_ue(0, self.next_slot(0, at, carries))
    }

    /// The uplink slot that a slot of the same carrier grants `nth`, from 0.
    pub fn granted(&self, carrier: usize, slot: u64, nth: usize) -> Option<u64> {
        let grants = &self.clocks[carrier].grants;
        let place = (slot % grants.len() as u64) as usize;
        grants[place].get(nth).map(|after| slot + after)
    }

    /// A carrier's first slot with PUCCH that begins at `from` or later.
    fn next_pucch(&self, carrier: usize, from: Nanos) -> u64 {
        self.next_slot(carrier, from, SlotKind::carries_pucch)
    }

    /// A carrier's first slot of a kind that begins at `from` or later.
    fn next_slot(&self, carrier: usize, from: Nanos, is: impl Fn(SlotKind) -> bool) -> u64 {
        let clock = &self.clocks[carrier];
        let from = from.div_ceil(clock.slot);
        (from..)
            .find(|&slot| is(clock.duplex.slot(slot)))
            .unwrap_or(from)
    }
}

impl Clock {
    fn new(carrier: &Carrier, all: &[Carrier], tick: Nanos) -> Self {
        let pucch = pucch_of(carrier, all);
        let slot = carrier.numerology.slot_ns();
        // That of PDSCH or that of PUCCH, whichever takes longer (TS 38.214 clause 5.3).
        let n1 = decoding(carrier.numerology).max(decoding(all[pucch].numerology));
        let n2 = N2_SYMBOLS[usize::from(carrier.numerology.mu())];
        let k2 = 1 + (u64::from(PDCCH_SYMBOLS) + n2).div_ceil(u64::from(SYMBOLS_PER_SLOT));
        Self {
            slot,
            ticks: slot / tick,
            duplex: carrier.duplex.clone(),
            pucch,
            n1,
            grants: grants(&carrier.duplex, k2),
        }
    }
}

/// The primary carrier, or, in the other frequency range, the first there that has an uplink: a
/// second PUCCH group (TS 38.213 clause 9). 16 HARQ processes of 120 kHz last for 2 ms, and an
/// uplink slot of the first range may be further away.
fn pucch_of(carrier: &Carrier, all: &[Carrier]) -> usize {
    let range = |carrier: &Carrier| bands::frequency_range(carrier.hz);
    if range(carrier) == range(&all[0]) {
        return 0;
    }
    all.iter()
        .position(|other| other.uplink && range(other) == range(carrier))
        .unwrap_or(0)
}

fn decoding(numerology: Numerology) -> Nanos {
    N1_SYMBOLS[usize::from(numerology.mu())] * numerology.slot_ns() / u64::from(SYMBOLS_PER_SLOT)
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
    use crate::radio::TddPattern;

    fn tdd(word: &str) -> Duplex {
        Duplex::Tdd(TddPattern::new(word, 6, 4).expect("valid"))
    }

    fn carrier(ghz: f64, mu: u8, uplink: bool, duplex: Duplex) -> Carrier {
        Carrier {
            hz: ghz * 1e9,
            prb: 66,
            uplink,
            numerology: Numerology::new(mu).expect("0 to 3"),
            duplex,
        }
    }

    #[test]
    fn the_default_pattern_grants_both_uplink_slots_before_them() {
        let grants = grants(&tdd("DDDDDDDSUU"), 2);
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

    #[test]
    fn a_slot_of_15_khz_begins_with_every_eighth_of_120() {
        let high = carrier(28.0, 3, true, tdd("DDDSU"));
        let timing = Timing::of(&[high, carrier(0.8, 0, true, Duplex::Fdd)], 125_000);
        let slots: Vec<_> = (0..17).map(|tick| timing.slot_at(1, tick)).collect();
        assert_eq!(slots.iter().flatten().count(), 3);
        assert_eq!((slots[8], slots[16]), (Some(1), Some(2)));
        assert_eq!(timing.slot_at(0, 17), Some(17));
    }

    #[test]
    fn acknowledgements_go_over_the_primary_carrier_or_one_of_their_own_range() {
        let middle = carrier(3.6, 1, true, tdd("DDDDDDDSUU"));
        let [high, deaf] = [true, false].map(|uplink| carrier(28.0, 3, uplink, tdd("DDDSU")));
        let timing = Timing::of(&[middle.clone(), deaf.clone(), high], 125_000);
        // Slot 0 of 120 kHz ends at 125 µs and is decoded 214 µs later; the next slot of that range
        // with uplink is its fourth, from 375 to 500 µs, and half a millisecond later is slot 8.
        assert_eq!(timing.decoded_by_ue(1, 0), 125_000 + 214_285);
        assert_eq!(timing.acknowledged(1, 0), 8);
        // Without an uplink there: the UE takes what 30 kHz takes, 464 µs; the primary carrier's
        // first slot with uplink is its eighth, which ends at 4 ms.
        let timing = Timing::of(&[middle, deaf], 125_000);
        assert_eq!(timing.decoded_by_ue(1, 0), 125_000 + 464_285);
        assert_eq!(timing.acknowledged(1, 0), 36);
        assert_eq!(timing.acknowledged(0, 0), 9);
    }

    #[test]
    fn with_one_numerology_the_acknowledgement_is_n1_and_one_slot_later() {
        // k1 = 1 + ⌈N1/14⌉ slots, then the slot itself and ⌈0.5 ms⌉.
        for (mu, k1, gnb) in [(0, 2, 1), (1, 2, 1), (2, 3, 2), (3, 3, 4)] {
            let lone = carrier(3.6, mu, true, Duplex::Fdd);
            let timing = Timing::of(&[lone], 1_000_000 >> mu);
            assert_eq!(timing.acknowledged(0, 5), 5 + k1 + 1 + gnb, "µ = {mu}");
            assert_eq!(timing.used_by_gnb(0, 5), 5 + 1 + gnb, "µ = {mu}");
        }
    }
}
