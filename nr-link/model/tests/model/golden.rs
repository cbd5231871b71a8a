// SPDX-License-Identifier: Apache-2.0
//! The same seed and arrivals give a byte-identical `mac.csv`. After a deliberate change of the
//! model, run `UPDATE_GOLDEN=1 cargo test -p nr-link-model --test model golden` and check the
//! differences.

use std::path::Path;

use crate::common::{MS, capacity_scenario, config, link, packet, scenario};
use nr_link_model::{Link, Port, ResolvedConfig, UeId};

/// The start of a run: 2025-01-01 00:00 UTC.
const START_UTC_NS: i64 = 1_735_689_600_000_000_000;

fn mac_csv(seed: &str) -> String {
    let fading = scenario(
        "{ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -60}, noise: {sinr_db: 12}, mobility: {speed_mps: 3}, \
         fading: {taps: [{delay_ns: 0, power_db: 0, k_factor_db: 3}, {delay_ns: 200, power_db: -5}]}}",
    );
    rows(link(&lossy(seed), &fading))
}

fn capacity_csv(seed: &str) -> String {
    let steps =
        capacity_scenario("{dl: {steps_mbps: [[0, 60], [0.1, 150]]}, ul: {constant_mbps: 20}}");
    rows(link(&lossy(seed), &steps))
}

fn lossy(seed: &str) -> ResolvedConfig {
    let seed = format!("seed: {seed}");
    config(&[("seed: 1", &seed), ("loss_ratio: 0.0", "loss_ratio: 0.01")])
}

fn rows(mut link: Link<u64>) -> String {
    let mut csv = link.csv_header().into_bytes();
    csv.push(b'\n');
    for ms in 0..400 {
        let now = ms * MS;
        link.advance(now);
        // Downlink bursts with acknowledgements for half the time, then no traffic, then uplink.
        let (down, up) = match ms {
            0..200 => (8, 4),
            250..350 => (0, 3),
            _ => (0, 0),
        };
        (0..down).for_each(|_| link.enqueue(Port::Core { ue: UeId(0) }, packet(1500, 0), now));
        (0..up).for_each(|_| {
            link.enqueue(
                Port::Ue(UeId(0)),
                packet(if down > 0 { 52 } else { 1500 }, 0),
                now,
            )
        });
        while link.dequeue().is_some() {}
        for sample in link.samples() {
            sample.write_csv(START_UTC_NS, &mut csv).expect("memory");
        }
    }
    String::from_utf8(csv).expect("text")
}

fn check(file: &str, now: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, now).expect("writable");
    }
    let golden = std::fs::read_to_string(&path).expect(file);
    for (line, (now, golden)) in now.lines().zip(golden.lines()).enumerate() {
        assert_eq!(now, golden, "{file}:{}", line + 1);
    }
    assert_eq!(now, golden);
}

#[test]
fn mac_csv_is_byte_identical() {
    check("mac.csv", &mac_csv("1"));
    check("capacity.csv", &capacity_csv("1"));
}

#[test]
fn another_seed_gives_another_run() {
    assert_ne!(mac_csv("1"), mac_csv("2"));
    assert_ne!(capacity_csv("1"), capacity_csv("2"));
}

#[test]
fn every_row_has_as_many_fields_as_the_header() {
    for csv in [mac_csv("1"), capacity_csv("1")] {
        let fields = csv.lines().next().map_or(0, |row| row.split(',').count());
        assert_eq!(csv.lines().count(), 1 + 39);
        for row in csv.lines() {
            assert_eq!(row.split(',').count(), fields);
        }
    }
}
