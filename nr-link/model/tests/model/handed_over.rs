// SPDX-License-Identifier: Apache-2.0
//! Data over random handovers: in acknowledged mode with forwarding nothing is lost, repeated or reordered; otherwise what
//! is lost is counted, and never more; and the parts of each packet's delay add up to it. UEs sleep, are released, are
//! served by LTE at times, and lose their beams, each in a part of the cases.

use std::path::Path;

use crate::common::{MS, SECOND, config, link, packet};
use nr_link_model::scenario::Scenario;
use nr_link_model::{
    Delivery, Direction, EventKind, Link, Nanos, Port, RadioEvent, ResolvedConfig, UeId,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// A link with two cells whose path losses cross each `cross_s`, and its load.
#[derive(Debug, Clone)]
struct Case {
    cross_s: f64,
    kind: &'static str,
    forwarding: bool,
    acknowledged: bool,
    xn: (f64, f64),
    load: f64,
    fixed_mcs: bool,
    ues: usize,
    seed: u64,
    /// The largest gap between packets, and the largest of the pauses between some of them.
    gap: Nanos,
    pause: Nanos,
    beside: Beside,
}

/// The features that a case has beside handovers.
#[derive(Debug, Clone, Copy)]
struct Beside {
    drx: bool,
    rrc: bool,
    beams: bool,
    lte: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let beside = any::<[bool; 4]>().prop_map(|[drx, rrc, beams, lte]| Beside {
        drx,
        rrc,
        beams,
        lte,
    });
    let kind = prop_oneof![Just("a3"), Just("cho"), Just("ltm"), Just("daps")];
    let load = prop_oneof![Just(0.0), Just(0.7)];
    let data = (any::<bool>(), any::<bool>(), 0.0..30.0, 5.0..2000.0);
    let radio = (0.7..2.0, kind, load, any::<bool>(), 1..4usize);
    let traffic = (any::<u64>(), 20_000..3 * MS, MS..SECOND);
    (radio, data, traffic, beside).prop_map(|(radio, data, (seed, gap, pause), beside)| {
        let (cross_s, kind, load, fixed_mcs, ues) = radio;
        let (forwarding, acknowledged, delay_ms, mbps) = data;
        Case {
            cross_s,
            kind,
            forwarding,
            acknowledged,
            xn: (delay_ms, mbps),
            load,
            fixed_mcs,
            ues,
            seed: seed % 1_000_000,
            gap,
            pause,
            beside: Beside {
                lte: beside.lte && kind != "daps",
                ..beside
            },
        }
    })
}

const END: Nanos = 6 * SECOND;

impl Case {
    fn config(&self) -> ResolvedConfig {
        let (delay_ms, mbps) = self.xn;
        let mode = if self.acknowledged { "am" } else { "um" };
        let drx = match self.beside.drx {
            true => {
                "\n  drx: {on_duration_ms: 5, inactivity_ms: 8, long_cycle_ms: 80, short: {cycle_ms: 20, cycles: 2}}"
            }
            false => "",
        };
        let rrc = match self.beside.rrc {
            true => "\n  rrc: {inactive: {after_s: 0.1}, idle: {after_s: 0.5, setup_ms: 50}}",
            false => "",
        };
        let radio = format!(
            "mcs_table: 64qam\n  neighbour_load: {}\n  rlc: {{mode: {mode}}}\n  handover: {{kind: {}, forwarding: {}, \
             time_to_trigger_ms: 40, filter_coefficient: 0, t_reordering_ms: 60, xn_delay_ms: {delay_ms}, \
             xn_rate_mbps: {mbps}}}{drx}{rrc}",
            self.load, self.kind, self.forwarding
        );
        let names = (1..=self.ues).map(|ue| format!("{{name: ue{ue}, addresses: [10.0.0.{ue}]}}"));
        let names: Vec<_> = names.collect();
        let fixed = if self.fixed_mcs {
            "link_adaptation: {fixed_mcs: 9}"
        } else {
            "link_adaptation: {olla: {bler_target: 0.1}}"
        };
        config(&[
            ("mcs_table: 64qam", &radio),
            ("link_adaptation: {olla: {bler_target: 0.1}}", fixed),
            ("{name: ue1}", &names.join(", ")),
            ("prb: 106", "prb: 24"),
            ("seed: 1", &format!("seed: {}", self.seed)),
        ])
    }

    /// Both path losses, from 85 to 115 dB and back.
    fn scenario(&self) -> Scenario {
        let losses = |first: u32| {
            let turns = (0..20).map(|turn| {
                let loss = if turn % 2 == first { 85 } else { 115 };
                format!("[{}, {loss}]", f64::from(turn) * self.cross_s)
            });
            turns.collect::<Vec<_>>().join(", ")
        };
        // At 1.2 s a candidate takes over; at 2.5 s none is left, and the link fails.
        let beams = match self.beside.beams {
            true => {
                "  blockage: [{from_s: 1.2, to_s: 1.5, loss_db: 40}, {from_s: 2.5, to_s: 2.8, loss_db: 60}]\n\
                     \x20 beams: [{loss_db: 8, blockage: [{from_s: 2.5, to_s: 2.8, loss_db: 60}]}]\n"
            }
            false => "",
        };
        let lte = match self.beside.lte {
            true => {
                "lte: {capacity: {dl: {constant_mbps: 12}, ul: {constant_mbps: 4}}, delay_ms: {dl: 15, ul: 20}, \
                     interruption_ms: {5t4: 60, 4t5: 40}, changes: [{t_s: 1.7, to: lte}, {t_s: 2.3, to: nr}, \
                     {t_s: 3.5, to: lte}, {t_s: 4.6, to: nr}]}\n"
            }
            false => "",
        };
        let text = format!(
            "schema: rf-scenario/1\nname: crossings\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\n\
             duration_s: 60\nat_end: stop\nradio:\n  ss_pbch_block_power_dbm: 10\n  level: {{path_loss_db: 0}}\n\
             \x20 noise: {{figure_db: 7}}\n  cells:\n\
             \x20 - level: {{path_loss_db: [{}]}}\n\
             \x20 - level: {{path_loss_db: [{}]}}\n{beams}{lte}",
            losses(0),
            losses(1)
        );
        Scenario::parse(&text, Path::new("crossings.yaml")).expect("valid")
    }
}

/// The deliveries, the times of arrival by packet number, and the link at its end.
struct Ran {
    delivered: Vec<Delivery<u64>>,
    entered: Vec<(Port, u32, Nanos)>,
    link: Link<u64>,
}

fn run(case: &Case, explains: bool) -> Ran {
    let mut link: Link<u64> = link(&case.config(), &case.scenario());
    if explains {
        link.explain();
    }
    let mut entered = Vec::new();
    let (mut now, mut draw) = (50 * MS, case.seed);
    let mut random = |below: u64| {
        draw = draw
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) % below
    };
    while now < END {
        let ue = UeId(random(case.ues as u64) as usize);
        let from = match random(2) {
            0 => Port::Core { ue },
            _ => Port::Ue(ue),
        };
        let bytes = 40 + random(1460) as u32;
        link.enqueue(from, packet(bytes, entered.len() as u64), now);
        entered.push((from, bytes, now));
        now += match random(100) {
            0 => random(case.pause),
            _ => random(case.gap),
        };
    }
    link.advance(END + 5 * SECOND);
    let delivered = std::iter::from_fn(|| link.dequeue()).collect();
    Ran {
        delivered,
        entered,
        link,
    }
}

/// Checks all laws of a case; returns the number of handovers.
fn check(case: &Case) -> usize {
    let mut ran = run(case, true);
    let events = ran.link.radio_events();
    parts_are_the_delay(&ran);
    for ue in 0..case.ues {
        let of_ue: Vec<_> = events.iter().filter(|event| event.ue.0 == ue).collect();
        for direction in [Direction::Downlink, Direction::Uplink] {
            conserves(case, &ran, UeId(ue), direction, &of_ue);
        }
    }
    let plain = run(case, false);
    let left = |ran: &Ran| -> Vec<_> {
        let left = ran.delivered.iter();
        left.map(|one| (one.packet.payload, one.due)).collect()
    };
    assert_eq!(left(&plain), left(&ran));
    let complete = |event: &&RadioEvent| matches!(event.kind, EventKind::HandoverComplete { .. });
    events.iter().filter(complete).count()
}

fn parts_are_the_delay(ran: &Ran) {
    for delivery in &ran.delivered {
        let delays = delivery
            .packet
            .delays
            .as_ref()
            .expect("each has an account");
        let (.., entered) = ran.entered[delivery.packet.payload as usize];
        assert_eq!(
            (delays.entered, delays.total()),
            (entered, delivery.due - entered),
            "packet {}: {delays:?}",
            delivery.packet.payload
        );
    }
}

fn conserves(case: &Case, ran: &Ran, ue: UeId, direction: Direction, events: &[&RadioEvent]) {
    let (enters, leaves) = match direction {
        Direction::Downlink => (Port::Core { ue }, Port::Ue(ue)),
        Direction::Uplink => (Port::Ue(ue), Port::Core { ue }),
    };
    let delivered = ran.delivered.iter().filter(|one| one.to == leaves);
    let delivered: Vec<_> = delivered.map(|one| one.packet.payload).collect();
    let in_order = delivered.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(in_order, "{direction:?}: reordered or repeated");
    let entered = ran.entered.iter().filter(|one| one.0 == enters);
    let (sent, sent_bytes) = entered.fold((0, 0), |(count, sum), one| {
        (count + 1, sum + u64::from(one.1))
    });
    let totals = ran.link.totals(ue, direction);
    let within = ran.link.contents(ue, direction);
    assert_eq!(
        sent,
        delivered.len() as u64 + totals.queue_drops + totals.rlc_losses + within.packets,
        "{direction:?}"
    );
    let got: u64 = delivered
        .iter()
        .map(|&number| u64::from(ran.entered[number as usize].1))
        .sum();
    assert_eq!(
        sent_bytes,
        got + totals.queue_drop_bytes + totals.rlc_lost_bytes + within.bytes,
        "{direction:?}"
    );
    if case.acknowledged && (case.forwarding || direction == Direction::Uplink) {
        assert_eq!(totals.rlc_losses, 0, "{direction:?}");
    }
    let discarded = events.iter().filter_map(|event| match event.kind {
        EventKind::DataForwarded {
            discarded_bytes, ..
        } => Some(discarded_bytes),
        _ => None,
    });
    if case.acknowledged && direction == Direction::Downlink {
        // The receiver does not know of packets after the last that it has, and t-Reordering never starts for them.
        let discarded = discarded.sum::<u64>();
        let lost = totals.rlc_lost_bytes;
        assert!((lost..=lost + within.bytes).contains(&discarded));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn over_random_handovers_data_is_conserved_and_explained(case in cases()) {
        check(&case);
    }
}

/// The proof of `docs/validation.md`, over 1,000 handovers.
#[test]
#[ignore = "takes minutes: docs/validation.md has its result"]
fn over_1000_random_handovers_data_is_conserved_and_explained() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut handovers, mut runs) = (0, 0);
    while handovers < 1000 {
        let case = cases().new_tree(&mut runner).expect("valid").current();
        handovers += check(&case);
        runs += 1;
    }
    println!("{handovers} handovers in {runs} runs");
}
