// SPDX-License-Identifier: Apache-2.0
//! Links for tests: a configuration and a scenario in one line each.

#![allow(dead_code)] // each test file uses a part of it

use std::path::Path;

use nr_link_model::scenario::Scenario;
use nr_link_model::{
    Delivery, Direction, Ecn, Link, Nanos, Packet, Port, ResolvedConfig, Source, UeId,
};

pub const MS: Nanos = 1_000_000;
pub const SECOND: Nanos = 1_000 * MS;

/// Makes a configuration like that of `docs/link-config.md` with replaced lines, such as `("prb:
/// 106", "prb: 24")`.
pub fn config(changes: &[(&str, &str)]) -> ResolvedConfig {
    let mut text = include_str!("link.yaml").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?} is not in link.yaml");
        text = text.replacen(from, to, 1);
    }
    ResolvedConfig::parse(&text, Path::new("link.yaml")).expect("valid")
}

/// Makes a scenario whose radio channel is one line of YAML.
pub fn scenario(radio: &str) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\n\
         license: Apache-2.0\nduration_s: 60\nradio: {radio}\n"
    );
    Scenario::parse(&text, Path::new("test.yaml")).expect("valid")
}

/// Makes a scenario whose capacity is one line of YAML. Its traces are in `folder`; `more` holds
/// further lines of the file.
pub fn capacity_scenario_in(folder: &Path, capacity: &str, more: &str) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\n\
         license: Apache-2.0\nduration_s: 60\n{more}\ncapacity: {capacity}\n"
    );
    Scenario::parse(&text, &folder.join("test.yaml")).expect("valid")
}

/// Makes a scenario with capacity, without a trace.
pub fn capacity_scenario(capacity: &str) -> Scenario {
    capacity_scenario_in(Path::new(""), capacity, "")
}

/// Makes a scenario with a flat channel of this downlink SINR.
pub fn flat(sinr_db: f64) -> Scenario {
    scenario(&format!(
        "{{ss_pbch_block_power_dbm: 0, level: {{rsrp_dbm: -60}}, noise: {{sinr_db: {sinr_db}}}, \
         noise_ul: {{floor_dbm_per_re: -100}}}}"
    ))
}

pub fn link<T>(config: &ResolvedConfig, scenario: &Scenario) -> Link<T> {
    let source = Source::of(scenario, config).expect("playable");
    Link::new(config, source).expect("something for each UE")
}

pub fn packet<T>(bytes: u32, payload: T) -> Packet<T> {
    Packet::new(bytes, Ecn::NotEct, payload)
}

/// Keeps the queue of a direction full for `duration` and returns the packets delivered.
pub fn saturate(link: &mut Link<u64>, from: Port, duration: Nanos) -> Vec<Delivery<u64>> {
    let mut delivered = Vec::new();
    let mut number = 0;
    for now in (0..duration).step_by(MS as usize) {
        link.advance(now);
        for _ in 0..200 {
            link.enqueue(from, packet(1500, number), now);
            number += 1;
        }
        delivered.extend(std::iter::from_fn(|| link.dequeue()));
    }
    delivered
}

/// Whether a link holds no packet of any UE.
pub fn is_empty(link: &Link<u64>) -> bool {
    let ues = (0..link.ues()).map(UeId);
    ues.flat_map(|ue| [Direction::Downlink, Direction::Uplink].map(|direction| (ue, direction)))
        .all(|(ue, direction)| link.contents(ue, direction).packets == 0)
}

/// Runs a link from `now` until it is empty, at most until `end`, and returns when that was and the packets delivered. An
/// idle link costs as much as a loaded one to simulate, and nothing happens in it.
pub fn drain(link: &mut Link<u64>, mut now: Nanos, end: Nanos) -> (Nanos, Vec<Delivery<u64>>) {
    let mut delivered = Vec::new();
    while now < end && !is_empty(link) {
        now = end.min(now + 50 * MS);
        link.advance(now);
        delivered.extend(std::iter::from_fn(|| link.dequeue()));
    }
    (now, delivered)
}
