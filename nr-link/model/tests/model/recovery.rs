// SPDX-License-Identifier: Apache-2.0
//! The time at which RLC handles data that HARQ gave up.

use crate::common::{MS, config, flat, link, packet};
use nr_link_model::{Direction, Link, Nanos, Port, ResolvedConfig, UeId};

/// Returns a link by FDD without a path's delay, with MCS 28 and these keys of `radio`.
fn with_mcs_28(keys: &str) -> ResolvedConfig {
    config(&[
        (
            "olla: {bler_target: 0.1}}",
            &format!("fixed_mcs: 28}}\n  {keys}"),
        ),
        (
            "duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}",
            "duplex: fdd",
        ),
        ("dl: {delay_ms: 10.0", "dl: {delay_ms: 0.0"),
    ])
}

/// Returns when a packet that no transmission delivers is given up, relative to its entry into the
/// buffer, in unacknowledged mode.
fn given_up_after(t_reassembly_ms: u64) -> Nanos {
    let rlc = format!("rlc: {{mode: um, t_reassembly_ms: {t_reassembly_ms}}}");
    let config = with_mcs_28(&rlc);
    // MCS 28 needs 19 dB; four transmissions add 6 dB to the channel's SINR.
    let mut link: Link<u64> = link(&config, &flat(-3.0));
    let sent = 100 * MS;
    link.advance(sent);
    link.enqueue(Port::Core { ue: UeId(0) }, packet(1500, 0), sent);
    let lost = |now: &Nanos| {
        link.advance(*now);
        link.totals(UeId(0), Direction::Downlink).rlc_losses > 0
    };
    let found = (sent..).step_by(MS as usize / 10).take(2000).find(lost);
    found.expect("the packet is given up") - sent
}

#[test]
fn t_reassembly_starts_when_the_block_is_missed_and_not_when_harq_gives_up() {
    // FDD at 30 kHz: three rounds of 4 slots (k1 of 2, the slot with PUCCH, 0.5 ms) until the last
    // transmission, and 4 more until its acknowledgement is known: 8 ms.
    let by_harq = given_up_after(1);
    assert!((7 * MS..10 * MS).contains(&by_harq), "{by_harq}");
    // TS 38.322 clause 5.2.2.2.3: the timer starts at the decoding of the first transmission, 1 ms
    // after the packet.
    for t_reassembly in [30, 60] {
        let after = given_up_after(t_reassembly);
        let from_missing = after - t_reassembly * MS;
        assert!((MS / 2..2 * MS).contains(&from_missing), "{after}");
    }
}

/// Returns when each of 200 packets leaves the buffer's receiver, in unacknowledged mode over a channel on which each
/// block fails at first and arrives at the second try, 4 ms later; packets that are lost are not among them.
fn repaired_late(t_reassembly_ms: u64, t_reordering_ms: u64) -> Vec<(u64, Nanos)> {
    let rlc = format!(
        "rlc: {{mode: um, t_reassembly_ms: {t_reassembly_ms}}}\n  pdcp: {{t_reordering_ms: {t_reordering_ms}}}\n  uplink: {{target_snr_db: 5}}"
    );
    let config = with_mcs_28(&rlc);
    // MCS 28 needs 19 dB; the second transmission adds 3 dB.
    let mut link: Link<u64> = link(&config, &flat(17.5));
    for number in 0..200 {
        link.enqueue(Port::Core { ue: UeId(0) }, packet(1500, number), 0);
    }
    let mut left = Vec::new();
    for now in (0..300 * MS).step_by(MS as usize / 10) {
        link.advance(now);
        left.extend(std::iter::from_fn(|| link.dequeue()).map(|one| (one.packet.payload, now)));
    }
    left
}

#[test]
fn a_segment_that_comes_after_t_reassembly_is_lost_and_a_whole_packet_is_not() {
    assert_eq!(repaired_late(15, 15).len(), 200);
    let left = repaired_late(1, 15);
    // A block of 106 PRB has some eight packets and a part of two; of two such blocks, at least one packet is lost.
    assert!((150..198).contains(&left.len()), "{}", left.len());
    assert!(left.is_sorted());
}

#[test]
fn packets_after_a_lost_one_wait_for_t_reordering() {
    let first_gap = |left: &[(u64, Nanos)]| {
        let index = (0..).zip(left).find(|(index, (number, _))| index != number);
        left[index.expect("one is lost").0 as usize].1
    };
    let [short, long] = [20, 80].map(|ms| first_gap(&repaired_late(1, ms)));
    assert!(
        (59 * MS..61 * MS).contains(&(long - short)),
        "{short} {long}"
    );
    assert!((20 * MS..25 * MS).contains(&short), "{short}");
}

/// The receiver gives a block of the uplink up in the slot in which its timer
/// expires, at any place of the pattern DDDDDDDSUU, of which only slots 6 and 7 grant.
#[test]
fn t_reordering_expires_in_slots_that_grant_nothing() {
    let mut phases = std::collections::BTreeSet::new();
    for t_reordering_ms in 60..70 {
        let keys = format!(
            "fixed_mcs: 28}}\n  rlc: {{mode: um, t_reassembly_ms: 1}}\n  pdcp: {{t_reordering_ms: {t_reordering_ms}}}\n  uplink: {{target_snr_db: 5}}"
        );
        let config = config(&[("olla: {bler_target: 0.1}}", &keys)]);
        let mut link: Link<u64> = link(&config, &flat(-3.0));
        link.enqueue(Port::Ue(UeId(0)), packet(400, 0), 100 * MS);
        let lost = |now: &Nanos| {
            link.advance(*now);
            link.totals(UeId(0), Direction::Uplink).rlc_losses > 0
        };
        let at = (100 * MS..).step_by(MS as usize / 2).take(400).find(lost);
        phases.insert(at.expect("it is given up") % (5 * MS));
    }
    assert_eq!(phases.len(), 5, "{phases:?}");
}
