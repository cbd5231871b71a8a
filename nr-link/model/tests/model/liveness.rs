// SPDX-License-Identifier: Apache-2.0
//! Every packet leaves: once arrivals stop, the link empties within a bounded time.

use crate::common::{MS, SECOND, config, drain, flat, link, packet};
use nr_link_model::aqm::{Aqm, CoDel};
use nr_link_model::config::QueueLimit;
use nr_link_model::{Direction, Link, Nanos, Port, ResolvedConfig, UeId};
use proptest::prelude::*;

/// Far longer than the largest backlog takes at the lowest rate here, RLC retransmission included.
const BOUND: Nanos = 6 * SECOND;

/// Arrivals: ns since the last one, bytes, and whether it is downlink.
type Arrivals = Vec<(Nanos, u32, bool)>;

/// Generates gaps near the uplink's cycle of request, grant and report, in which messages cross.
fn arrivals() -> impl Strategy<Value = Arrivals> {
    let gap = prop_oneof![Just(0), 0..2 * MS, 2 * MS..30 * MS];
    prop::collection::vec((gap, 28..=1500u32, any::<bool>()), 1..300)
}

fn check(arrivals: &Arrivals, config: &ResolvedConfig, sinr_db: f64) {
    let mut link: Link<u64> = link(config, &flat(sinr_db));
    let mut now = 50 * MS;
    for &(gap, bytes, down) in arrivals {
        now += gap;
        let from = if down {
            Port::Core { ue: UeId(0) }
        } else {
            Port::Ue(UeId(0))
        };
        link.advance(now);
        link.enqueue(from, packet(bytes, 0), now);
        while link.dequeue().is_some() {}
    }
    drain(&mut link, now, now + BOUND);
    for direction in [Direction::Downlink, Direction::Uplink] {
        let held = link.contents(UeId(0), direction);
        assert_eq!(held.packets, 0, "{direction:?} stands still");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn at_every_sinr(arrivals in arrivals(), sinr_db in 0.0..30.0, seed in any::<u64>()) {
        let config = ResolvedConfig { seed, ..config(&[]) };
        check(&arrivals, &config, sinr_db);
    }

    #[test]
    fn where_most_blocks_need_several_rounds_or_are_given_up(
        arrivals in arrivals(), sinr_db in -2.2..1.0, seed in any::<u64>(),
    ) {
        // MCS 9 needs about 3 dB: one to four rounds.
        let fixed = config(&[("{olla: {bler_target: 0.1}}", "{fixed_mcs: 9}"), ("prb: 106", "prb: 24")]);
        check(&arrivals, &ResolvedConfig { seed, ..fixed }, sinr_db);
    }

    #[test]
    fn where_a_gap_is_given_up_and_nothing_follows(
        arrivals in arrivals(), sinr_db in -4.0..0.0, seed in any::<u64>(),
    ) {
        let fixed = config(&[
            ("{olla: {bler_target: 0.1}}", "{fixed_mcs: 9}\n  rlc: {mode: um}"),
            ("prb: 106", "prb: 24"),
        ]);
        check(&arrivals, &ResolvedConfig { seed, ..fixed }, sinr_db);
    }

    #[test]
    fn with_a_queue_that_overflows(arrivals in arrivals(), seed in any::<u64>()) {
        let mut config = ResolvedConfig { seed, ..config(&[]) };
        config.ues[0].queue.ul = QueueLimit::Packets(3).into();
        check(&arrivals, &config, 12.0);
    }

    #[test]
    fn with_a_queue_that_drops_reported_packets(arrivals in arrivals(), seed in any::<u64>()) {
        let mut config = ResolvedConfig { seed, ..config(&[("prb: 106", "prb: 24")]) };
        let codel = CoDel { target: MS, interval: 5 * MS, ecn: false };
        config.ues[0].queue.ul.aqm = Some(Aqm::CoDel(codel));
        config.ues[0].queue.dl.aqm = Some(Aqm::CoDel(codel));
        check(&arrivals, &config, 3.0);
    }
}
