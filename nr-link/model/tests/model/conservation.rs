// SPDX-License-Identifier: Apache-2.0
//! Conservation: for any arrivals, no packet is created, duplicated or reordered, and the counters add up.

use crate::common::{MS, SECOND, config, flat, link, packet, saturate};
use nr_link_model::{Delivery, Direction, Link, Nanos, Port, UeId};
use proptest::prelude::*;

/// The time from which the gap before the first packet counts.
const BEGIN: Nanos = 50 * MS;

/// Arrivals: ns since the last one, bytes, and whether it is downlink.
type Arrivals = Vec<(Nanos, u32, bool)>;

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop::collection::vec((0..3 * MS, 28..=1500u32, any::<bool>()), 1..400)
}

struct Outcome {
    delivered: Vec<(Delivery<u64>, Nanos)>,
    link: Link<u64>,
}

fn run(arrivals: &Arrivals, changes: &[(&str, &str)], sinr_db: f64, step: Nanos) -> Outcome {
    let mut link = link(&config(changes), &flat(sinr_db));
    let mut delivered = Vec::new();
    let mut now = BEGIN;
    for (number, &(gap, bytes, down)) in arrivals.iter().enumerate() {
        now += gap;
        let from = if down {
            Port::Core { ue: UeId(0) }
        } else {
            Port::Ue(UeId(0))
        };
        link.enqueue(from, packet(bytes, number as u64), now);
        if number % 7 == 0 {
            link.advance(now);
            delivered.extend(std::iter::from_fn(|| link.dequeue()).map(|delivery| (delivery, now)));
        }
    }
    let end = now + 200 * MS;
    while now < end {
        now += step;
        link.advance(now);
        delivered.extend(std::iter::from_fn(|| link.dequeue()).map(|delivery| (delivery, now)));
    }
    Outcome { delivered, link }
}

fn check(arrivals: &Arrivals, outcome: &Outcome, path: [Nanos; 2]) {
    let entered: Vec<Nanos> = arrivals
        .iter()
        .scan(BEGIN, |now, arrival| {
            *now += arrival.0;
            Some(*now)
        })
        .collect();
    let directions = [(Direction::Downlink, path[0]), (Direction::Uplink, path[1])];
    for (direction, path) in directions {
        let down = direction == Direction::Downlink;
        let out: Vec<_> = outcome
            .delivered
            .iter()
            .filter(|(delivery, _)| matches!(delivery.to, Port::Ue(_)) == down)
            .collect();
        for pair in out.windows(2) {
            assert!(
                pair[0].0.packet.payload < pair[1].0.packet.payload,
                "reordered or doubled"
            );
            assert!(pair[0].0.due <= pair[1].0.due);
        }
        for (delivery, seen) in &out {
            let number = delivery.packet.payload as usize;
            assert_eq!(
                (delivery.packet.bytes, down),
                (arrivals[number].1, arrivals[number].2)
            );
            assert!(delivery.due <= *seen && delivery.due >= entered[number] + path);
        }
        let totals = outcome.link.totals(UeId(0), direction);
        let held = outcome.link.contents(UeId(0), direction);
        let entered = arrivals.iter().filter(|arrival| arrival.2 == down).count() as u64;
        let gone = totals.queue_drops + totals.path_losses + totals.rlc_losses;
        assert_eq!(entered, out.len() as u64 + held.packets + gone);
        let out_bytes: u64 = out
            .iter()
            .map(|(delivery, _)| u64::from(delivery.packet.bytes))
            .sum();
        let gone_bytes = totals.queue_drop_bytes + totals.path_lost_bytes + totals.rlc_lost_bytes;
        assert_eq!(totals.enqueued_bytes, out_bytes + held.bytes + gone_bytes);
        assert!(totals.capacity_bytes >= totals.bytes as f64);
        assert!(totals.capacity_sdu_bytes >= totals.sdu_bytes as f64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn on_a_good_channel(arrivals in arrivals(), step in 100_000..20 * MS) {
        check(&arrivals, &run(&arrivals, &[], 25.0, step), [10 * MS; 2]);
    }

    #[test]
    fn on_a_channel_where_harq_gives_up(arrivals in arrivals(), um in any::<bool>()) {
        // MCS 9 on a channel 7 dB worse than it needs: four rounds gain 6 dB.
        let rlc = if um { "rlc: {mode: um}" } else { "rlc: {mode: am}" };
        let adaptation = format!("link_adaptation: {{fixed_mcs: 9}}\n  {rlc}");
        let changes = [
            ("link_adaptation: {olla: {bler_target: 0.1}}", adaptation.as_str()),
            ("prb: 106", "prb: 24"),
            ("dl: {packets: 3200}", "dl: {bytes: 20000}"),
            ("ul: {delay_ms: 10.0, loss_ratio: 0.0}", "ul: {delay_ms: 3, loss_ratio: 0.1}"),
            ("dl: {delay_ms: 10.0, loss_ratio: 0.0}", "dl: {delay_ms: 0, loss_ratio: 0.1}"),
        ];
        check(&arrivals, &run(&arrivals, &changes, -3.7, MS), [0, 3 * MS]);
    }

    #[test]
    fn on_carriers_of_different_slots_with_changing_ranks(
        arrivals in arrivals(), sinr_db in 0.0..30.0, um in any::<bool>(), slow_first in any::<bool>(),
    ) {
        let (first, second) = if slow_first {
            ("carrier_ghz: 0.8\n  numerology: 0\n  prb: 52", "{carrier_ghz: 28, numerology: 3, prb: 66}")
        } else {
            ("carrier_ghz: 28\n  numerology: 3\n  prb: 66", "{carrier_ghz: 0.8, numerology: 0, prb: 52}")
        };
        let rlc = if um { "um" } else { "am" };
        let layers = format!(
            "layers: {{dl: 4, ul: 4}}\n  layer_isolation_db: 15\n  rlc: {{mode: {rlc}}}\n  secondary: [{second}]"
        );
        let changes = [
            ("carrier_ghz: 3.6\n  numerology: 1\n  prb: 106", first),
            ("layers: {dl: 1, ul: 1}", layers.as_str()),
        ];
        check(&arrivals, &run(&arrivals, &changes, sinr_db, MS), [10 * MS; 2]);
    }

    #[test]
    fn the_result_does_not_depend_on_how_often_advance_is_called(arrivals in arrivals()) {
        let fates = |step| -> Vec<_> {
            let outcome = run(&arrivals, &[], 8.0, step);
            outcome.delivered.into_iter().map(|(delivery, _)| (delivery.due, delivery.packet.payload)).collect()
        };
        prop_assert_eq!(fates(100_000), fates(40 * MS));
    }
}

#[test]
fn advancing_only_at_next_event_gives_the_same_result() {
    let mut polled: Link<u64> = link(&config(&[]), &flat(12.0));
    let mut woken: Link<u64> = link(&config(&[]), &flat(12.0));
    let mut fates = [Vec::new(), Vec::new()];
    let mut rows = [Vec::new(), Vec::new()];
    for number in 0..40 {
        let sent = number * 37 * MS + 123_456;
        for now in (sent.saturating_sub(37 * MS)..sent).step_by(250_000) {
            polled.advance(now);
        }
        while woken.next_event().at < sent {
            woken.advance(woken.next_event().at);
            fates[1].extend(std::iter::from_fn(|| woken.dequeue()).map(|out| (out.due, out.to)));
        }
        for (index, link) in [&mut polled, &mut woken].into_iter().enumerate() {
            link.enqueue(Port::Ue(UeId(0)), packet(300, number), sent);
            link.enqueue(Port::Core { ue: UeId(0) }, packet(900, number), sent);
            fates[index].extend(std::iter::from_fn(|| link.dequeue()).map(|out| (out.due, out.to)));
        }
    }
    for (index, link) in [&mut polled, &mut woken].into_iter().enumerate() {
        link.advance(2 * SECOND);
        fates[index].extend(std::iter::from_fn(|| link.dequeue()).map(|out| (out.due, out.to)));
        rows[index].extend(link.samples());
    }
    assert_eq!(fates[0].len(), 80);
    assert_eq!(fates[0], fates[1]);
    assert_eq!(rows[0].len(), rows[1].len());
    for (polled, woken) in rows[0].iter().zip(&rows[1]) {
        assert_eq!(polled, woken);
    }
}

#[test]
fn prbs_of_retransmissions_are_those_of_the_rounds_after_the_first() {
    let mut link = link(&config(&[]), &flat(12.0));
    saturate(&mut link, Port::Core { ue: UeId(0) }, 2 * SECOND);
    let totals = link.totals(UeId(0), Direction::Downlink);
    let [first, again @ ..] = totals.rounds;
    let again: u64 = again.iter().sum();
    // With a full queue every transmission has all 106 PRBs.
    assert!(again > 50, "{totals:?}");
    assert_eq!(totals.prb, 106 * (first + again));
    assert_eq!(totals.retx_prb, 106 * again);
}
