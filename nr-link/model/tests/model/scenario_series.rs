// SPDX-License-Identifier: Apache-2.0
//! Series and taps in files beside the scenario.

use std::f64::consts::TAU;
use std::fs;
use std::path::Path;

use nr_link_model::channel::{Channel, Observation};
use nr_link_model::radio::Grid;
use nr_link_model::scenario::Scenario;

const GRID: Grid = Grid {
    carrier_hz: 3.6e9,
    scs_hz: 30e3,
    prb: 106,
};
const MS: u64 = 1_000_000;

/// Loads a scenario of 4 s in `folder` with the given `radio`.
fn scenario(folder: &Path, radio: &str) -> Result<Scenario, String> {
    let file = folder.join("x.yaml");
    let text = format!(
        "schema: rf-scenario/1\nname: x\nsummary: x\nsources: [x]\nlicense: CC0-1.0\nduration_s: 4\n\
         radio:\n  ss_pbch_block_power_dbm: 0\n{radio}"
    );
    fs::write(&file, text).unwrap();
    Scenario::load(&file).map_err(|error| error.to_string())
}

fn seen(channel: &Channel, ms: u64) -> Observation {
    let mut seen = Observation::default();
    channel.observe(ms * MS, &mut seen);
    seen
}

#[test]
fn a_column_of_a_file_is_the_series_that_it_would_be_in_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("drive.csv"),
        "t_s,sinr_db,rsrp_dbm\n0,10,-80\n1,20,-90\n3,0,-100\n",
    )
    .unwrap();
    let beside = "  level: {rsrp_dbm: {file: drive.csv, column: rsrp_dbm}}\n  \
                  noise: {sinr_db: {file: drive.csv, column: sinr_db}}\n";
    let inside = "  level: {rsrp_dbm: [[0, -80], [1, -90], [3, -100]]}\n  \
                  noise: {sinr_db: [[0, 10], [1, 20], [3, 0]]}\n";
    let channels = [beside, inside].map(|radio| {
        let scenario = scenario(folder.path(), radio).unwrap();
        Channel::new(&scenario, &GRID, 1).unwrap()
    });
    for ms in (0..9000).step_by(7) {
        assert_eq!(seen(&channels[0], ms), seen(&channels[1], ms), "at {ms} ms");
    }
}

#[test]
fn a_problem_in_a_series_file_names_that_file() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |csv: &str| {
        fs::write(folder.path().join("s.csv"), csv).unwrap();
        let radio =
            "  level: {rsrp_dbm: {file: s.csv, column: rsrp_dbm}}\n  noise: {figure_db: 7}\n";
        scenario(folder.path(), radio).unwrap_err()
    };
    for (csv, expected) in [
        ("t_s,rsrp_dbm\n0,-80\n4,-80\n", "the time 4 s is not within"),
        ("t_s,rsrp_dbm\n0,-800\n", "-800 is not a level between"),
        (
            "t_s,rsrp\n0,-80\n",
            "s.csv:1: there is no column \"rsrp_dbm\"",
        ),
        ("t_s,rsrp_dbm\n1,-80\n0,-80\n", "s.csv:3: the time 0 s"),
    ] {
        let error = refused(csv);
        assert!(
            error.contains("s.csv") && error.contains(expected),
            "{error}"
        );
    }
    let missing = "  level: {rsrp_dbm: {file: no.csv, column: x}}\n  noise: {figure_db: 7}\n";
    let error = scenario(folder.path(), missing).unwrap_err();
    assert!(error.contains("no.csv: cannot be read"), "{error}");
}

#[test]
fn a_parsed_scenario_with_a_series_in_a_file_makes_no_channel() {
    let text = "{schema: rf-scenario/1, name: x, summary: x, sources: [x], license: CC0-1.0, duration_s: 4, \
                radio: {ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: {file: a.csv, column: b}}, noise: {figure_db: 7}}}";
    let parsed = Scenario::parse(text, Path::new("x.yaml")).unwrap();
    let error = Channel::new(&parsed, &GRID, 1).unwrap_err().to_string();
    assert!(error.contains("Load the scenario from its file"), "{error}");
}

/// Two constant taps: |a + b·e^(−j2πfτ)|² over frequency, normalised to |a|² + |b|² = 1, calculated
/// here.
#[test]
fn taps_of_a_file_add_with_the_phases_of_their_delays() {
    let folder = tempfile::tempdir().unwrap();
    let taps = "t_s,delay_ns_1,re_1,im_1,delay_ns_2,re_2,im_2\n0,0,2,0,500,0,1\n2,0,2,0,500,0,1\n";
    fs::write(folder.path().join("taps.csv"), taps).unwrap();
    let radio = "  level: {rsrp_dbm: -50}\n  noise: {floor_dbm_per_re: -80}\n  \
                 fading: {tap_series: {file: taps.csv}}\n";
    let scenario = scenario(folder.path(), radio).unwrap();
    let channel = Channel::new(&scenario, &GRID, 1).unwrap();
    let observed = seen(&channel, 1234).sinr_db;
    let groups = observed.len();
    let width_hz = 106.0 * 12.0 * 30e3 / groups as f64;
    for (group, sinr_db) in observed.iter().enumerate() {
        let offset_hz = (group as f64 + 0.5 - groups as f64 / 2.0) * width_hz;
        let turn = -TAU * offset_hz * 500e-9; // the second tap is j·e^(j·turn)
        let power = ((2.0 - turn.sin()).powi(2) + turn.cos().powi(2)) / 5.0;
        let expected = 30.0 + 10.0 * power.log10();
        assert!(
            (f64::from(*sinr_db) - expected).abs() < 1e-3,
            "group {group}: {sinr_db}, not {expected}"
        );
    }
}

/// Halfway between a gain and its opposite the gain is zero: taps are interpolated linearly in the
/// complex plane.
#[test]
fn taps_are_interpolated_between_rows_and_into_the_next_loop() {
    let folder = tempfile::tempdir().unwrap();
    let taps = "t_s,delay_ns_1,re_1,im_1\n0,0,1,0\n2,0,-1,0\n";
    fs::write(folder.path().join("taps.csv"), taps).unwrap();
    let radio = "  level: {rsrp_dbm: -50}\n  noise: {floor_dbm_per_re: -80}\n  \
                 fading: {tap_series: {file: taps.csv}}\n";
    let scenario = scenario(folder.path(), radio).unwrap();
    let channel = Channel::new(&scenario, &GRID, 1).unwrap();
    let at = |ms| f64::from(seen(&channel, ms).sinr_db[0]);
    assert!((at(0) - 30.0).abs() < 1e-3);
    assert!((at(500) - (30.0 - 20.0 * 2f64.log10())).abs() < 1e-3);
    assert!(at(1000) <= -60.0);
    assert!((at(3500) - at(500)).abs() < 1e-3);
    assert!((at(3999) - at(4000)).abs() < 0.1);
}

#[test]
fn more_taps_than_the_model_has_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let names: String = (1..=5)
        .map(|n| format!(",delay_ns_{n},re_{n},im_{n}"))
        .collect();
    let zeros = ",0,1,0".repeat(5);
    fs::write(
        folder.path().join("taps.csv"),
        format!("t_s{names}\n0{zeros}\n"),
    )
    .unwrap();
    let radio = "  level: {rsrp_dbm: -50}\n  noise: {figure_db: 7}\n  fading: {tap_series: {file: taps.csv}}\n";
    let error = scenario(folder.path(), radio).unwrap_err();
    assert!(
        error.contains("taps.csv:1: 5 taps are given") && error.contains("merge"),
        "{error}"
    );
}

#[test]
fn a_delay_that_is_none_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let taps = "t_s,delay_ns_1,re_1,im_1,delay_ns_2,re_2,im_2\n0,0,1,0,50,1,0\n1,0,1,0,-50,1,0\n";
    fs::write(folder.path().join("taps.csv"), taps).unwrap();
    let radio = "  level: {rsrp_dbm: -50}\n  noise: {figure_db: 7}\n  fading: {tap_series: {file: taps.csv}}\n";
    let error = scenario(folder.path(), radio).unwrap_err();
    assert!(
        error.contains("taps.csv:3: -50 is not a delay between 0 and 100000 ns. Write"),
        "{error}"
    );
}
