// SPDX-License-Identifier: Apache-2.0
//! Keeps `rf-scenarios/rf-scenario.schema.json` equal to the types that read scenarios.

use std::path::Path;

use super::Scenario;

/// `UPDATE_SCHEMA=1 cargo test -p nr-link-model schema` writes the file anew.
#[test]
fn published_schema_is_that_of_the_types() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rf-scenarios/rf-scenario.schema.json");
    let generated = serde_json::to_string_pretty(&schemars::schema_for!(Scenario)).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &generated).unwrap();
    }
    let published = std::fs::read_to_string(&file).unwrap();
    assert!(
        published == generated,
        "{} is out of date: see this test",
        file.display()
    );
}
