// SPDX-License-Identifier: Apache-2.0
//! The profile of OpenAirInterface's gNB against what a real one of 2026.w11 counted with full queues over rfsim, in 1.28
//! s of radio time (one report): transmissions, and bytes of blocks in their first transmission.

mod common;

use common::{MS, SECOND, config, flat, link, saturate};
use nr_link_model::{Direction, Link, Port, UeId};

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
            link.enqueue(from, common::packet(1500, number), now);
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
