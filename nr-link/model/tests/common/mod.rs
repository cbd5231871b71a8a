// SPDX-License-Identifier: Apache-2.0
//! Links to test: a configuration in one line, a scenario in another.

#![allow(dead_code)] // each test file takes what it needs

use std::path::Path;

use nr_link_model::scenario::Scenario;
use nr_link_model::{Delivery, Ecn, Link, Nanos, Packet, Port, ResolvedConfig, Source};

pub const MS: Nanos = 1_000_000;
pub const SECOND: Nanos = 1_000 * MS;

/// A configuration of `docs/link-config.md`, with these lines in place of its own where they name
/// the same key: `("prb: 106", "prb: 24")`.
pub fn config(changes: &[(&str, &str)]) -> ResolvedConfig {
    let mut text = include_str!("link.yaml").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?} is not in link.yaml");
        text = text.replacen(from, to, 1);
    }
    ResolvedConfig::parse(&text, Path::new("link.yaml")).expect("valid")
}

/// A scenario whose radio is given by one line of YAML.
pub fn scenario(radio: &str) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\n\
         license: Apache-2.0\nduration_s: 60\nradio: {radio}\n"
    );
    Scenario::parse(&text, Path::new("test.yaml")).expect("valid")
}

/// A scenario whose capacity is given by one line of YAML; its traces lie in `folder`, and `more`
/// are other lines of the file.
pub fn given_in(folder: &Path, capacity: &str, more: &str) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\n\
         license: Apache-2.0\nduration_s: 60\n{more}\ncapacity: {capacity}\n"
    );
    Scenario::parse(&text, &folder.join("test.yaml")).expect("valid")
}

/// The same, without a trace.
pub fn given(capacity: &str) -> Scenario {
    given_in(Path::new(""), capacity, "")
}

/// A flat channel with this downlink SINR.
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
    Packet {
        bytes,
        ecn: Ecn::NotEct,
        payload,
    }
}

/// Keeps a direction's queue filled for `duration` and returns what was delivered.
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
