// SPDX-License-Identifier: Apache-2.0
//! Properties that hold for any content of each file that nr-link reads. The fuzz targets generate contents;
//! nr-link/model/tests/model/fuzz_seeds.rs checks the stored ones.

use std::path::Path;

use nr_link_model::scenario::trace;
use nr_link_model::scenario::{Rate, Scenario, Table};
use nr_link_model::{Ecn, Link, Nanos, Packet, Port, Problem, ResolvedConfig, Source, UeId};

const MS: Nanos = 1_000_000;
/// Duration of a scenario whose channel is drawn: longer ones take too long for many inputs.
const DRAWN_S: f64 = 5.0;
const CONFIG: &str = include_str!("../../model/tests/common/link.yaml");
const CONSTANT: &str = "{schema: rf-scenario/1, name: c, summary: c, sources: [chosen], license: Apache-2.0, \
                        duration_s: 1, capacity: {dl: {constant_mbps: 10}, ul: {constant_mbps: 10}}}";

/// Checks that a configuration is rejected with a rule and a fix, or makes a link that carries
/// packets.
pub fn link_config(content: &[u8]) {
    let Ok(text) = std::str::from_utf8(content) else {
        return;
    };
    match ResolvedConfig::parse(text, Path::new("link.yaml")) {
        Err(error) => is_complete(&error, "link.yaml"),
        Ok(config) => {
            let constant = Scenario::parse(CONSTANT, Path::new("constant.yaml")).expect("valid");
            carries_packets(&config, &constant);
        }
    }
}

/// Checks that a scenario is rejected with a rule and a fix, or is valid, or is rejected for this
/// carrier.
pub fn scenario(content: &[u8]) {
    let Ok(text) = std::str::from_utf8(content) else {
        return;
    };
    match Scenario::parse(text, Path::new("scenario.yaml")) {
        Err(error) => is_complete(&error, "scenario.yaml"),
        Ok(scenario) if reads_a_file(&scenario) || scenario.duration_s.get() > DRAWN_S => {}
        Ok(scenario) => {
            let config = ResolvedConfig::parse(CONFIG, Path::new("link.yaml")).expect("valid");
            carries_packets(&config, &scenario);
        }
    }
}

/// Checks Mahimahi's stamps: each line is one opportunity, at its own stamp.
pub fn mahimahi(content: &[u8]) {
    match trace::mahimahi(content, Path::new("a.up")) {
        Err(error) => is_complete(&error, "a.up"),
        Ok(stamps) => {
            let lines: Vec<u32> = std::str::from_utf8(content)
                .expect("what was read is text")
                .lines()
                .map(|line| line.trim().parse().expect("a stamp"))
                .collect();
            for &(ms, count) in &stamps {
                let by_then = lines.iter().filter(|&&stamp| stamp <= ms).count();
                assert_eq!(count, by_then as u64, "to {ms} ms");
            }
            assert!(stamps.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }
}

/// Checks a table of seconds and Mbit/s: its cumulative capacity is defined and never decreases.
pub fn seconds_mbps(content: &[u8]) {
    const DURATION_S: f64 = 10.0;
    match trace::seconds_mbps(content, Path::new("a.csv"), DURATION_S) {
        Err(error) => is_complete(&error, "a.csv"),
        Ok(rates) => {
            assert_eq!(rates[0].0, 0.0);
            assert!(rates.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let sound = |&(second, mbps): &(f64, f64)| {
                (0.0..DURATION_S).contains(&second) && (0.0..=1e6).contains(&mbps)
            };
            assert!(rates.iter().all(sound));
        }
    }
}

/// Checks a CSV file beside a scenario: each row has the chosen columns, at ascending time stamps.
pub fn table(content: &[u8]) {
    let mut columns = 0;
    let all = |names: &[&str]| {
        columns = names.len();
        Ok((0..names.len()).collect())
    };
    match Table::read(content, Path::new("a.csv"), all) {
        Err(error) => is_complete(&error, "a.csv"),
        Ok(table) => {
            assert_eq!(table.width, columns);
            assert_eq!(table.values.len(), table.t_s.len() * columns);
            assert!(table.t_s.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(table.t_s.iter().all(|second| second.is_finite()));
        }
    }
}

/// Checks that a problem has its file, the rule and the fix.
fn is_complete(problem: &Problem, file: &str) {
    assert_eq!(problem.place.file.as_deref(), Some(Path::new(file)));
    assert!(!problem.rule.is_empty(), "no rule: {problem}");
    assert!(!problem.fix.is_empty(), "no fix: {problem}");
}

fn reads_a_file(scenario: &Scenario) -> bool {
    let capacity = scenario.capacity.iter();
    capacity
        .flat_map(|capacity| [&capacity.dl, &capacity.ul])
        .any(|rate| matches!(rate, Rate::Trace(_)))
}

/// Sends packets in each direction for 20 ms, and checks that only these are delivered.
fn carries_packets(config: &ResolvedConfig, scenario: &Scenario) {
    let Ok(source) = Source::of(scenario, config) else {
        return;
    };
    let Ok(mut link) = Link::new(config, source) else {
        return;
    };
    let (mut entered, mut left) = (0, 0);
    for ms in 0..20 {
        for from in [Port::Core { ue: UeId(0) }, Port::Ue(UeId(0))] {
            let packet = Packet::new(500, Ecn::Ect0, ());
            link.enqueue(from, packet, ms * MS);
            entered += 1;
        }
        link.advance((ms + 1) * MS);
        while link.dequeue().is_some() {
            left += 1;
        }
        link.samples();
    }
    assert!(left <= entered, "{left} of {entered}");
}
