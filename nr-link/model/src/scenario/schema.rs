// SPDX-License-Identifier: Apache-2.0
//! Checks that `rf-scenarios/rf-scenario.schema.json` matches the types that read scenarios.

use std::path::Path;

/// `UPDATE_SCHEMA=1 cargo test -p nr-link-model schema` writes the file.
#[test]
fn published_schema_is_that_of_the_types() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rf-scenarios/rf-scenario.schema.json");
    let generated = serde_json::to_value(super::schema()).unwrap();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let text = serde_json::to_string_pretty(&generated).unwrap() + "\n";
        std::fs::write(&file, text).unwrap();
    }
    // Values are compared and not text: the order of keys depends on features that other crates
    // enable.
    let published: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(
        published == generated,
        "{} is out of date: see this test",
        file.display()
    );
}
