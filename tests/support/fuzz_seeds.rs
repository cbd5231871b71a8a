// SPDX-License-Identifier: Apache-2.0
//! The inputs that every run of the tests tries on a fuzz target: the stored inputs, and a fixed number of mutations of
//! them, the same each time. `make fuzz` tries as many as its time allows, guided by coverage.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The number for each target.
const MUTATIONS: u32 = 300;

/// Tries the seeds of a target, what an earlier `make fuzz` kept on this machine, and mutations of them.
pub fn try_seeds(fuzz: &Path, name: &str, target: fn(&[u8])) {
    let mut inputs = stored(&fuzz.join("seeds").join(name));
    assert!(!inputs.is_empty(), "{name} has no seeds");
    inputs.extend(stored(&fuzz.join("corpus").join(name)));
    for (file, input) in &inputs {
        eprintln!("{file}"); // shown when it fails
        target(input);
    }
    let edit = (any::<Index>(), any::<Index>(), any::<u8>(), 0..4_u8);
    let mutations = (select(inputs), prop::collection::vec(edit, 1..6));
    let config = Config {
        cases: MUTATIONS,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng)
        .run(&mutations, |((_, mut input), edits)| {
            for (at, other, byte, kind) in edits {
                mutate(&mut input, &at, &other, byte, kind);
            }
            target(&input);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{name}: {failure}"));
}

/// Files of a folder, in the order of their names; none if there is no folder.
fn stored(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<_> = entries
        .map(|entry| entry.expect("a file").path())
        .map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
        .collect();
    found.sort();
    found
}

/// Replaces or inserts a byte, repeats a part, or cuts off the end.
fn mutate(input: &mut Vec<u8>, at: &Index, other: &Index, byte: u8, kind: u8) {
    if input.is_empty() {
        input.push(byte);
    }
    let (at, other) = (at.index(input.len()), other.index(input.len()));
    match kind {
        0 => input[at] = byte,
        1 => input.insert(at, byte),
        2 => {
            let part = input[at.min(other)..at.max(other)].to_vec();
            input.splice(at..at, part);
        }
        _ => input.truncate(at),
    }
}
