// SPDX-License-Identifier: Apache-2.0
//! The path around the radio link: loss by packet length, a line with cross traffic, the largest
//! packets.

use crate::common::{MS, SECOND, capacity_scenario, config, flat, link, packet};
use nr_link_model::{Direction, Ecn, Link, Nanos, Packet, Port, ResolvedConfig, UeId};

const DOWN: Port = Port::Core { ue: UeId(0) };

/// Makes a configuration with these values of the path, downlink and uplink.
fn with_path(dl: &str, ul: &str) -> ResolvedConfig {
    config(&[
        (
            "dl: {delay_ms: 10.0, loss_ratio: 0.0}",
            &format!("dl: {{delay_ms: 10.0, {dl}}}"),
        ),
        (
            "ul: {delay_ms: 10.0, loss_ratio: 0.0}",
            &format!("ul: {{delay_ms: 10.0, {ul}}}"),
        ),
    ])
}

fn gigabit<T>(config: &ResolvedConfig) -> Link<T> {
    link(
        config,
        &capacity_scenario("{dl: {constant_mbps: 1000}, ul: {constant_mbps: 1000}}"),
    )
}

#[test]
fn a_packet_is_lost_with_the_probability_of_a_bit_error() {
    let config = with_path(
        "bit_error_ratio: 1e-5",
        "loss_ratio: 0.02, bit_error_ratio: 1e-6",
    );
    let count = 20_000u64;
    for (from, direction, bytes, bits, alone) in [
        (DOWN, Direction::Downlink, 1500, 1e-5, 0.0),
        (DOWN, Direction::Downlink, 100, 1e-5, 0.0),
        (Port::Ue(UeId(0)), Direction::Uplink, 1500, 1e-6, 0.02),
    ] {
        let mut link: Link<u64> = gigabit(&config);
        for number in 0..count {
            link.enqueue(from, packet(bytes, 0), number * 20_000);
            while link.dequeue().is_some() {}
        }
        link.advance(SECOND);
        let implied = 1.0 - (1.0 - alone) * f64::powi(1.0 - bits, 8 * bytes as i32);
        let seen = link.totals(UeId(0), direction).path_losses as f64 / count as f64;
        let deviation = (implied * (1.0 - implied) / count as f64).sqrt();
        assert!(
            (seen - implied).abs() < 5.0 * deviation,
            "{bytes} bytes: {seen} is not {implied}"
        );
    }
}

#[test]
fn a_slow_return_path_delays_packets_by_its_rate_and_drops_when_its_queue_is_full() {
    let config = with_path(
        "loss_ratio: 0",
        "rate_mbps: 10, queue: {packets: 20}, cross_traffic: {rate_mbps: 4, packet_bytes: 500}",
    );
    let mut link: Link<u64> = gigabit(&config);
    let mut delays = Vec::new();
    // The line carries 12 Mbit/s, of which cross traffic leaves 6.
    for number in 0..10_000 {
        let now = number * MS;
        link.enqueue(Port::Ue(UeId(0)), packet(1500, now), now);
        delays
            .extend(std::iter::from_fn(|| link.dequeue()).map(|out| out.due - out.packet.payload));
    }
    link.advance(11 * SECOND);
    link.samples();
    let totals = link.totals(UeId(0), Direction::Uplink);
    let cross = link.cross_totals(Direction::Uplink).unwrap();
    assert_eq!(cross.packets, 11_000); // 1 a ms
    assert!(totals.path_queue_drops > 1000, "{totals:?}");
    assert_eq!(totals.path_losses, totals.path_queue_drops);
    // Both lose whole packets and not bytes: the line carries its full rate.
    let ours = (10_000 - totals.path_losses) * 1500;
    let theirs = (cross.packets - cross.drops) * 500;
    let mbps = (ours + theirs) as f64 * 8e-6 / 10.0;
    assert!((9.8..10.5).contains(&mbps), "{mbps}");
    // No packet is quicker than the path's delay and its own time on the line; the queue adds to
    // that.
    assert!(delays.iter().all(|&delay| delay >= 11_200_000));
    assert!(delays.iter().max() < Some(&(11_200_000 + 20 * 1_200_000 + 100_000)));
    assert_eq!(link.cross_totals(Direction::Downlink), None);
}

#[test]
fn the_largest_packets_pass_links_with_radio_and_with_capacity() {
    let config = config(&[
        ("mtu_bytes: 1500", "mtu_bytes: 15000"),
        ("prb: 106", "prb: 24"),
    ]);
    for mut link in [gigabit(&config), link(&config, &flat(15.0))] {
        for number in 0..40u64 {
            let now = number * 20 * MS;
            link.enqueue(DOWN, packet(15_000, number), now);
            link.enqueue(Port::Ue(UeId(0)), packet(15_000, number), now);
        }
        link.advance(3 * SECOND);
        let out: Vec<_> = std::iter::from_fn(|| link.dequeue()).collect();
        assert_eq!(out.len(), 80);
        assert!(out.iter().all(|delivery| delivery.packet.bytes == 15_000));
    }
}

/// Returns length, ECN field and time of packets of mixed lengths and all four codepoints.
fn mixed() -> impl Iterator<Item = (u32, Ecn, Nanos)> {
    let codepoints = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    (0..4000u64).map(move |number| {
        let bytes = 60 + (number * 389 % 1441) as u32;
        (
            bytes,
            codepoints[(number * 7 % 11 % 4) as usize],
            number * 250_000,
        )
    })
}

#[test]
fn two_queues_each_keep_their_order_and_the_counters_add_up() {
    let dual = (
        "dl: {packets: 3200}",
        "dl: {bytes: 60000, aqm: {dualpi2: {}}}",
    );
    let config = config(&[dual, ("prb: 106", "prb: 24")]);
    let slow = capacity_scenario("{dl: {constant_mbps: 20}, ul: {constant_mbps: 20}}");
    for mut link in [link(&config, &flat(12.0)), link(&config, &slow)] {
        let (mut out, mut entered) = (Vec::new(), 0);
        for (number, (bytes, ecn, now)) in mixed().enumerate() {
            let packet = Packet::new(bytes, ecn, (number, ecn));
            entered += u64::from(bytes);
            link.enqueue(DOWN, packet, now);
            out.extend(std::iter::from_fn(|| link.dequeue()));
        }
        link.advance(6 * SECOND);
        out.extend(std::iter::from_fn(|| link.dequeue()));
        for l4s in [false, true] {
            let is_of_lane = |ecn| matches!(ecn, Ecn::Ect1 | Ecn::Ce) == l4s;
            let lane = out.iter().map(|delivery| delivery.packet.payload);
            let lane: Vec<_> = lane.filter(|&(_, ecn)| is_of_lane(ecn)).collect();
            assert!(lane.len() > 300 && lane.is_sorted_by(|a, b| a.0 < b.0));
        }
        let totals = link.totals(UeId(0), Direction::Downlink);
        let delivered: u64 = out
            .iter()
            .map(|delivery| u64::from(delivery.packet.bytes))
            .sum();
        assert_eq!(link.contents(UeId(0), Direction::Downlink).packets, 0);
        assert_eq!(entered, delivered + totals.queue_drop_bytes);
        assert!(totals.queue_drops > 0 && totals.ce_marks > 0, "{totals:?}");
        let unmarked = |delivery: &&nr_link_model::Delivery<(usize, Ecn)>| {
            delivery.packet.payload.1 == Ecn::NotEct
        };
        assert!(out.iter().filter(unmarked).all(|delivery| !delivery.ce));
    }
}
