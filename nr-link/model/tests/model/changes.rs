// SPDX-License-Identifier: Apache-2.0
//! Changes while the link runs: the same before, other values after.

use std::path::Path;

use crate::common::{MS, SECOND, capacity_scenario, flat, link, packet, saturate};
use nr_link_model::{Delivery, Direction, Link, Nanos, Port, ResolvedConfig, UeId};

const DOWN: Port = Port::Core { ue: UeId(0) };
const CHANGED: Nanos = 2 * SECOND;

/// Makes a configuration with a change 1 s after the instant from which changes count.
fn changing(change: &str) -> ResolvedConfig {
    let text = include_str!("../common/link.yaml").to_owned();
    let text = format!("{text}changes:\n- {{at_s: 1.0, {change}}}\n");
    ResolvedConfig::parse(&text, Path::new("link.yaml")).expect("valid")
}

fn ten_megabits<T>(config: &ResolvedConfig) -> Link<T> {
    let scenario = capacity_scenario("{dl: {constant_mbps: 10}, ul: {constant_mbps: 10}}");
    link(config, &scenario)
}

/// Sends a packet each `interval` for 4 s; changes count from second 1. Returns the deliveries.
fn paced(mut link: Link<u64>, interval: Nanos) -> Vec<Delivery<u64>> {
    link.count_changes_from(SECOND);
    let mut delivered = Vec::new();
    for now in (0..4 * SECOND).step_by(interval as usize) {
        link.enqueue(DOWN, packet(1250, now), now);
        link.advance(now);
        delivered.extend(std::iter::from_fn(|| link.dequeue()));
    }
    link.advance(20 * SECOND);
    delivered.extend(std::iter::from_fn(|| link.dequeue()));
    delivered
}

fn delay_ms(delivery: &Delivery<u64>) -> f64 {
    (delivery.due - delivery.packet.payload) as f64 / MS as f64
}

#[test]
fn another_delay_holds_for_packets_that_enter_from_then_on() {
    let shorter = "path: {dl: {delay_ms: 4.0}, ul: {delay_ms: 4.0}}";
    let delivered = paced(ten_megabits(&changing(shorter)), 2 * MS);
    for one in &delivered {
        let after = one.packet.payload >= CHANGED;
        let path_ms = if after { 4.0 } else { 10.0 };
        let own = delay_ms(one);
        // 1 ms for the packet's own bits. None overtakes those on the longer path.
        let waited = after && one.packet.payload < CHANGED + 20 * MS;
        assert!(own == path_ms + 1.0 || waited && own <= 16.0, "{own} ms");
    }
    let order: Vec<_> = delivered.iter().map(|one| one.packet.payload).collect();
    assert!(order.is_sorted());
    assert_eq!(order.len(), 2000);
}

#[test]
fn everything_before_a_change_is_the_same_and_without_a_start_nothing_changes() {
    let change = "queue: {dl: {packets: 5}, ul: {packets: 5}}, \
                  path: {dl: {delay_ms: 30.0, loss_ratio: 0.5}, ul: {delay_ms: 1.0}}";
    for channel in [flat(12.0), flat(3.0)] {
        let due = |config: &ResolvedConfig| -> Vec<_> {
            let delivered = paced(link(config, &channel), MS);
            let due = delivered.iter().map(|one| (one.due, one.packet.payload));
            due.collect()
        };
        let before = |all: &[(Nanos, u64)]| -> Vec<_> {
            let early = all.iter().filter(|(due, _)| *due < CHANGED);
            early.copied().collect()
        };
        let (plain, changed) = (due(&crate::common::config(&[])), due(&changing(change)));
        assert_eq!(before(&plain), before(&changed));
        assert!(before(&plain).len() > 500);
        assert_ne!(plain, changed);
        let mut never = link(&changing(change), &channel);
        let mut same = link(&crate::common::config(&[]), &channel);
        for link in [&mut never, &mut same] {
            link.enqueue(DOWN, packet(1250, 0), 3 * SECOND);
            link.advance(4 * SECOND);
        }
        assert_eq!(
            never.dequeue().map(|one| one.due),
            same.dequeue().map(|one| one.due)
        );
    }
}

#[test]
fn a_smaller_buffer_takes_no_packet_before_there_is_room_and_drops_none_that_it_has() {
    // Twice what the link carries, for 1 s before the change: 1000 packets wait.
    let smaller = "queue: {dl: {packets: 10}, ul: {packets: 10}}";
    let mut link = ten_megabits(&changing(smaller));
    link.count_changes_from(SECOND);
    for number in 0..8000u64 {
        link.enqueue(DOWN, packet(1250, number * MS / 2), number * MS / 2);
        link.advance(number * MS / 2);
    }
    let drops = |link: &Link<u64>| link.totals(UeId(0), Direction::Downlink).queue_drops;
    link.advance(5 * SECOND);
    // 8000 came, 4000 could be served, and 10 wait when the last one comes.
    let dropped = drops(&link);
    assert!((3989..=4020).contains(&dropped), "{dropped}");
    let delivered: Vec<_> = std::iter::from_fn(|| link.dequeue()).collect();
    assert_eq!(delivered.len() as u64 + dropped, 8000);
    let longest = delivered.iter().map(delay_ms).fold(0.0, f64::max);
    assert!(longest > 990.0, "{longest}"); // those that waited when the buffer shrank
    let last = delivered.last().map_or(0.0, delay_ms);
    assert!(last < 10.0 + 12.0, "{last}");
}

#[test]
fn another_queue_management_takes_over_what_waits() {
    for (before, after) in [
        ("", ", aqm: {codel: {}}"),
        ("codel", ", aqm: {dualpi2: {}}"),
    ] {
        let queue = format!("{{packets: 3200{after}}}");
        let mut config = changing(&format!("queue: {{dl: {queue}, ul: {queue}}}"));
        if !before.is_empty() {
            let first =
                changing("queue: {dl: {packets: 3200, aqm: {codel: {}}}, ul: {packets: 3200}}");
            config.ues[0].queue = first.changes[0].queue.expect("given");
        }
        let mut link = ten_megabits(&config);
        link.count_changes_from(SECOND);
        let mut came = 0u64;
        for now in (0..6 * SECOND).step_by(MS as usize * 9 / 10) {
            link.enqueue(DOWN, packet(1250, now), now);
            came += 1;
        }
        link.advance(30 * SECOND);
        let delivered = std::iter::from_fn(|| link.dequeue());
        let order: Vec<_> = delivered.map(|one| one.packet.payload).collect();
        assert!(order.is_sorted());
        let drops = link.totals(UeId(0), Direction::Downlink).queue_drops;
        assert!(drops > 0, "{after} dropped nothing");
        assert_eq!(order.len() as u64 + drops, came);
    }
}

#[test]
fn fewer_prbs_carry_their_share_and_blocks_that_were_wider_still_arrive() {
    let delivered_by_second = |change: &str| -> Vec<usize> {
        let mut link = link(&changing(change), &flat(9.0));
        link.count_changes_from(SECOND);
        let delivered = saturate(&mut link, DOWN, 4 * SECOND);
        let in_second = |second| {
            let due = second * SECOND..(second + 1) * SECOND;
            let within = delivered.iter().filter(|one| due.contains(&one.due));
            within.count()
        };
        (0..4).map(in_second).collect()
    };
    let (all, few) = (
        delivered_by_second("prb: 106"),
        delivered_by_second("prb: 53"),
    );
    assert_eq!(all[..2], few[..2]);
    let share = few[3] as f64 / all[3] as f64;
    assert!((0.48..0.52).contains(&share), "{share}");
    // No block waits for PRBs that do not come back: RLC would hold up what is behind it.
    assert!(few[2] as f64 > 0.9 * few[3] as f64, "{few:?}");
}

#[test]
fn blocks_that_hold_a_few_bytes_carry_them() {
    // MCS 0 on 4 PRBs: 16 bytes, of which the headers of a packet take 10, and in the uplink a report 2.
    let text = include_str!("../common/link.yaml").to_owned();
    let text = text.replace("{olla: {bler_target: 0.1}}", "{fixed_mcs: 0}");
    let text = format!("{text}changes:\n- {{at_s: 0, prb: 4}}\n");
    let config = ResolvedConfig::parse(&text, Path::new("link.yaml")).expect("valid");
    for from in [DOWN, Port::Ue(UeId(0))] {
        let mut link: Link<u64> = link(&config, &flat(20.0));
        link.count_changes_from(0);
        link.enqueue(from, packet(1250, 0), 100 * MS);
        link.advance(20 * SECOND);
        assert!(link.dequeue().is_some(), "{from:?}");
    }
}

#[test]
fn fewer_prbs_than_an_allocation_of_the_gnbs_profile_has_are_refused() {
    let base = include_str!("../common/link.yaml");
    let profile = "gnb_profile: oai-2026.w11";
    let base = base.replace("link_adaptation: {olla: {bler_target: 0.1}}", profile);
    let parse = |prb: u16| {
        let text = format!("{base}changes:\n- {{at_s: 1, prb: {prb}}}\n");
        ResolvedConfig::parse(&text, Path::new("link.yaml"))
    };
    let problem = parse(4).expect_err("4 PRBs").to_string();
    let said = "link.yaml:25: changes.prb: 4 is not between 5 and 106. Write at least";
    assert!(problem.starts_with(said), "{problem}");
    assert!(parse(5).is_ok());
}

#[test]
fn changes_are_checked() {
    let base = include_str!("../common/link.yaml");
    for (change, said) in [
        ("- {at_s: -1}", "-1 is not between 0 and 86400"),
        ("- {at_s: 1, prb: 3, colour: red}", "unknown"),
        ("- {at_s: 1, prb: 107}", "107 is not between 1 and 106"),
        (
            "- {at_s: 3}\n- {at_s: 2}",
            "2 s is earlier than the change before it",
        ),
        (
            "- {at_s: 1, path: {dl: {delay_ms: 1, rate_mbps: 5}, ul: {delay_ms: 1}}}",
            "the path's rate, queue and cross traffic stay as they are",
        ),
        (
            "- {at_s: 1, queue: {dl: {packets: 0}, ul: {packets: 1}}}",
            "a queue of 0 packets holds none",
        ),
    ] {
        let text = format!("{base}changes:\n{change}\n");
        let refused = ResolvedConfig::parse(&text, Path::new("link.yaml"));
        let problem = refused.expect_err(change).to_string();
        assert!(problem.contains(said), "{problem}");
    }
}
