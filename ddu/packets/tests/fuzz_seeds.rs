// SPDX-License-Identifier: Apache-2.0
//! What fuzzing keeps is tried with every test run: the seeds, and what once went wrong.

#[path = "../fuzz/src/lib.rs"]
mod targets;

use std::fs;
use std::path::Path;

fn try_seeds(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
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
fn captures() {
    try_seeds("capture", targets::capture);
}

#[test]
fn frames() {
    try_seeds("frame", targets::frame);
}

#[test]
fn socket_samples() {
    try_seeds("sockets", targets::sockets);
}
