// SPDX-License-Identifier: Apache-2.0
//! The files of `rf-scenarios/` are valid, and invalid files are rejected with line, key, rule and
//! fix.

use std::fs;
use std::path::{Path, PathBuf};

use nr_link_model::channel::{Channel, Observation};
use nr_link_model::radio::Grid;
use nr_link_model::scenario::{Rate, Scenario};

/// Lines 1 to 9 of a valid file; tests append invalid lines.
const HEAD: &str = "\
schema: rf-scenario/1
name: x
summary: x
sources: [x]
license: CC0-1.0
duration_s: 60
radio:
  ss_pbch_block_power_dbm: 0
  noise: {figure_db: 7}
";

fn error_message(text: &str) -> String {
    let file = Path::new("x.yaml");
    Scenario::parse(text, file)
        .expect_err("accepted")
        .to_string()
}

fn error_message_below(radio: &str) -> String {
    error_message(&format!("{HEAD}{radio}"))
}

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rf-scenarios");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect()
}

#[test]
fn a_valid_file_is_accepted() {
    assert!(
        Scenario::parse(
            &format!("{HEAD}  level: {{rsrp_dbm: -80}}\n"),
            Path::new("x")
        )
        .is_ok()
    );
}

#[test]
fn every_shipped_scenario_is_read_and_named_after_its_file() {
    assert!(shipped().len() >= 2);
    for file in shipped() {
        let scenario = Scenario::load(&file).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            file.file_stem().unwrap().to_str(),
            Some(scenario.name.as_str())
        );
    }
}

/// Checks each scenario on the carrier for which it was written.
#[test]
fn every_shipped_scenario_repeats_without_a_discontinuity() {
    for file in shipped() {
        let scenario = Scenario::load(&file).unwrap();
        let Some(radio) = &scenario.radio else {
            continue;
        };
        let carrier_hz = radio.carrier_ghz.map_or(3.6, |range| range.min.get()) * 1e9;
        let grid = Grid {
            carrier_hz,
            scs_hz: 30e3,
            prb: 106,
        };
        let cells = Channel::to_cells(&scenario, &[grid], 1);
        let cells = cells.unwrap_or_else(|error| panic!("{error}"));
        let end = (scenario.duration_s.get() * 1e9) as u64;
        for channel in cells.iter().flatten() {
            let (mut before, mut after) = (Observation::default(), Observation::default());
            channel.observe(end - 1, &mut before);
            channel.observe(end, &mut after);
            let silent = after.rsrp_dbm <= -156.0;
            let pairs = before.sinr_db.iter().zip(&after.sinr_db);
            let jump = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(silent || jump < 0.01, "{}: {jump} dB", file.display());
        }
    }
}

#[test]
fn every_scenario_is_shown_in_the_documentation() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = fs::read_to_string(docs.join("scenarios.md")).unwrap();
    for file in shipped() {
        let name = Scenario::load(&file).unwrap().name;
        let figure = format!("scenarios/{name}.svg");
        assert!(
            docs.join(&figure).is_file(),
            "{figure}: run rf-scenarios/draw_figures.py"
        );
        assert!(
            page.contains(&format!("| [{name}]({figure}) |")),
            "no row of {name}"
        );
    }
}

#[test]
fn invalid_keys_are_rejected() {
    let good = format!("{HEAD}  level: {{rsrp_dbm: -80}}\n");
    let invalid = [
        (
            good.replace("rf-scenario/1", "rf-scenario/9"),
            "x.yaml:1: schema: unknown value \"rf-scenario/9\". Choose one of: rf-scenario/1",
        ),
        (
            good.replace("summary: x\n", ""),
            "x.yaml:6: the key summary is missing. Add it",
        ),
        (
            good.replace("sources: [x]", "sources: []"),
            "x.yaml:4: sources: there is no source. State where",
        ),
        (
            good.replace("duration_s: 60", "duration_s: -60"),
            "x.yaml:6: duration_s: -60 is not a number above 0. Write",
        ),
        (
            good.replace("duration_s: 60", "duration_s: 1e9"),
            "x.yaml:6: duration_s: 1000000000 s is not between 0.001 and 21600 s. Use",
        ),
        (
            good.replace("duration_s: 60", "duration_s: 1e-10"),
            "x.yaml:6: duration_s: 0.0000000001 s is not between 0.001 and 21600 s. Use",
        ),
        (
            good.replace("duration_s: 60", "duration_s: .nan"),
            "x.yaml:6: duration_s: NaN is not a number above 0. Write",
        ),
        (
            good.replace("duration_s: 60", "duration_s: 1 min"),
            "x.yaml:6: duration_s: the value is not a number. Write",
        ),
        (
            good.replace("  noise: {", "  noize: {"),
            "x.yaml:9: radio.noize: unknown key \"noize\". Correct",
        ),
        (
            good.replace("figure_db: 7", "figure_db: 7, sinr_db: 3"),
            "x.yaml:9: radio.noise.figure_db: several alternatives are given, and only one is allowed. Keep one",
        ),
        (
            format!("{good}name: y\n"),
            "x.yaml:11: the key name occurs twice. Keep one",
        ),
        (
            format!("{good}capacity: {{dl: {{constant_mbps: 1}}, ul: {{constant_mbps: 1}}}}\n"),
            "x.yaml:11: capacity: a scenario has either radio or capacity, and this one has both. Remove one",
        ),
        (
            HEAD.lines().take(6).collect::<Vec<_>>().join("\n"),
            "x.yaml:1: schema: a scenario has either radio or capacity, and this one has neither. Add one",
        ),
        ("time,value\n1,2\n".into(), "x.yaml:1: "),
        (String::new(), "x.yaml"),
    ];
    for (text, expected) in invalid {
        let message = error_message(&text);
        assert!(
            message.starts_with(expected),
            "{message}\nis not\n{expected}"
        );
        assert!(message.contains(". "), "no fix: {message}");
    }
}

#[test]
fn invalid_numbers_are_rejected() {
    let invalid = [
        (
            "  level: {rsrp_dbm: [[0, -80], [2, -81], [1, -82]]}",
            "x.yaml:10: radio.level.rsrp_dbm: the time 1 s does not come after 2 s. Sort",
        ),
        (
            "  level:\n    rsrp_dbm:\n      - [0, -80]\n      - [1, .nan]",
            "x.yaml:13: radio.level.rsrp_dbm: NaN is not a finite number. Write",
        ),
        (
            "  level: {rsrp_dbm: [[0, -80], [60, -81]]}",
            "x.yaml:10: radio.level: the time 60 s is not within duration_s, which is 60 s. Increase",
        ),
        (
            "  level: {rsrp_dbm: [[-1, -80]]}",
            "x.yaml:10: radio.level.rsrp_dbm: the time -1 s is before the start of the scenario. Count",
        ),
        (
            "  level: {rsrp_dbm: []}",
            "x.yaml:10: radio.level.rsrp_dbm: a series has no points. Write",
        ),
        (
            "  level: {rsrp_dbm: [[0, -80], [1, 8e8]]}",
            "x.yaml:10: radio.level: 800000000 is not a level between -300 and 300 dB. Write",
        ),
        (
            "  level: {rsrp_dbm: .inf}",
            "x.yaml:10: radio.level.rsrp_dbm: .inf is not a finite number. Write",
        ),
        (
            "  level: {rsrp_dbm: -80}\n  shadowing: {std_db: -3, decorrelation_m: 10}",
            "x.yaml:11: radio.shadowing.std_db: -3 is not a number of dB between 0 and 300. Write",
        ),
        (
            "  level: {rsrp_dbm: -80}\n  shadowing: {std_db: 3, decorrelation_m: 0}",
            "x.yaml:11: radio.shadowing.decorrelation_m: 0 is not a number above 0. Write",
        ),
        (
            "  level: {rsrp_dbm: -80}\n  mobility: {speed_mps: -1}",
            "x.yaml:11: radio.mobility.speed_mps: -1 is not a number of 0 or above",
        ),
        (
            "  level: {rsrp_dbm: -80}\n  blockage: [{from_s: 5, to_s: 61, loss_db: 9}]",
            "x.yaml:11: radio.blockage: the blockage ends at 61 s, after",
        ),
        (
            "  level: {rsrp_dbm: -80}\n  blockage: [{from_s: 5, to_s: 4, loss_db: 9}]",
            "x.yaml:11: radio.blockage: the blockage ends at 4 s, and does not begin before 5 s. ",
        ),
        (
            "  level: {rsrp_dbm: -80}\n  blockage: [{from_s: 5, to_s: 6, loss_db: 9, ramp_s: 1}]",
            "x.yaml:11: radio.blockage: two ramps of 1 s do not fit in a blockage of 1 s. ",
        ),
    ];
    for (radio, expected) in invalid {
        let message = error_message_below(radio);
        assert!(
            message.starts_with(expected),
            "{message}\nis not\n{expected}"
        );
    }
}

#[test]
fn invalid_taps_and_routes_are_rejected() {
    let taps = |list: &str| format!("  level: {{rsrp_dbm: -80}}\n  fading:\n    taps:\n{list}");
    let tap = |delay: i32| format!("      - {{delay_ns: {delay}, power_db: 0}}\n");
    let five: String = (0..5).map(tap).collect();
    let far = "      - {delay_ns: 1e9, power_db: 0}\n".to_owned();
    for (list, expected) in [
        (
            far,
            "x.yaml:13: radio.fading.taps.delay_ns: 1000000000 is not a delay between 0 and 100000 ns. Write",
        ),
        (
            five,
            "x.yaml:13: radio.fading.taps: 5 taps are given, and 1 to 4 are allowed. Merge",
        ),
        (
            tap(9) + &tap(3),
            "x.yaml:13: radio.fading.taps: the taps are not sorted by delay. List",
        ),
    ] {
        let message = error_message_below(&taps(&list));
        assert!(message.starts_with(expected), "{message}");
    }
    let route = "  level: {rsrp_dbm: -80}\n  mobility: {route: [{t_s: 0, x_m: 9, y_m: 0}, {t_s: 9, x_m: 99, y_m: 0}]}";
    let message = error_message_below(route);
    assert!(
        message.starts_with("x.yaml:11: radio.mobility: the scenario loops, and the route does not end where it begins. End"),
        "{message}"
    );
    let placeless = "  level: {tr38901: {environment: umi, gnb: {height_m: 10}, ue_height_m: 1.5}}";
    assert!(error_message_below(placeless).contains("needs the UE's position. Write a route"));
}

#[test]
fn invalid_capacity_is_rejected() {
    let head: String = HEAD
        .lines()
        .take(6)
        .map(|line| format!("{line}\n"))
        .collect();
    let refused = |dl: &str| {
        error_message(&format!(
            "{head}capacity:\n  dl: {dl}\n  ul: {{constant_mbps: 9}}\n"
        ))
    };
    assert!(
        refused("{constant_mbps: -9}")
            .starts_with("x.yaml:8: capacity.dl.constant_mbps: -9 is not a number of 0 or above")
    );
    assert!(
        refused("{steps_mbps: [[0, 9], [1, -9]]}")
            .starts_with("x.yaml:8: capacity.dl: -9 Mbit/s at 1 s is negative. Write 0")
    );
    assert!(refused("{constant_mbps: 1e7}").starts_with(
        "x.yaml:8: capacity.dl: 10000000 Mbit/s at 0 s is more than 1000000. Write a rate"
    ));
    assert!(
        refused("{steps_mbps: [[1, 9]]}")
            .starts_with("x.yaml:8: capacity.dl: the first step is not at 0 s. Begin")
    );
    let text = format!(
        "{head}capacity:\n  dl: {{trace: {{file: t.up, format: mahimahi}}}}\n  ul: {{constant_mbps: 9}}\n"
    );
    let scenario = Scenario::parse(&text, Path::new("/there/x.yaml")).unwrap();
    let Rate::Trace(trace) = scenario.capacity.unwrap().dl else {
        panic!("no trace")
    };
    assert_eq!(trace.file, Path::new("/there/t.up"));
}

#[test]
fn files_that_are_not_scenarios_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.yaml");
    let refused = |path: &Path| Scenario::load(path).expect_err("accepted").to_string();
    assert!(refused(&file).contains("cannot be read"));
    fs::write(&file, [0xff, 0xfe, 0]).unwrap();
    assert!(refused(&file).contains("cannot be read"));
    fs::File::create(&file).unwrap().set_len(10 << 30).unwrap(); // sparse
    assert!(refused(&file).contains("bytes, more than"));
}
