// SPDX-License-Identifier: Apache-2.0
//! Component carriers of different numerology, band and duplex in one cell.

use crate::common::{MS, config, flat, link, packet, saturate};
use nr_link_model::{Direction, Link, Nanos, Port, ResolvedConfig, UeId};

const WARM_UP: Nanos = 20 * MS;
const MEASURED: Nanos = 40 * MS;

/// 3.6 GHz, 30 kHz.
const MID: &str = "carrier_ghz: 3.6\n  numerology: 1\n  prb: 106";
/// 28 GHz, 120 kHz.
const HIGH: &str = "carrier_ghz: 28\n  numerology: 3\n  prb: 66";
const TDD: &str = "duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}";
const FDD: &str = "duplex: fdd";

/// Makes a configuration with `first` as the primary carrier and `others` as secondary ones.
fn carriers(first: &str, duplex: &str, others: &str) -> ResolvedConfig {
    let duplex = format!("{duplex}\n  secondary: {others}\n  csi: {{period_slots: 4}}");
    let changes = [
        ("carrier_ghz: 3.6\n  numerology: 1\n  prb: 106", first),
        (TDD, &duplex),
    ];
    let mut config = config(&changes);
    let radio = config.radio.as_mut().expect("there is one");
    radio.uplink.pcmax_dbm = 60.0; // so that sharing it among carriers costs nothing
    radio.uplink.target_snr_db = 45.0;
    config
}

/// Returns the bytes of blocks that arrived in `MEASURED`, with a full queue.
fn carried(config: &ResolvedConfig, direction: Direction) -> f64 {
    let mut link: Link<u64> = link(config, &flat(45.0));
    let from = match direction {
        Direction::Downlink => Port::Core { ue: UeId(0) },
        Direction::Uplink => Port::Ue(UeId(0)),
    };
    let mut before = 0;
    for now in (0..WARM_UP + MEASURED).step_by(MS as usize) {
        link.advance(now);
        while link.dequeue().is_some() {}
        (0..200).for_each(|_| link.enqueue(from, packet(1500, 0), now));
        if now == WARM_UP {
            before = link.totals(UeId(0), direction).bytes;
        }
    }
    link.advance(WARM_UP + MEASURED);
    (link.totals(UeId(0), direction).bytes - before) as f64
}

#[test]
fn together_carriers_carry_the_sum_of_each_alone() {
    let low = "carrier_ghz: 0.8\n  numerology: 0\n  prb: 52";
    let beside_mid = "[{carrier_ghz: 28, numerology: 3, prb: 66}, {carrier_ghz: 0.8, numerology: 0, prb: 52, duplex: fdd}]";
    let beside_high = "[{carrier_ghz: 0.8, numerology: 0, prb: 52, duplex: fdd}, {carrier_ghz: 3.6, numerology: 1, prb: 106}]";
    for direction in [Direction::Downlink, Direction::Uplink] {
        let alone = [(MID, TDD), (HIGH, TDD), (low, FDD)]
            .map(|(carrier, duplex)| carried(&carriers(carrier, duplex, "[]"), direction));
        let sum: f64 = alone.iter().sum();
        for config in [
            carriers(MID, TDD, beside_mid),
            carriers(HIGH, TDD, beside_high),
        ] {
            let together = carried(&config, direction);
            let ratio = together / sum;
            // The measured time begins and ends within slots of 1 ms.
            assert!(
                (0.97..1.03).contains(&ratio),
                "{direction:?}: {together} of {alone:?}"
            );
        }
    }
}

#[test]
fn each_carrier_has_its_own_slots_and_the_shortest_are_counted() {
    let config = carriers(MID, TDD, "[{carrier_ghz: 28, numerology: 3, prb: 66}]");
    let mut link: Link<u64> = link(&config, &flat(20.0));
    link.advance(100 * MS);
    assert_eq!((link.slot_length(), link.slots()), (125_000, 801));
    let measured = link.samples().next_back().and_then(|sample| sample.radio);
    // The primary carrier is measured in one of four of its slots of half a millisecond.
    assert_eq!(measured.map(|radio| radio.rsrp_meas_count), Some(50));
}

#[test]
fn a_packet_does_not_wait_for_slots_of_the_slower_carrier() {
    let low = "carrier_ghz: 0.8\n  numerology: 0\n  prb: 52";
    let floor = |others| {
        let config = carriers(low, FDD, others);
        let link: Link<u64> = link(&config, &flat(20.0));
        link.mac_floor_ms(&config)
    };
    let (alone, helped) = (
        floor("[]"),
        floor("[{carrier_ghz: 28, numerology: 3, prb: 66}]"),
    );
    // Alone: half a slot of 1 ms on average until it is sent, the slot, and 13 of 14 symbols to
    // decode it.
    assert!((alone.dl - 2.43).abs() < 0.1, "{alone:?}");
    assert!(helped.dl < alone.dl - 0.5, "{helped:?}");
}

#[test]
fn retransmissions_on_all_carriers_meet_the_target() {
    let mut config = carriers(MID, TDD, "[{carrier_ghz: 28, numerology: 3, prb: 66}]");
    config
        .radio
        .as_mut()
        .expect("there is one")
        .csi_period_slots = 20;
    let mut link: Link<u64> = link(&config, &flat(12.3));
    saturate(&mut link, Port::Core { ue: UeId(0) }, 4_000 * MS);
    let rounds = link.totals(UeId(0), Direction::Downlink).rounds;
    let failed = rounds[1] as f64 / rounds[0] as f64;
    assert!((0.07..0.13).contains(&failed), "{failed}");
}
