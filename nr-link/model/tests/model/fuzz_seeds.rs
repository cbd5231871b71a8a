// SPDX-License-Identifier: Apache-2.0
//! Tries the stored inputs of fuzzing, and mutations of them, with every test run.

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

#[path = "../../../../tests/support/fuzz_seeds.rs"]
mod seeds;

use std::path::Path;

fn try_seeds(name: &str, target: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    seeds::try_seeds(&fuzz, name, target);
}

#[test]
fn link_configurations() {
    try_seeds("link_config", targets::link_config);
}

#[test]
fn scenarios() {
    try_seeds("scenario", targets::scenario);
}

#[test]
fn mahimahi_traces() {
    try_seeds("mahimahi", targets::mahimahi);
}

#[test]
fn tables_of_seconds_and_mbps() {
    try_seeds("seconds_mbps", targets::seconds_mbps);
}

#[test]
fn tables_beside_a_scenario() {
    try_seeds("table", targets::table);
}
