// SPDX-License-Identifier: Apache-2.0
//! The profile of OpenAirInterface's gNB against what a real one of 2026.w11 counted with full queues over rfsim, in 1.28
//! s of radio time (one report): transmissions, and bytes of blocks in their first transmission.

use crate::common::{MS, SECOND, config, flat, link, packet, saturate};
use nr_link_model::{Direction, Link, Port, Totals, UeId};

const UE: UeId = UeId(0);
/// Until the MCS has risen from 0 to 28.
const RAMP: u64 = 5 * SECOND;

/// Returns the transmissions and the bytes of first transmissions in 10 reports, of a full queue.
fn ten_reports(prb: &str, from: Port, direction: Direction) -> (u64, u64, u64) {
    let prb = format!("prb: {prb}");
    let config = config(&[
        ("prb: 106", &prb),
        (
            "  link_adaptation: {olla: {bler_target: 0.1}}",
            "  gnb_profile: oai-2026.w11\n  uplink: {pcmax_dbm: 60, target_snr_db: 30}",
        ),
    ]);
    let mut link: Link<u64> = link(&config, &flat(30.0));
    saturate(&mut link, from, RAMP);
    let before = link.totals(UE, direction);
    let mut number = 0;
    for now in (RAMP..RAMP + 12_800 * MS).step_by(MS as usize) {
        link.advance(now);
        for _ in 0..20 {
            link.enqueue(from, packet(1500, number), now);
            number += 1;
        }
        while link.dequeue().is_some() {}
    }
    link.advance(RAMP + 12_800 * MS);
    let after = link.totals(UE, direction);
    (
        after.rounds.iter().sum::<u64>() - before.rounds.iter().sum::<u64>(),
        after.rounds[0] - before.rounds[0],
        after.scheduled_bytes - before.scheduled_bytes,
    )
}

/// A full queue of 20 s with MCS 20; returns the totals.
fn with_failures(profile: &str, sinr_db: f64) -> Totals {
    let profile = format!("  gnb_profile: {profile}\n  link_adaptation: {{fixed_mcs: 20}}");
    let config = config(&[
        ("prb: 106", "prb: 24"),
        ("  link_adaptation: {olla: {bler_target: 0.1}}", &profile),
    ]);
    let mut link: Link<u64> = link(&config, &flat(sinr_db));
    saturate(&mut link, Port::Core { ue: UE }, 20 * SECOND);
    link.totals(UE, Direction::Downlink)
}

/// The gNB takes the outcome of the first of the three blocks that are acknowledged beside a report, each 80 ms, for that of
/// the last: if one of both fails, it retransmits the other one, and RLC has to recover that one.
#[test]
fn blocks_whose_acknowledgements_are_swapped_are_lost() {
    // Its UE needs 0.76 dB more.
    let [totals, older] = [("oai-2025.w36", 14.66), ("oai-2026.w11", 13.9)]
        .map(|(profile, sinr_db)| with_failures(profile, sinr_db));
    let failing = totals.rounds[1] as f64 / totals.rounds[0] as f64;
    assert!(failing > 0.05 && failing < 0.2, "{failing}");
    let swapped = 20.0 / 0.08 * 2.0 * failing * (1.0 - failing);
    near(totals.errors as f64, swapped, 0.4);
    assert_eq!(older.errors, 0);
    // One block in each report of 2026.w11 is repeated besides.
    let again = 20.0 / 0.08 * (1.0 - failing);
    near(
        (older.rounds[1] as f64) - again,
        totals.rounds[1] as f64,
        0.1,
    );
}

#[test]
fn no_ue_of_a_slot_has_fewer_prbs_than_the_least_allocation() {
    let config = config(&[
        ("prb: 106", "prb: 24"),
        (
            "  link_adaptation: {olla: {bler_target: 0.1}}",
            "  gnb_profile: oai-2026.w11",
        ),
        (
            "ue: [{name: ue1}]",
            "ue: [{name: ue1, addresses: [10.0.0.1]}, {name: ue2, addresses: [10.0.0.2]}]",
        ),
    ]);
    let mut link: Link<u64> = link(&config, &flat(30.0));
    let ues = [UeId(0), UeId(1)];
    let counted = |link: &Link<u64>| {
        ues.map(|ue| {
            let totals = link.totals(ue, Direction::Downlink);
            (totals.rounds.iter().sum::<u64>(), totals.prb)
        })
    };
    let (mut before, mut shared) = (counted(&link), 0);
    for slot in 0..20_000_u64 {
        let now = slot * MS / 2;
        for ue in ues.into_iter().filter(|_| slot % 4 == 0) {
            // Sizes that leave a few PRBs, or none.
            let bytes = 400 + (slot * 7919 + ue.0 as u64 * 104_729) % 1000;
            link.enqueue(Port::Core { ue }, packet(bytes as u32, slot), now);
        }
        link.advance(now);
        let after = counted(&link);
        let sent = std::array::from_fn::<_, 2, _>(|ue| {
            (after[ue].0 - before[ue].0, after[ue].1 - before[ue].1)
        });
        for (blocks, prb) in sent {
            assert!(blocks != 1 || prb >= 5, "slot {slot}: {sent:?}");
        }
        shared += u64::from(sent.iter().all(|&(blocks, _)| blocks == 1));
        before = after;
    }
    assert!(shared > 100, "{shared}");
}

fn near(found: f64, real: f64, tolerance: f64) {
    assert!(
        (found / real - 1.0).abs() < tolerance,
        "{found}, and the real one {real}"
    );
}

#[test]
fn six_of_eight_downlink_slots_carry_blocks() {
    let (all, first, bytes) = ten_reports("24", Port::Core { ue: UE }, Direction::Downlink);
    // 1552 in each report: 6 in 5 ms, and one more with each report of RSRP.
    near(all as f64, 15_520.0, 0.001);
    near(bytes as f64 / first as f64, 3_002_912.0 / 1552.0, 0.005);
}

#[test]
fn a_wide_carrier_has_the_same_slots() {
    let (all, first, bytes) = ten_reports("106", Port::Core { ue: UE }, Direction::Downlink);
    near(all as f64, 15_520.0, 0.005);
    near(bytes as f64 / first as f64, 13_872_128.0 / 1512.0, 0.005);
}

#[test]
fn three_uplink_slots_of_ten_carry_blocks() {
    let (all, first, bytes) = ten_reports("24", Port::Ue(UE), Direction::Uplink);
    near(all as f64, 7_680.0, 0.001);
    near(bytes as f64 / first as f64, 1_232_960.0 / 768.0, 0.005);
}

/// The MCS climbs more slowly where data is rare: a real gNB had MCS 28 by then.
const SPARSE_RAMP: u64 = 31 * SECOND;

/// A UE that sends small packets and receives others.
struct Sparse {
    /// Second transmissions over first ones.
    again: [f64; 2],
    /// Mean time of an uplink packet, ms.
    uplink_ms: f64,
}

/// Ten reports of a UE that sends a packet of `bytes` each `period_ms` and receives `down` packets of 1500 bytes each ms.
fn sparse_uplink((bytes, period_ms): (u32, u64), down: u64) -> Sparse {
    let config = config(&[
        ("prb: 106", "prb: 24"),
        ("delay_ms: 10.0", "delay_ms: 0"),
        ("delay_ms: 10.0", "delay_ms: 0"),
        (
            "  link_adaptation: {olla: {bler_target: 0.1}}",
            "  gnb_profile: oai-2026.w11",
        ),
    ]);
    let mut link: Link<u64> = link(&config, &flat(40.0));
    let both = |link: &Link<u64>| {
        [Direction::Downlink, Direction::Uplink].map(|direction| link.totals(UE, direction))
    };
    let (mut waited, mut arrived) = (0, 0);
    let mut before = both(&link);
    for now in (0..SPARSE_RAMP + 12_800 * MS).step_by(MS as usize) {
        link.advance(now);
        if now == SPARSE_RAMP {
            before = both(&link);
        }
        while let Some(delivery) = link.dequeue() {
            if delivery.packet.payload > 0 && now > SPARSE_RAMP {
                waited += delivery.due - delivery.packet.payload;
                arrived += 1;
            }
        }
        for _ in 0..down {
            link.enqueue(Port::Core { ue: UE }, packet(1500, 0), now);
        }
        if (now / MS).is_multiple_of(period_ms) {
            link.enqueue(Port::Ue(UE), packet(bytes, now), now);
        }
    }
    let after = both(&link);
    let again = [0, 1].map(|index| {
        let of = |round: usize| (after[index].rounds[round] - before[index].rounds[round]) as f64;
        of(1) / of(0)
    });
    Sparse {
        again,
        uplink_ms: waited as f64 / f64::from(arrived) / MS as f64,
    }
}

#[test]
fn narrow_uplink_blocks_of_the_highest_mcs_fail_as_often_as_real_ones() {
    // 257 of 2,356 blocks in 5 PRB.
    let found = sparse_uplink((52, 7), 0).again[1];
    assert!((0.07..0.15).contains(&found), "{found}");
}

#[test]
fn one_downlink_block_of_a_hundred_is_sent_again_though_it_arrived() {
    // 12.5 per second of 1,200.
    let found = sparse_uplink((52, 7), 2).again[0];
    assert!((0.005..0.02).contains(&found), "{found}");
}

#[test]
fn single_uplink_packets_take_as_long_as_real_ones() {
    // 200 kbit/s of datagrams at MCS 28 in lockstep: 19.3 ms, of which its coupling adds up to a slot at either end.
    let found = sparse_uplink((1500, 59), 0).uplink_ms;
    assert!((18.3..19.3).contains(&found), "{found}");
}
