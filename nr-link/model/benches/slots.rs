// SPDX-License-Identifier: Apache-2.0
//! The model alone: slots per second with 1, 8 and 64 UEs, saturated in both directions and idle,
//! with eight carriers of 400 MHz, and among several cells; packets per second over a capacity scenario.
//! Seconds are those of the processor's time.
//!
//! `cargo bench -p nr-link-model` prints a JSON line for each case; nr-link/benchmarks/measure.py reads them.

#[path = "../../benchmarks/processor_time.rs"]
mod processor_time;

use std::path::Path;

use nr_link_model::scenario::Scenario;
use nr_link_model::{Ecn, Link, Nanos, Packet, Port, ResolvedConfig, Source, UeId};
use processor_time::calls_per_s;
use serde_json::json;

const MS: Nanos = 1_000_000;
/// The time that one call of `run` simulates: 200 slots at numerology 1, 800 at numerology 3.
const STEP: Nanos = 100 * MS;

const SCENARIO: &str = "
schema: rf-scenario/1
name: bench
summary: Four fading taps.
sources: [chosen]
license: Apache-2.0
duration_s: 60
radio:
  ss_pbch_block_power_dbm: 0
  level: {rsrp_dbm: -60}
  noise: {sinr_db: 25}
  mobility: {speed_mps: 3}
  fading: {taps: [{delay_ns: 0, power_db: 0}, {delay_ns: 60, power_db: -3}, {delay_ns: 150, power_db: -6}, {delay_ns: 310, power_db: -9}]}
";

const TEN_GIGABIT: &str = "
schema: rf-scenario/1
name: bench
summary: 10 Gbit/s each way.
sources: [chosen]
license: Apache-2.0
duration_s: 60
capacity: {dl: {constant_mbps: 10000}, ul: {constant_mbps: 10000}}
";

/// Makes a link of the test configuration: 106 PRB, numerology 1, a layer in each direction.
fn link(ues: usize, scenario: &str) -> Link<()> {
    changed(ues, scenario, &[])
}

/// Makes a link with replaced lines in the test configuration.
fn changed(ues: usize, scenario: &str, changes: &[(&str, &str)]) -> Link<()> {
    let devices: Vec<_> = (0..ues).map(|ue| format!("{{name: ue{ue}}}")).collect();
    let mut text =
        include_str!("../tests/common/link.yaml").replace("{name: ue1}", &devices.join(", "));
    for (from, to) in changes {
        text = text.replacen(from, to, 1);
    }
    let config = ResolvedConfig::parse(&text, Path::new("link.yaml")).expect("valid");
    let scenario = Scenario::parse(scenario, Path::new("bench.yaml")).expect("valid");
    let source = Source::of(&scenario, &config).expect("playable");
    Link::new(&config, source).expect("something for each UE")
}

/// Advances the link by `STEP` from `now`; all UEs together send and receive `packets_per_ms` of 1500 B each.
fn run(link: &mut Link<()>, now: &mut Nanos, packets_per_ms: usize) {
    for _ in 0..STEP / MS {
        for number in 0..packets_per_ms {
            let ue = number % link.ues();
            for from in [Port::Core { ue: UeId(ue) }, Port::Ue(UeId(ue))] {
                let packet = Packet::new(1500, Ecn::NotEct, ());
                link.enqueue(from, packet, *now);
            }
        }
        *now += MS;
        link.advance(*now);
        while link.dequeue().is_some() {}
    }
    link.samples();
}

/// Prints how many slots or packets the link does in a second of the processor's time; a `STEP` has `of_step` of them.
fn measure(case: &str, mut link: Link<()>, packets_per_ms: usize, of_step: u64) {
    let mut now = 0;
    run(&mut link, &mut now, packets_per_ms); // fills the queues
    let steps_per_s = calls_per_s(|| run(&mut link, &mut now, packets_per_ms));
    let per_s = steps_per_s * of_step as f64;
    println!("{}", json!({"case": case, "per_s": per_s}));
}

fn slots() {
    let of_step = STEP / (MS / 2);
    for (load, packets_per_ms) in [("idle", 0), ("saturated", 64)] {
        for ues in [1, 8, 64] {
            let case = format!("slots/{load}/{ues}");
            measure(&case, link(ues, SCENARIO), packets_per_ms, of_step);
        }
    }
    let fair = ("prb: 106", "prb: 106\n  scheduler: {proportional_fair: {}}");
    let link = changed(64, SCENARIO, &[fair]);
    measure("slots/saturated, proportional fair/64", link, 64, of_step);
}

/// Eight carriers of 264 PRB and 120 kHz with 12 Gbit/s offered in each direction; a slot is one
/// of all carriers.
fn carriers() {
    let changes = [
        ("carrier_ghz: 3.6", "carrier_ghz: 28"),
        ("numerology: 1", "numerology: 3"),
        ("prb: 106", "prb: 264\n  secondary: [{count: 7}]"),
        ("layers: {dl: 1, ul: 1}", "layers: {dl: 2, ul: 2}"),
        ("mcs_table: 64qam", "mcs_table: 256qam"),
    ];
    let link = changed(1, SCENARIO, &changes);
    measure("carriers/8 x 264 PRB", link, 1000, STEP / (MS / 8));
}

/// One UE with full queues in both directions: in one cell, between two, and between two of which the other interferes.
fn cells() {
    let one = SCENARIO.replace("noise: {sinr_db: 25}", "noise: {figure_db: 7}");
    let two =
        format!("{one}  cells: [{{level: {{rsrp_dbm: -90}}}}, {{level: {{rsrp_dbm: -96}}}}]\n");
    let one = one.replace("rsrp_dbm: -60", "rsrp_dbm: -90");
    let loaded = (
        "mcs_table: 64qam",
        "mcs_table: 64qam\n  neighbour_load: 0.5",
    );
    for (name, scenario, changes) in [
        ("one", &one, &[][..]),
        ("two", &two, &[]),
        ("two, load 0.5", &two, &[loaded]),
    ] {
        let link = changed(1, scenario, changes);
        measure(&format!("cells/{name}"), link, 64, STEP / (MS / 2));
    }
}

/// 840 packets per ms in each direction: 10.08 Gbit/s.
fn packets() {
    let link = link(1, TEN_GIGABIT);
    measure("packets/10 Gbit/s", link, 840, 2 * 840 * STEP / MS);
}

fn main() {
    slots();
    carriers();
    cells();
    packets();
}
