// SPDX-License-Identifier: Apache-2.0
//! Checks the stored inputs of fuzzing with every test run: the seeds, and inputs that once failed.

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::Path;

fn try_seeds(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/seeds")
        .join(name);
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("a folder of seeds") {
        let path = entry.expect("a seed").path();
        eprintln!("{}", path.display()); // shown when it fails
        target(&fs::read(&path).expect("a seed"));
        count += 1;
    }
    assert!(count > 0, "no seeds in {}", folder.display());
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
