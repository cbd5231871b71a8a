// SPDX-License-Identifier: Apache-2.0
//! Who gets what of one carrier. The reference knows nothing of the scheduler's code: it takes what
//! each UE gets alone, interval by interval, and shares the slots by the rule of the paper.

mod common;

use common::{MS, SECOND, config, link, packet, scenario};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, Link, Port, ResolvedConfig, Source, UeId};

const SECONDS: u64 = 12;
/// FDD at 30 kHz.
const SLOTS_PER_SAMPLE: usize = 20;
/// As long as a swing: a shorter memory would make turns of it.
const WINDOW_SLOTS: f64 = 4000.0;
const FAIR: &str = "{proportional_fair: {window_slots: 4000}}";

/// Strong and steady; swinging between weak and strong; the same half a swing later.
fn scenarios() -> [Scenario; 3] {
    let sinr = [
        "24",
        "[[0, 4], [2, 22], [4, 4]]",
        "[[0, 22], [2, 4], [4, 22]]",
    ];
    let text = |sinr_db: &str| {
        let radio = format!(
            "{{ss_pbch_block_power_dbm: 0, level: {{rsrp_dbm: -60}}, noise: {{sinr_db: {sinr_db}}}}}"
        );
        scenario_of(&radio)
    };
    sinr.map(text)
}

/// Loops after 4 s.
fn scenario_of(radio: &str) -> Scenario {
    let mut scenario = scenario(radio);
    scenario.duration_s = 4.0.try_into().expect("above 0");
    scenario
}

/// Almost no block fails, so that the outer loop rests and a block's size is the CQI's.
fn fdd(ues: usize, scheduler: &str) -> ResolvedConfig {
    let duplex = format!("duplex: fdd\n  scheduler: {scheduler}");
    let devices: Vec<_> = (1..=ues).map(|ue| format!("{{name: ue{ue}}}")).collect();
    config(&[
        (
            "duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}",
            &duplex,
        ),
        ("{name: ue1}", &devices.join(", ")),
        ("bler_target: 0.1", "bler_target: 0.001"),
        ("prb: 106", "prb: 24"),
    ])
}

/// Block bytes of each UE in each sample, with full queues both ways.
fn saturated(mut link: Link<()>, direction: Direction) -> Vec<Vec<f64>> {
    let mut samples = vec![Vec::new(); link.ues()];
    let mut before = vec![0; link.ues()];
    for now in (0..SECONDS * SECOND).step_by(MS as usize) {
        link.advance(now);
        while link.dequeue().is_some() {}
        for ue in 0..link.ues() {
            for _ in 0..4 {
                let from = match direction {
                    Direction::Downlink => Port::Core { ue: UeId(ue) },
                    Direction::Uplink => Port::Ue(UeId(ue)),
                };
                link.enqueue(from, packet(1500, ()), now);
            }
        }
        for sample in link.samples() {
            let bytes = sample.directions.of(direction).totals.bytes;
            samples[sample.ue.0].push((bytes - before[sample.ue.0]) as f64);
            before[sample.ue.0] = bytes;
        }
    }
    samples
}

fn together(scheduler: &str, direction: Direction) -> Vec<f64> {
    let config = fdd(3, scheduler);
    let source = Source::of_each(&scenarios(), &config).expect("playable");
    let link = Link::new(&config, source).expect("a channel for each");
    let samples = saturated(link, direction);
    samples.iter().map(|ue| ue.iter().sum()).collect()
}

/// Bytes a sample that each UE gets when it is alone.
fn alone(direction: Direction) -> Vec<Vec<f64>> {
    let one = |scenario| saturated(link(&fdd(1, "round_robin"), scenario), direction);
    scenarios().iter().flat_map(one).collect()
}

/// What `choose` gives, slot by slot: it sees each UE's rate and its mean so far.
fn reference(alone: &[Vec<f64>], choose: impl Fn(usize, &[f64], &[f64]) -> usize) -> Vec<f64> {
    let mut total = vec![0.0; alone.len()];
    let mut mean = vec![0.0; alone.len()];
    let samples = alone.iter().map(Vec::len).min().unwrap_or(0);
    for slot in 0..samples * SLOTS_PER_SAMPLE {
        let rates: Vec<f64> = alone
            .iter()
            .map(|ue| ue[slot / SLOTS_PER_SAMPLE] / SLOTS_PER_SAMPLE as f64)
            .collect();
        let chosen = choose(slot, &rates, &mean);
        total[chosen] += rates[chosen];
        for (ue, mean) in mean.iter_mut().enumerate() {
            let given = if ue == chosen { rates[ue] } else { 0.0 };
            *mean = (1.0 - 1.0 / WINDOW_SLOTS) * *mean + given / WINDOW_SLOTS;
        }
    }
    total
}

fn best(metric: impl Iterator<Item = f64>) -> usize {
    let all: Vec<f64> = metric.collect();
    (0..all.len())
        .max_by(|&a, &b| all[a].total_cmp(&all[b]))
        .unwrap_or(0)
}

fn fair(_: usize, rates: &[f64], mean: &[f64]) -> usize {
    best(
        rates
            .iter()
            .zip(mean)
            .map(|(rate, mean)| rate / mean.max(1e-3)),
    )
}

fn turn(slot: usize, rates: &[f64], _: &[f64]) -> usize {
    slot % rates.len()
}

fn check(given: &[f64], expected: &[f64], what: &str) {
    for (ue, (given, expected)) in given.iter().zip(expected).enumerate() {
        let ratio = given / expected;
        assert!(
            (0.975..1.025).contains(&ratio),
            "{what}, UE {ue}: {ratio} of the reference"
        );
    }
}

#[test]
fn each_discipline_gives_what_its_reference_gives() {
    let alone = alone(Direction::Downlink);
    let fair_given = together(FAIR, Direction::Downlink);
    let turns_given = together("round_robin", Direction::Downlink);
    check(&fair_given, &reference(&alone, fair), "proportional fair");
    check(&turns_given, &reference(&alone, turn), "round robin");
    // Those that swing gain by being served at their best; the steady one loses little.
    let gain = |ue: usize| fair_given[ue] / turns_given[ue];
    assert!(gain(1) > 1.05 && gain(2) > 1.05, "{} {}", gain(1), gain(2));
    assert!(gain(0) > 0.8, "{}", gain(0));
}

#[test]
fn uplink_is_shared_by_the_same_rule() {
    let alone = alone(Direction::Uplink);
    let given = together(FAIR, Direction::Uplink);
    check(&given, &reference(&alone, fair), "proportional fair");
}

#[test]
fn max_ci_serves_the_strongest_alone() {
    let given = together("max_ci", Direction::Downlink);
    let alone: f64 = alone(Direction::Downlink)[0].iter().sum();
    // At their best the others' blocks are as large as its own for a moment: equals take turns.
    assert!(given[0] > 0.95 * alone, "{} of {alone}", given[0]);
    assert!(given[1] + given[2] < 0.05 * alone, "{given:?}");
}

#[test]
fn what_one_does_not_need_the_others_get() {
    let config = fdd(3, "{proportional_fair: {}}");
    let source = Source::of_each(&scenarios(), &config).expect("playable");
    let mut link: Link<()> = Link::new(&config, source).expect("a channel for each");
    for now in (0..4 * SECOND).step_by(MS as usize) {
        link.advance(now);
        while link.dequeue().is_some() {}
        for ue in [0, 1] {
            // The steady one asks for 1.6 Mbit/s only.
            let count = if ue == 0 {
                u64::from(now % (5 * MS) == 0)
            } else {
                4
            };
            for _ in 0..count {
                link.enqueue(Port::Core { ue: UeId(ue) }, packet(1000, ()), now);
            }
        }
        link.samples();
    }
    let delivered = |ue| link.totals(UeId(ue), Direction::Downlink).sdu_bytes as f64;
    assert!(delivered(0) > 0.99 * 1000.0 * 795.0, "{}", delivered(0));
    let alone: f64 = alone(Direction::Downlink)[1][..400].iter().sum();
    assert!(delivered(1) > 0.75 * alone, "{} of {alone}", delivered(1));
}

/// Bytes that each of `ues` alike UEs gets in 2 s, those that are `busy` with full queues.
fn alike(config: &ResolvedConfig, direction: Direction, busy: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut link: Link<()> = link(config, &common::flat(18.0));
    for now in (0..2 * SECOND).step_by(MS as usize) {
        link.advance(now);
        while link.dequeue().is_some() {}
        for ue in (0..link.ues()).filter(|&ue| busy(ue)) {
            let from = match direction {
                Direction::Downlink => Port::Core { ue: UeId(ue) },
                Direction::Uplink => Port::Ue(UeId(ue)),
            };
            (0..3).for_each(|_| link.enqueue(from, packet(1500, ()), now));
        }
        link.samples();
    }
    let bytes = |ue| link.totals(UeId(ue), direction).bytes as f64;
    (0..link.ues()).map(bytes).collect()
}

#[test]
fn no_turn_is_lost_to_slots_of_the_other_direction_or_to_short_ones() {
    // As many UEs as the pattern has slots: by the slots' numbers two would never get any of the
    // downlink, eight none of the uplink. Of two, one would get all special slots.
    let devices = |ues: usize| (1..=ues).map(|ue| format!("{{name: ue{ue}}}"));
    for scheduler in ["round_robin", "max_ci"] {
        for (ues, direction) in [
            (2, Direction::Downlink),
            (10, Direction::Downlink),
            (10, Direction::Uplink),
        ] {
            let config = config(&[
                ("{name: ue1}", &devices(ues).collect::<Vec<_>>().join(", ")),
                ("mcs_table", &format!("scheduler: {scheduler}\n  mcs_table")),
                ("prb: 106", "prb: 24"),
            ]);
            let given = alike(&config, direction, |_| true);
            let mean = given.iter().sum::<f64>() / ues as f64;
            for bytes in &given {
                assert!(
                    (bytes / mean - 1.0).abs() < 0.05,
                    "{scheduler} {direction:?}: {given:?}"
                );
            }
        }
    }
}

#[test]
fn the_turns_of_an_idle_ue_are_shared_by_all_others() {
    let given = alike(&fdd(3, "round_robin"), Direction::Downlink, |ue| ue != 0);
    assert!((given[1] / given[2] - 1.0).abs() < 0.03, "{given:?}");
}
