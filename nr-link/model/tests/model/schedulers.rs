// SPDX-License-Identifier: Apache-2.0
//! The shares of UEs on a carrier. The reference does not depend on the scheduler's code: it takes
//! the rate of each UE alone in each interval, and allocates the slots by the rule of the paper.

use crate::common::{MS, SECOND, config, flat, link, packet, scenario};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, Link, Port, ResolvedConfig, Source, UeId};

const SECONDS: u64 = 12;
/// FDD at 30 kHz.
const SLOTS_PER_SAMPLE: usize = 20;
/// A window as long as a period of the swinging UEs: a shorter window would follow the swing.
const WINDOW_SLOTS: f64 = 4000.0;
const FAIR: &str = "{proportional_fair: {window_slots: 4000}}";

/// Three scenarios: a constant high SINR; one that swings between high and low; the same half a
/// period later.
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

/// Makes a scenario that repeats after 4 s.
fn scenario_of(radio: &str) -> Scenario {
    let mut scenario = scenario(radio);
    scenario.duration_s = 4.0.try_into().expect("above 0");
    scenario
}

/// Makes a configuration in which almost no block fails, so that the outer loop is inactive and a
/// block's size is that of the CQI.
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

/// Returns the block bytes of each UE in each sample, with full queues in both directions.
fn saturated(mut link: Link<u64>, direction: Direction) -> Vec<Vec<f64>> {
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
                link.enqueue(from, packet(1500, 0), now);
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

/// Returns the bytes per sample of each UE alone.
fn alone(direction: Direction) -> Vec<Vec<f64>> {
    let one = |scenario| saturated(link(&fdd(1, "round_robin"), scenario), direction);
    scenarios().iter().flat_map(one).collect()
}

/// Computes the result of `choose`, slot by slot, from the current rate and the average rate of
/// each UE.
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
            let found = if ue == chosen { rates[ue] } else { 0.0 };
            *mean = (1.0 - 1.0 / WINDOW_SLOTS) * *mean + found / WINDOW_SLOTS;
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

fn check(found: &[f64], expected: &[f64], what: &str) {
    for (ue, (found, expected)) in found.iter().zip(expected).enumerate() {
        let ratio = found / expected;
        assert!(
            (0.975..1.025).contains(&ratio),
            "{what}, UE {ue}: {ratio} of the reference"
        );
    }
}

#[test]
fn each_discipline_gives_the_shares_of_its_reference() {
    let alone = alone(Direction::Downlink);
    let fair_found = together(FAIR, Direction::Downlink);
    let turns_found = together("round_robin", Direction::Downlink);
    check(&fair_found, &reference(&alone, fair), "proportional fair");
    check(&turns_found, &reference(&alone, turn), "round robin");
    // The swinging UEs gain by being served at their best; the constant one loses little.
    let gain = |ue: usize| fair_found[ue] / turns_found[ue];
    assert!(gain(1) > 1.05 && gain(2) > 1.05, "{} {}", gain(1), gain(2));
    assert!(gain(0) > 0.8, "{}", gain(0));
}

#[test]
fn uplink_is_shared_by_the_same_rule() {
    let alone = alone(Direction::Uplink);
    let found = together(FAIR, Direction::Uplink);
    check(&found, &reference(&alone, fair), "proportional fair");
}

#[test]
fn max_ci_serves_the_ue_with_the_best_channel_only() {
    let found = together("max_ci", Direction::Downlink);
    let alone: f64 = alone(Direction::Downlink)[0].iter().sum();
    // At their best, the other UEs have blocks of the same size for a moment, and ties are broken
    // in turn.
    assert!(found[0] > 0.95 * alone, "{} of {alone}", found[0]);
    assert!(found[1] + found[2] < 0.05 * alone, "{found:?}");
}

#[test]
fn resources_that_a_ue_does_not_need_go_to_the_others() {
    let config = fdd(3, "{proportional_fair: {}}");
    let source = Source::of_each(&scenarios(), &config).expect("playable");
    let mut link: Link<u64> = Link::new(&config, source).expect("a channel for each");
    for now in (0..4 * SECOND).step_by(MS as usize) {
        link.advance(now);
        while link.dequeue().is_some() {}
        for ue in [0, 1] {
            // The constant UE has 1.6 Mbit/s of traffic only.
            let count = if ue == 0 {
                u64::from(now % (5 * MS) == 0)
            } else {
                4
            };
            for _ in 0..count {
                link.enqueue(Port::Core { ue: UeId(ue) }, packet(1000, 0), now);
            }
        }
        link.samples();
    }
    let delivered = |ue| link.totals(UeId(ue), Direction::Downlink).sdu_bytes as f64;
    assert!(delivered(0) > 0.99 * 1000.0 * 795.0, "{}", delivered(0));
    let alone: f64 = alone(Direction::Downlink)[1][..400].iter().sum();
    assert!(delivered(1) > 0.75 * alone, "{} of {alone}", delivered(1));
}

/// Returns the bytes of each of `ues` equal UEs in 2 s; those that are `busy` have full queues.
fn alike(config: &ResolvedConfig, direction: Direction, busy: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut link: Link<u64> = link(config, &flat(18.0));
    for now in (0..2 * SECOND).step_by(MS as usize) {
        link.advance(now);
        while link.dequeue().is_some() {}
        for ue in (0..link.ues()).filter(|&ue| busy(ue)) {
            let from = match direction {
                Direction::Downlink => Port::Core { ue: UeId(ue) },
                Direction::Uplink => Port::Ue(UeId(ue)),
            };
            (0..3).for_each(|_| link.enqueue(from, packet(1500, 0), now));
        }
        link.samples();
    }
    let bytes = |ue| link.totals(UeId(ue), direction).bytes as f64;
    (0..link.ues()).map(bytes).collect()
}

#[test]
fn shares_do_not_depend_on_the_tdd_pattern() {
    // With as many UEs as the pattern has slots, an allocation by slot numbers would never serve
    // two of them in the downlink and eight in the uplink. With two UEs, one would get all special
    // slots.
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
            let found = alike(&config, direction, |_| true);
            let mean = found.iter().sum::<f64>() / ues as f64;
            for bytes in &found {
                assert!(
                    (bytes / mean - 1.0).abs() < 0.05,
                    "{scheduler} {direction:?}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn the_resources_of_an_idle_ue_are_shared_by_all_others() {
    let found = alike(&fdd(3, "round_robin"), Direction::Downlink, |ue| ue != 0);
    assert!((found[1] / found[2] - 1.0).abs() < 0.03, "{found:?}");
}
