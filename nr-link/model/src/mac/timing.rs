// SPDX-License-Identifier: Apache-2.0
//! Processing times, and which slot a grant or an acknowledgement uses.
//!
//! Each carrier counts its own slots. They start together, and their lengths differ by powers of two (TS 38.211
//! clause 4.3.2): the shortest slots are the ticks of all carriers. Between carriers only times compare, not slots.

use std::iter;

use crate::Direction;
use crate::config::{Carrier, Gnb, RadioConfig};
use crate::ids::CarrierId;
use crate::radio::duplex::SYMBOLS_PER_SLOT;
use crate::radio::overhead::{PDCCH_SYMBOLS, shared_symbols};
use crate::radio::{Duplex, Numerology, SlotKind, bands};
use crate::time::{Nanos, Slot};

/// PDSCH decoding time N1 of a UE of capability 1 with additional DM-RS, symbols, for µ = 0 to 3
/// (TS 38.214 table 5.3-1).
const N1_SYMBOLS: [u64; 4] = [13, 13, 20, 24];
/// PUSCH preparation time N2 of a UE of capability 1, symbols, for µ = 0 to 3 (table 6.4-1).
const N2_SYMBOLS: [u64; 4] = [10, 12, 23, 36];
/// Time in which a gNB decodes an uplink slot and prepares its next slot. No standard specifies it; half a
/// millisecond is one slot at 30 kHz.
const GNB_PROCESSING: Nanos = 500_000;

/// Timing of all carriers.
#[derive(Debug, Clone)]
pub(crate) struct Timing {
    clocks: Vec<Clock>,
    /// Length of the shortest slot.
    pub tick: Nanos,
    gnb: Option<&'static Gnb>,
}

/// Timing of one carrier.
#[derive(Debug, Clone)]
struct Clock {
    slot: Nanos,
    /// Ticks in a slot.
    ticks: u64,
    duplex: Duplex,
    /// The carrier over which its downlink is acknowledged.
    pucch: CarrierId,
    /// Decoding time of a UE from the end of a PDSCH.
    n1: Nanos,
    /// Preparation time of a UE before a PUSCH.
    n2: Nanos,
    /// The distance in slots from each slot of the pattern to the uplink slots that it grants.
    grants: Vec<Vec<u64>>,
}

impl Timing {
    pub fn new(radio: &RadioConfig) -> Self {
        Self::of(&radio.carriers, radio.shortest_slot_ns(), radio.gnb())
    }

    fn of(carriers: &[Carrier], tick: Nanos, gnb: Option<&'static Gnb>) -> Self {
        let clock = |carrier| Clock::new(carrier, carriers, tick, gnb);
        Self {
            clocks: carriers.iter().map(clock).collect(),
            tick,
            gnb,
        }
    }

    /// Returns the slot of a carrier that starts with this tick, if one does.
    pub fn slot_at(&self, carrier: CarrierId, tick: u64) -> Option<Slot> {
        let ticks = self.clocks[carrier.0].ticks;
        tick.is_multiple_of(ticks).then(|| Slot(tick / ticks))
    }

    pub fn kind(&self, carrier: CarrierId, slot: Slot) -> SlotKind {
        self.clocks[carrier.0].duplex.slot(slot)
    }

    pub fn start(&self, carrier: CarrierId, slot: Slot) -> Nanos {
        slot.0 * self.clocks[carrier.0].slot
    }

    /// Returns the length of a carrier's slots.
    pub fn slot_length(&self, carrier: CarrierId) -> Nanos {
        self.clocks[carrier.0].slot
    }

    /// Returns when a carrier's PDCCH in a slot has ended.
    pub fn pdcch_end(&self, carrier: CarrierId, slot: Slot) -> Nanos {
        let symbol = self.clocks[carrier.0].slot / u64::from(SYMBOLS_PER_SLOT);
        self.start(carrier, slot) + u64::from(PDCCH_SYMBOLS) * symbol
    }

    /// Returns the end of the slot in which a UE acknowledges a downlink slot.
    pub fn acknowledgement_end(&self, carrier: CarrierId, slot: Slot) -> Nanos {
        let pucch = self.clocks[carrier.0].pucch;
        let sent = self.next_pucch(pucch, self.decoded_by_ue(carrier, slot));
        self.start(pucch, sent + 1)
    }

    /// Returns when a UE has decoded a downlink slot.
    pub fn decoded_by_ue(&self, carrier: CarrierId, slot: Slot) -> Nanos {
        self.start(carrier, slot + 1) + self.clocks[carrier.0].n1
    }

    /// Returns when the gNB has decoded an uplink slot and can use its content.
    pub fn decoded_by_gnb(&self, carrier: CarrierId, slot: Slot) -> Nanos {
        self.start(carrier, slot + 1) + GNB_PROCESSING
    }

    /// Returns from when on the gNB's scheduler knows the content of an uplink slot: the start of the first slot about
    /// which it decides with that knowledge, or earlier.
    pub fn known_by_gnb(&self, carrier: CarrierId, slot: Slot) -> Nanos {
        match &self.gnb {
            None => self.decoded_by_gnb(carrier, slot),
            Some(gnb) => self.start(carrier, slot + gnb.uplink_known_slots),
        }
    }

    /// Returns the first slot in which the gNB can use the content of an uplink slot.
    pub fn used_by_gnb(&self, carrier: CarrierId, slot: Slot) -> Slot {
        Slot(
            self.known_by_gnb(carrier, slot)
                .div_ceil(self.clocks[carrier.0].slot),
        )
    }

    /// Returns for how long packets wait outside of the gNB's scheduling: what is sent in a slot was there so long before it.
    pub fn gnb_ahead(&self) -> Nanos {
        self.gnb.map_or(0, |gnb| gnb.ahead_slots * self.tick)
    }

    /// Returns the same for a UE.
    pub fn ue_ahead(&self) -> Nanos {
        self.gnb.map_or(0, |gnb| gnb.ue_ahead_slots * self.tick)
    }

    /// Returns the duplex of a carrier.
    pub fn duplex(&self, carrier: CarrierId) -> &Duplex {
        &self.clocks[carrier.0].duplex
    }

    /// Returns the number of slots after which the directions of the primary carrier's slots repeat.
    pub fn pattern_slots(&self) -> u64 {
        match self.duplex(CarrierId::PRIMARY) {
            Duplex::Tdd(pattern) => pattern.slots() as u64,
            Duplex::Fdd => 1,
        }
    }

    /// Returns the first slot of the carrier that is all uplink.
    pub fn first_uplink(&self, carrier: CarrierId) -> u64 {
        let duplex = self.duplex(carrier);
        (0..)
            .find(|&slot| duplex.slot(Slot(slot)).carries_pusch())
            .unwrap_or(0)
    }

    /// Returns whether this slot of the primary carrier has PUCCH.
    pub fn carries_pucch(&self, slot: Slot) -> bool {
        self.kind(CarrierId::PRIMARY, slot).carries_pucch()
    }

    /// Returns whether UEs can send scheduling requests in this slot of the primary carrier.
    pub fn carries_request(&self, slot: Slot) -> bool {
        self.carries_pucch(slot)
            && self.gnb.is_none_or(|gnb| {
                let pucch = |&other: &u64| self.carries_pucch(Slot(other));
                let first = (0..self.pattern_slots()).find(pucch).unwrap_or(0);
                // OpenAirInterface takes the shortest of sl10, sl20, sl40 … (TS 38.331 SchedulingRequestResourceConfig) that
                // the first slot with uplink is in (`set_SR_periodandoffset`).
                let mut doubled =
                    iter::successors(Some(gnb.request_period_slots), |slots| Some(2 * slots));
                let period = doubled.find(|&slots| slots > first);
                period.is_some_and(|period| slot.0 % period == first)
            })
    }

    /// Returns the first slot in which the gNB can use the acknowledgement of a downlink slot.
    pub fn acknowledged(&self, carrier: CarrierId, slot: Slot) -> Slot {
        let Clock {
            pucch,
            slot: length,
            ..
        } = self.clocks[carrier.0];
        let sent = self.next_pucch(pucch, self.decoded_by_ue(carrier, slot));
        Slot(self.known_by_gnb(pucch, sent).div_ceil(length))
    }

    /// Returns when the gNB's scheduler can use a status report that a UE has ready at `at`: after the primary
    /// carrier's next slot with uplink, and decoding. (The request and grant for the report are left out.)
    pub fn status_of_ue(&self, at: Nanos) -> Nanos {
        const PRIMARY: CarrierId = CarrierId::PRIMARY;
        self.start(
            PRIMARY,
            self.used_by_gnb(PRIMARY, self.next_pucch(PRIMARY, at)),
        )
    }

    /// Returns when a UE can use a status report that the gNB has ready at `at`: after the primary carrier's next
    /// downlink slot, and decoding.
    pub fn status_of_gnb(&self, at: Nanos) -> Nanos {
        const PRIMARY: CarrierId = CarrierId::PRIMARY;
        let carries = |kind: SlotKind| shared_symbols(kind, Direction::Downlink) > 0;
        self.decoded_by_ue(PRIMARY, self.next_slot(PRIMARY, at, carries))
    }

    /// Returns the primary carrier's first downlink slot that starts at `at` or later.
    pub fn next_downlink(&self, at: Nanos) -> Slot {
        let carries = |kind: SlotKind| shared_symbols(kind, Direction::Downlink) > 0;
        self.next_slot(CarrierId::PRIMARY, at, carries)
    }

    /// Returns its first slot with PUSCH that starts at `at` or later.
    pub fn next_uplink(&self, at: Nanos) -> Slot {
        self.next_slot(CarrierId::PRIMARY, at, SlotKind::carries_pusch)
    }

    /// Returns its first slot for a scheduling request that starts at `at` or later.
    pub fn next_request(&self, at: Nanos) -> Slot {
        let from = at.div_ceil(self.clocks[0].slot);
        (from..)
            .map(Slot)
            .find(|&slot| self.carries_request(slot))
            .unwrap_or(Slot(from))
    }

    /// Returns its first uplink slot that a slot grants which starts at `at` or later.
    pub fn next_grant(&self, at: Nanos) -> Slot {
        let from = at.div_ceil(self.clocks[0].slot);
        let granted = |slot| self.granted(CarrierId::PRIMARY, slot, 0);
        (from..).map(Slot).find_map(granted).unwrap_or(Slot(from))
    }

    /// Returns the time from the reception of a random access response to the PUSCH that it grants: N2 and 0.5 ms
    /// (TS 38.213 clause 8.3; N1 is a part of the reception).
    pub fn preparation_of_ue(&self) -> Nanos {
        self.clocks[0].n2 + 500_000
    }

    /// Returns the `nth` uplink slot, from 0, that a slot of the same carrier grants.
    pub fn granted(&self, carrier: CarrierId, slot: Slot, nth: usize) -> Option<Slot> {
        let grants = &self.clocks[carrier.0].grants;
        let grants = &grants[slot.phase(grants.len())];
        grants.get(nth).map(|&after| slot + after)
    }

    /// Returns a carrier's first slot with PUCCH that starts at `from` or later.
    fn next_pucch(&self, carrier: CarrierId, from: Nanos) -> Slot {
        self.next_slot(carrier, from, SlotKind::carries_pucch)
    }

    /// Returns a carrier's first slot with a property that starts at `from` or later.
    fn next_slot(&self, carrier: CarrierId, from: Nanos, has: impl Fn(SlotKind) -> bool) -> Slot {
        let clock = &self.clocks[carrier.0];
        let from = from.div_ceil(clock.slot);
        (from..)
            .map(Slot)
            .find(|&slot| has(clock.duplex.slot(slot)))
            .unwrap_or(Slot(from))
    }
}

impl Clock {
    fn new(carrier: &Carrier, all: &[Carrier], tick: Nanos, gnb: Option<&Gnb>) -> Self {
        let pucch = pucch_of(carrier, all);
        let slot = carrier.numerology.slot_ns();
        // N1 of the numerology of PDSCH or of PUCCH, whichever gives the longer time (TS 38.214
        // clause 5.3).
        let n1 = decoding(carrier.numerology).max(decoding(all[pucch.0].numerology));
        let n2 = N2_SYMBOLS[usize::from(carrier.numerology.mu())];
        let least_k2 = 1 + (u64::from(PDCCH_SYMBOLS) + n2).div_ceil(u64::from(SYMBOLS_PER_SLOT));
        let carries_pusch = |kind: SlotKind| match gnb {
            None => kind.carries_pusch(),
            Some(gnb) => gnb.data_symbols(carrier.prb, kind, Direction::Uplink).all > 0,
        };
        let k2 = gnb.map_or(least_k2, |gnb| gnb.grant_slots);
        Self {
            slot,
            ticks: slot / tick,
            duplex: carrier.duplex.clone(),
            pucch,
            n1,
            n2: n2 * slot / u64::from(SYMBOLS_PER_SLOT),
            grants: grants(&carrier.duplex, k2, carries_pusch),
        }
    }
}

/// Returns the carrier of the PUCCH: the primary one, or in the other frequency range the first one with an uplink,
/// as a second PUCCH group (TS 38.213 clause 9). At 120 kHz 16 HARQ processes last 2 ms, and the next uplink slot of
/// the first range may be later than that.
fn pucch_of(carrier: &Carrier, all: &[Carrier]) -> CarrierId {
    let range = |carrier: &Carrier| bands::frequency_range(carrier.hz);
    if range(carrier) == range(&all[0]) {
        return CarrierId::PRIMARY;
    }
    all.iter()
        .position(|other| other.uplink && range(other) == range(carrier))
        .map_or(CarrierId::PRIMARY, CarrierId)
}

fn decoding(numerology: Numerology) -> Nanos {
    N1_SYMBOLS[usize::from(numerology.mu())] * numerology.slot_ns() / u64::from(SYMBOLS_PER_SLOT)
}

/// Returns the uplink slots that each slot of the pattern grants: an uplink slot is granted in the
/// last downlink slot at least `k2` before it.
fn grants(duplex: &Duplex, k2: u64, carries_pusch: impl Fn(SlotKind) -> bool) -> Vec<Vec<u64>> {
    let period = match duplex {
        Duplex::Tdd(pattern) => pattern.slots() as u64,
        Duplex::Fdd => 1,
    };
    let mut grants = vec![Vec::new(); period as usize];
    let base = period * (1 + k2);
    for slot in (base..base + period).filter(|&slot| carries_pusch(duplex.slot(Slot(slot)))) {
        let grants_it = |&at: &u64| duplex.slot(Slot(at)).dl_symbols() >= PDCCH_SYMBOLS;
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
    use crate::config::OAI_2026_W11;
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
        let grants = grants(&tdd("DDDDDDDSUU"), 2, SlotKind::carries_pusch);
        let all: Vec<_> = grants
            .iter()
            .enumerate()
            .filter(|(_, after)| !after.is_empty())
            .collect();
        assert_eq!(all, [(6, &vec![2]), (7, &vec![2])]);
    }

    #[test]
    fn every_fdd_slot_grants_one() {
        assert_eq!(grants(&Duplex::Fdd, 2, SlotKind::carries_pusch), [[2]]);
    }

    #[test]
    fn a_slot_of_15_khz_begins_with_every_eighth_of_120() {
        let high = carrier(28.0, 3, true, tdd("DDDSU"));
        let timing = Timing::of(&[high, carrier(0.8, 0, true, Duplex::Fdd)], 125_000, None);
        let slots: Vec<_> = (0..17)
            .map(|tick| timing.slot_at(CarrierId(1), tick))
            .collect();
        assert_eq!(slots.iter().flatten().count(), 3);
        assert_eq!((slots[8], slots[16]), (Some(Slot(1)), Some(Slot(2))));
        assert_eq!(timing.slot_at(CarrierId(0), 17), Some(Slot(17)));
    }

    #[test]
    fn acknowledgements_go_over_the_primary_carrier_or_one_of_their_own_range() {
        let middle = carrier(3.6, 1, true, tdd("DDDDDDDSUU"));
        let [high, downlink_only] =
            [true, false].map(|uplink| carrier(28.0, 3, uplink, tdd("DDDSU")));
        let timing = Timing::of(
            &[middle.clone(), downlink_only.clone(), high],
            125_000,
            None,
        );
        // Slot 0 of 120 kHz ends at 125 µs and is decoded 214 µs later. The next uplink slot of
        // that frequency range is its fourth, from 375 to 500 µs; 0.5 ms later slot 8 starts.
        assert_eq!(
            timing.decoded_by_ue(CarrierId(1), Slot(0)),
            125_000 + 214_285
        );
        assert_eq!(timing.acknowledged(CarrierId(1), Slot(0)), Slot(8));
        // Without an uplink in that range the UE takes the time of 30 kHz, 464 µs. The first uplink
        // slot of the primary carrier is its eighth, which ends at 4 ms.
        let timing = Timing::of(&[middle, downlink_only], 125_000, None);
        assert_eq!(
            timing.decoded_by_ue(CarrierId(1), Slot(0)),
            125_000 + 464_285
        );
        assert_eq!(timing.acknowledged(CarrierId(1), Slot(0)), Slot(36));
        assert_eq!(timing.acknowledged(CarrierId(0), Slot(0)), Slot(9));
    }

    #[test]
    fn openairinterface_answers_a_request_twenty_slots_later() {
        let lone = carrier(3.6, 1, true, tdd("DDDDDDDSUU"));
        let timing = Timing::of(&[lone], 500_000, Some(&OAI_2026_W11));
        for asked in [Slot(7), Slot(17)] {
            let known = timing.known_by_gnb(CarrierId::PRIMARY, asked);
            assert_eq!(timing.next_grant(known), asked + 20);
        }
    }

    #[test]
    fn requests_of_openairinterface_have_a_period_that_reaches_the_first_uplink() {
        let asked = |pattern: &str| -> Vec<u64> {
            let lone = carrier(3.6, 1, true, tdd(pattern));
            let timing = Timing::of(&[lone], 500_000, Some(&OAI_2026_W11));
            let asked = (0..40).filter(|&slot| timing.carries_request(Slot(slot)));
            asked.collect()
        };
        assert_eq!(asked("DDDDDDDSUU"), [7, 17, 27, 37]);
        assert_eq!(asked("DDDDDDDDDDDDDDDDDSUU"), [17, 37]);
    }

    #[test]
    fn with_one_numerology_the_acknowledgement_is_n1_and_one_slot_later() {
        // k1 = 1 + ⌈N1/14⌉ slots, then the slot itself and ⌈0.5 ms⌉.
        for (mu, k1, gnb) in [(0, 2, 1), (1, 2, 1), (2, 3, 2), (3, 3, 4)] {
            let lone = carrier(3.6, mu, true, Duplex::Fdd);
            let timing = Timing::of(&[lone], 1_000_000 >> mu, None);
            let acknowledged = timing.acknowledged(CarrierId(0), Slot(5));
            assert_eq!(acknowledged, Slot(5 + k1 + 1 + gnb), "µ = {mu}");
            let used = timing.used_by_gnb(CarrierId(0), Slot(5));
            assert_eq!(used, Slot(5 + 1 + gnb), "µ = {mu}");
        }
    }
}
