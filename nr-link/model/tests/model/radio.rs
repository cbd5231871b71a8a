// SPDX-License-Identifier: Apache-2.0
//! Radio throughput and delay against the values and curves of the standard.

use crate::common::{SECOND, config, flat, link, packet, saturate, scenario};
use nr_link_model::config::PerDirection;
use nr_link_model::radio::bler::{CodeBlocks, block_error_ratio};
use nr_link_model::radio::tbs::{Allocation, transport_block_bits};
use nr_link_model::radio::{McsTable, decibel};
use nr_link_model::{Direction, Link, Port, ResolvedConfig, SettledMcs, Totals, UeId};

const DOWN: Port = Port::Core { ue: UeId(0) };

fn saturated(config: &ResolvedConfig, sinr_db: f64, from: Port, seconds: u64) -> Totals {
    let mut link = link(config, &flat(sinr_db));
    saturate(&mut link, from, seconds * SECOND);
    let direction = if from == DOWN {
        Direction::Downlink
    } else {
        Direction::Uplink
    };
    link.totals(UeId(0), direction)
}

#[test]
fn throughput_of_24_and_106_prb_has_the_ratio_of_the_block_sizes() {
    for from in [DOWN, Port::Ue(UeId(0))] {
        let narrow = saturated(&config(&[("prb: 106", "prb: 24")]), 15.0, from, 4);
        let wide = saturated(&config(&[]), 15.0, from, 4);
        let ratio = wide.sdu_bytes as f64 / narrow.sdu_bytes as f64;
        assert!(
            (ratio / (106.0 / 24.0) - 1.0).abs() < 0.1,
            "{from:?}: {ratio}"
        );
    }
}

#[test]
fn the_outer_loop_meets_its_target_on_a_fading_channel() {
    let fading = scenario(
        "{ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -60}, noise: {sinr_db: 14}, mobility: {speed_mps: 1}, \
         fading: {taps: [{delay_ns: 0, power_db: 0}, {delay_ns: 300, power_db: -3}]}}",
    );
    for target in [0.05, 0.1, 0.2] {
        let olla = format!("bler_target: {target}");
        let mut link: Link<u64> = link(&config(&[("bler_target: 0.1", &olla)]), &fading);
        saturate(&mut link, DOWN, 20 * SECOND);
        let totals = link.totals(UeId(0), Direction::Downlink);
        // Every failed first transmission is followed by a second one.
        let failed = totals.rounds[1] as f64 / totals.rounds[0] as f64;
        assert!(
            (failed / target - 1.0).abs() < 0.1,
            "{failed} is not {target}"
        );
    }
}

#[test]
fn the_threshold_rule_and_the_outer_loop_agree_on_a_constant_channel() {
    let narrow = ("prb: 106", "prb: 24");
    let oai = ("{olla: {bler_target: 0.1}}", "{oai: {}}");
    for sinr_db in [5.0, 14.0] {
        let [outer, rule] = [&[narrow][..], &[narrow, oai]].map(|changes| {
            let mut link: Link<u64> = link(&config(changes), &flat(sinr_db));
            saturate(&mut link, DOWN, 10 * SECOND);
            let before = link.totals(UeId(0), Direction::Downlink);
            // From MCS 9 at one step per 100 ms, the rule has settled long before.
            for now in (10 * SECOND..20 * SECOND).step_by(1_000_000) {
                (0..10).for_each(|_| link.enqueue(DOWN, packet(1500, 0), now));
                link.advance(now);
                while link.dequeue().is_some() {}
            }
            link.totals(UeId(0), Direction::Downlink).bytes - before.bytes
        });
        let ratio = rule as f64 / outer as f64;
        assert!((0.8..1.05).contains(&ratio), "{sinr_db} dB: {ratio}");
        // Without traffic the rule has learned nothing, but still reports the MCS of a full queue.
        let mut idle: Link<u64> = link(&config(&[narrow, oai]), &flat(sinr_db));
        idle.advance(10 * SECOND);
        let idle_ratio = idle.totals(UeId(0), Direction::Downlink).capacity_bytes / outer as f64;
        assert!(
            (0.85..1.15).contains(&idle_ratio),
            "{sinr_db} dB: {idle_ratio}"
        );
    }
}

#[test]
fn the_settled_mcs_is_that_of_the_first_blocks() {
    let written = "{olla: {bler_target: 0.1}}";
    let mut chosen = Vec::new();
    for adaptation in [written, "{olla: {bler_target: 0.00001}}", "{fixed_mcs: 9}"] {
        let config = config(&[(written, adaptation)]);
        let settled = SettledMcs::new(config.radio.as_ref().unwrap());
        let mut link = link(&config, &flat(15.0));
        saturate(&mut link, DOWN, SECOND / 10);
        let first = link
            .samples()
            .find(|sample| sample.directions.dl.mcs.is_some())
            .expect("nothing was sent");
        let cqi = first.radio.as_ref().and_then(|radio| radio.cqi).unwrap();
        let mcs = settled.get(cqi).unwrap();
        assert_eq!(
            first.directions.dl.mcs,
            Some(f64::from(mcs)),
            "{adaptation}"
        );
        assert_eq!(settled.get(0), None);
        chosen.push(mcs);
    }
    assert!(chosen[0] > chosen[1] && chosen[2] == 9, "{chosen:?}");
}

#[test]
fn harq_rounds_have_the_distribution_of_the_bler_curves() {
    // Without downlink in the special slot, all blocks have the same size.
    let config = config(&[
        (
            "link_adaptation: {olla: {bler_target: 0.1}}",
            "link_adaptation: {fixed_mcs: 9}",
        ),
        ("dl_symbols: 6", "dl_symbols: 0"),
    ]);
    let mcs = McsTable::Qam64.schemes()[9];
    let allocation = Allocation {
        prb: 106,
        re_per_prb: 144,
        layers: 1,
    };
    let blocks = CodeBlocks::of(transport_block_bits(mcs, allocation), mcs);
    for sinr_db in [-2.9, -0.2, 2.75, 3.0] {
        let totals = saturated(&config, sinr_db, DOWN, 10);
        for round in 0..3 {
            let sent = totals.rounds[round] as f64;
            if sent < 100.0 {
                continue;
            }
            let implied = block_error_ratio(
                mcs,
                blocks,
                sinr_db + decibel::from_ratio(round as f64 + 1.0),
            );
            let seen = totals.rounds[round + 1] as f64 / sent;
            // Five standard deviations, and the 16 blocks whose next round is pending.
            let tolerance = 5.0 * (implied * (1.0 - implied) / sent).sqrt() + 16.0 / sent;
            assert!(
                (seen - implied).abs() < tolerance,
                "{sinr_db} dB round {round}: {seen} is not {implied}"
            );
        }
    }
}

#[test]
fn mac_bytes_are_packets_headers_and_padding() {
    for from in [DOWN, Port::Ue(UeId(0))] {
        let totals = saturated(&config(&[]), 30.0, from, 3);
        let payload = totals.bytes - totals.header_bytes - totals.padding_bytes;
        let in_rlc = payload - totals.sdu_bytes;
        assert!(
            in_rlc < 20 * 1500,
            "{from:?}: {in_rlc} bytes of partial and waiting packets"
        );
        assert!(totals.sdu_bytes as f64 / totals.capacity_sdu_bytes > 0.98);
    }
}

#[test]
fn capacity_without_traffic_is_the_rate_of_a_full_queue() {
    for (sinr_db, from, direction) in [
        (12.0, DOWN, Direction::Downlink),
        (12.0, Port::Ue(UeId(0)), Direction::Uplink),
    ] {
        let busy = saturated(&config(&[]), sinr_db, from, 4);
        let mut idle: Link<u64> = link(&config(&[]), &flat(sinr_db));
        idle.advance(4 * SECOND);
        let ratio = idle.totals(UeId(0), direction).capacity_sdu_bytes / busy.sdu_bytes as f64;
        // Without traffic, the outer loop has not learned to use MCSs between two CQIs.
        assert!((0.85..1.15).contains(&ratio), "{direction:?}: {ratio}");
    }
}

fn floor_ms(config: &ResolvedConfig) -> PerDirection<f64> {
    let link: Link<u64> = link(config, &flat(20.0));
    link.mac_floor_ms(config)
}

#[test]
fn the_mac_floor_is_the_delay_of_single_packets() {
    let floor = floor_ms(&config(&[]));
    // Downlink: a slot and 13 of 14 symbols, a wait of half a slot, and two uplink slots in ten.
    assert!((1.2..1.7).contains(&floor.dl), "{floor:?}");
    // Uplink: request, 0.5 ms, the grant in the next period of the pattern, PUSCH, 0.5 ms.
    assert!((5.0..11.0).contains(&floor.ul), "{floor:?}");
    let fdd = (
        "duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}",
        "duplex: fdd",
    );
    let fdd = floor_ms(&config(&[fdd]));
    assert!(fdd.dl < floor.dl && fdd.ul < floor.ul / 2.0, "{fdd:?}");
}
