// SPDX-License-Identifier: Apache-2.0
//! Tries the stored inputs of fuzzing, and mutations of them, with every test run.

#[path = "../../fuzz/src/lib.rs"]
mod targets;

#[path = "../../../../tests/support/fuzz_seeds.rs"]
mod seeds;

use std::path::Path;

fn try_seeds(name: &str, target: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    seeds::try_seeds(&fuzz, name, target);
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
