// SPDX-License-Identifier: Apache-2.0
//! Invalid configurations are rejected, with file, line, key, rule and fix.

use std::path::Path;

use nr_link_model::config::QueueLimit;
use nr_link_model::{Place, Problem, ResolvedConfig};

const VALID: &str = include_str!("../common/link.yaml");

/// Returns the problem of the valid file with one change.
fn problem(from: &str, to: &str) -> Problem {
    assert!(VALID.contains(from), "{from:?} is not in link.yaml");
    let text = VALID.replacen(from, to, 1);
    match ResolvedConfig::parse(&text, Path::new("dir/link.yaml")) {
        Ok(_) => panic!("{to:?} was accepted"),
        Err(problem) => problem,
    }
}

/// Returns the problem as text.
fn error(from: &str, to: &str) -> String {
    problem(from, to).to_string()
}

#[test]
fn the_documented_example_is_valid_and_its_files_start_at_its_folder() {
    let document = include_str!("../../../../docs/link-config.md");
    let yaml = document
        .split("```")
        .nth(1)
        .and_then(|block| block.strip_prefix("yaml\n"));
    let config = ResolvedConfig::parse(yaml.expect("a YAML block"), Path::new("run/link.yaml"))
        .expect("valid");
    assert_eq!(config.output.mac, Path::new("run/mac.csv"));
    assert_eq!(config.path.dl.delay, 10_000_000);
    assert_eq!(config.radio().unwrap().grids().next().unwrap().scs_hz, 30e3);
}

#[test]
fn the_error_for_an_unknown_bandwidth_lists_the_known_ones() {
    let message = error("prb: 106", "prb: 107");
    assert!(
        message.starts_with(
            "dir/link.yaml:7: radio.prb: 107 PRB is not a channel bandwidth at 30 kHz"
        ),
        "{message}"
    );
    assert!(
        message.contains("TS 38.101-1 table 5.3.2-1") && message.contains("106 (40 MHz)"),
        "{message}"
    );
}

#[test]
fn every_problem_names_its_line_rule_and_fix() {
    let problems = [
        (
            "numerology: 1",
            "numerology: 4",
            "dir/link.yaml:6: radio.numerology: 4",
        ),
        (
            "numerology: 1",
            "numerology: 3",
            "dir/link.yaml:7: radio.prb: FR1 has no carriers of 120 kHz",
        ),
        (
            "carrier_ghz: 3.6",
            "carrier_ghz: 9",
            "dir/link.yaml:5: radio.carrier_ghz: 9 GHz",
        ),
        ("carrier_ghz: 3.6", "carrier_ghz: .nan", "dir/link.yaml:5: "),
        (
            "DDDDDDDSUU",
            "DDDDDDDSU",
            "dir/link.yaml:8: radio.duplex: a pattern of 9 slots",
        ),
        (
            "DDDDDDDSUU",
            "DDDDDDDSXU",
            "dir/link.yaml:8: radio.duplex: 'X'",
        ),
        (
            "DDDDDDDSUU",
            "DDDDDDDDDD",
            "dir/link.yaml:8: radio.duplex: ",
        ),
        (
            "dl_symbols: 6",
            "dl_symbols: 11",
            "dir/link.yaml:8: radio.duplex: a special slot of 11 + 4",
        ),
        (
            "dl_symbols: 6",
            "dl_symbols: 255",
            "dir/link.yaml:8: radio.duplex: a special slot of 255 + 4",
        ),
        (
            "layers: {dl: 1",
            "layers: {dl: 5",
            "dir/link.yaml:9: radio.layers.dl: 5",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 1024qam",
            "dir/link.yaml:10: ",
        ),
        (
            "bler_target: 0.1",
            "bler_target: 1.1",
            "dir/link.yaml:11: radio.link_adaptation: ",
        ),
        ("delay_ms: 10.0", "delay_ms: -1", "dir/link.yaml:14: "),
        ("loss_ratio: 0.0", "loss_ratio: 2", "dir/link.yaml:14: "),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, bytes: 9000}",
            "dir/link.yaml:17: queue.dl: a queue is limited either in packets or in bytes",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {codel: {target_ms: 101}}}",
            "dir/link.yaml:17: queue.dl: 101 is not between 0.001 and 100. Write a target_ms",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {pie: {update_ms: 0}}}",
            "dir/link.yaml:17: queue.dl: 0 is not between 0.001 and 3600000. Write an update_ms",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {codel: {interval_ms: .nan}}}",
            "dir/link.yaml:17: queue.dl: NaN is not between 0.001 and 3600000. Write an interval_ms",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {pie: {target_ms: -1}}}",
            "dir/link.yaml:17: queue.dl: -1 is not between 0.001 and 3600000. Write a target_ms",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {red: {}}}",
            "dir/link.yaml:17: queue.dl.aqm: unknown value \"red\". Choose one of: codel, pie, dualpi2, step",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {step: {threshold_ms: 0}}}",
            "dir/link.yaml:17: queue.dl: 0 is not between 0.001 and 3600000. Write a threshold_ms",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {step: {threshold_packets: 0}}}",
            "dir/link.yaml:17: queue.dl: a threshold of 0 packets marks all packets. Write at least 1",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {step: {threshold_ms: 1, threshold_packets: 20}}}",
            "dir/link.yaml:17: queue.dl: a step has one threshold. Write one of",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {step: {ecn: false}}}",
            "dir/link.yaml:17: queue.dl: a step threshold marks packets and never drops them. Leave out ecn",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 0}",
            "dir/link.yaml:17: queue.dl: ",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {bytes: 100}",
            "dir/link.yaml:17: queue.dl: ",
        ),
        (
            "interval_ms: 10",
            "interval_ms: 0.1",
            "dir/link.yaml:19: samples.interval_ms: ",
        ),
        (
            "mtu_bytes: 1500",
            "mtu_bytes: 100000",
            "dir/link.yaml:3: mtu_bytes: ",
        ),
        (
            "ue: [{name: ue1}]",
            "ue: []",
            "dir/link.yaml:22: devices.ue: ",
        ),
        (
            "name: n6",
            "name: a-name-that-is-too-long",
            "dir/link.yaml:21: devices.core: ",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  rlc: {t_reassembly_ms: -1}",
            "dir/link.yaml:11: radio.rlc.t_reassembly_ms: ",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  csi: {delay_slots: 100000}",
            "dir/link.yaml:11: radio.csi.delay_slots: ",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  uplink: {pcmax_dbm: .nan}",
            "dir/link.yaml:11: radio.uplink.pcmax_dbm: NaN ",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  scheduler: fifo",
            "dir/link.yaml:11: ",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  scheduler: {proportional_fair: {window_slots: 0}}",
            "dir/link.yaml:11: radio.scheduler: 0 is not between 1 and ",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  secondary:\n    - {prb: 24}\n    - {prb: 25}",
            "dir/link.yaml:13: radio.secondary.prb: 25 PRB is not a channel bandwidth",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  secondary: [{count: 16}]",
            "dir/link.yaml:11: radio.secondary.count: 16 is not between 1 and 15. Use at most 16 component",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  secondary: [{carrier_ghz: 28}]",
            "dir/link.yaml:11: radio.secondary.prb: FR2 has no carriers of 30 kHz",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  secondary: [{numerology: 4}]",
            "dir/link.yaml:11: radio.secondary.numerology: 4 is not 0, 1, 2 or 3",
        ),
        (
            "mcs_table: 64qam",
            "mcs_table: 64qam\n  secondary: [{numerology: 2, prb: 107}, {numerology: 0, duplex: {tdd: {pattern: DDDSUU}}}]",
            "dir/link.yaml:11: radio.secondary.duplex: a pattern of 6 slots lasts 6 ms",
        ),
        (
            "layers: {dl: 1, ul: 1}",
            "layers: {dl: 1, ul: 1}\n  rank: best",
            "dir/link.yaml:10: ",
        ),
        (
            "layers: {dl: 1, ul: 1}",
            "layers: {dl: 1, ul: 1}\n  layer_isolation_db: .nan",
            "dir/link.yaml:10: radio.layer_isolation_db: NaN is not between 0 and 100. Write an isolation",
        ),
        (
            "{olla: {bler_target: 0.1}}",
            "{oai: {bler_lower: 0.2}}",
            "dir/link.yaml:11: radio.link_adaptation: bler_lower 0.2 and bler_upper 0.15",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {dualpi2: {coupling: 0}}}",
            "dir/link.yaml:17: queue.dl: 0 is not between 0.1 and 100. Write a coupling",
        ),
        (
            "dl: {packets: 3200}",
            "dl: {packets: 3200, aqm: {dualpi2: {l4s_min_ms: .nan}}}",
            "dir/link.yaml:17: queue.dl: NaN is not between 0 and ",
        ),
        (
            "dl: {delay_ms: 10.0",
            "dl: {cross_traffic: {rate_mbps: 5}, delay_ms: 10.0",
            "dir/link.yaml:14: path.dl.cross_traffic: the path has no limited rate, which cross_traffic needs. ",
        ),
        (
            "dl: {delay_ms: 10.0",
            "dl: {rate_mbps: 1e9, delay_ms: 10.0",
            "dir/link.yaml:14: path.dl.rate_mbps: ",
        ),
        (
            "dl: {delay_ms: 10.0",
            "dl: {rate_mbps: 1, queue: {bytes: 3}, delay_ms: 10.0",
            "dir/link.yaml:14: path.dl.queue: a queue of 3 bytes is smaller",
        ),
        (
            "dl: {delay_ms: 10.0",
            "dl: {bit_error_ratio: 1.5, delay_ms: 10.0",
            "dir/link.yaml:14: ",
        ),
        ("seed: 1", "seed: 1\nsede: 2", "dir/link.yaml:3: "),
        (
            "schema: nr-link/1",
            "schema: nr-link/2",
            "dir/link.yaml:1: ",
        ),
    ];
    for (from, to, place) in problems {
        let problem = problem(from, to);
        let text = problem.to_string();
        assert!(text.starts_with(place), "{to:?}: {text}");
        assert!(!problem.fix.is_empty(), "no fix for {to:?}: {text}");
        assert!(problem.place.key.is_some(), "no key for {to:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn the_largest_example_is_valid() {
    let text = include_str!("../../../fuzz/seeds/link_config/several-ues.yaml");
    let config = ResolvedConfig::parse(text, Path::new("link.yaml")).expect("valid");
    let carriers = &config.radio().expect("there is one").carriers;
    assert_eq!(carriers.len(), 8);
    assert_eq!((carriers[6].prb, carriers[7].prb), (264, 132));
    assert!(carriers[6].uplink && !carriers[7].uplink);
    let line = config.path.ul.line.expect("a rate");
    assert_eq!(line.limit, QueueLimit::Bytes(150_000));
    assert_eq!(line.cross.expect("others").bits_per_s, 5_000_000);
}

#[test]
fn a_ue_may_have_its_own_settings() {
    let ues = "ue: [{name: ue1}, {name: ue2, addresses: [10.60.0.3, 'fd60::3'], scenario: far.yaml, queue: {dl: {bytes: 9000}, ul: {packets: 9}}}]";
    let text = VALID.replace("ue: [{name: ue1}]", ues);
    let config = ResolvedConfig::parse(&text, Path::new("dir/link.yaml")).expect("valid");
    let [first, second] = &config.ues[..] else {
        panic!("two UEs");
    };
    assert_eq!(first.scenario, Path::new("dir/scenario.yaml"));
    assert_eq!(second.scenario, Path::new("dir/far.yaml"));
    assert_eq!(second.addresses.len(), 2);
    assert_eq!(first.queue.dl.limit, QueueLimit::Packets(3200));
    assert_eq!(second.queue.dl.limit, QueueLimit::Bytes(9000));
}

#[test]
fn a_problem_of_one_of_several_ues_has_the_line_of_that_ue() {
    let problems = [
        (
            "{name: ue2, addresses: [10.0.0.2]}",
            "devices.ue.addresses: 10.0.0.2 is also an address of ue1. ",
        ),
        (
            "{name: ue2, queue: {dl: {packets: 0}, ul: {packets: 1}}}",
            "devices.ue.queue.dl: ",
        ),
        (
            "{name: a/b}",
            "devices.ue: \"a/b\" is not an interface name. ",
        ),
        (
            "{name: ue2, addresses: [10.0.0.256]}",
            "devices.ue.addresses: ",
        ),
        (
            "{name: ue2, adresses: []}",
            "devices.ue.adresses: unknown key",
        ),
    ];
    for (entry, complaint) in problems {
        let ues = format!("ue:\n    - {{name: ue1, addresses: [10.0.0.2]}}\n    - {entry}");
        let message = error("ue: [{name: ue1}]", &ues);
        assert!(
            message.starts_with(&format!("dir/link.yaml:24: {complaint}")),
            "{message}"
        );
    }
}

#[test]
fn a_problem_is_a_value_with_file_line_key_rule_and_fix() {
    let place = Place {
        file: Some("dir/link.yaml".into()),
        line: Some(8),
        key: Some("radio.duplex.tdd.special.dl_symbols".into()),
    };
    let Problem {
        place: found,
        rule,
        fix,
    } = problem("dl_symbols: 6", "dl_symbols: six");
    assert_eq!(found, place);
    assert_eq!(rule, "the value is not a whole number in the allowed range");
    assert!(fix.starts_with("Write"), "{fix}");
}

#[test]
fn a_missing_file_is_named() {
    let message = ResolvedConfig::load(Path::new("no/such.yaml"))
        .expect_err("absent")
        .to_string();
    assert!(
        message.starts_with("no/such.yaml: cannot be read"),
        "{message}"
    );
}

#[test]
fn values_that_the_standard_does_not_have_are_refused_with_those_that_it_has() {
    let refused = |lines: &str, key: &str, rule: &str| {
        let message = error(
            "  mcs_table: 64qam",
            &format!("  mcs_table: 64qam\n  {lines}"),
        );
        let place = format!(": {key}: ");
        assert!(message.starts_with("dir/link.yaml:"), "{message}");
        assert!(
            message.contains(&place) && message.contains(rule),
            "{message}"
        );
    };
    let drx = |keys: &str| format!("drx: {{on_duration_ms: 10, inactivity_ms: 20, {keys}}}");
    refused(
        &drx("long_cycle_ms: 300"),
        "radio.drx.long_cycle_ms",
        "Choose one of [10, 20, 32",
    );
    refused(
        &drx("long_cycle_ms: 10"),
        "radio.drx.on_duration_ms",
        "never sleeps",
    );
    refused(
        &drx("long_cycle_ms: 160, start_offset_ms: 160"),
        "radio.drx.start_offset_ms",
        "160 is not between 0 and 159",
    );
    refused(
        &drx("long_cycle_ms: 160, short: {cycle_ms: 64, cycles: 2}"),
        "radio.drx.short.cycle_ms",
        "not a multiple of the short cycle",
    );
    refused(
        "drx: {on_duration_ms: 7, inactivity_ms: 20, long_cycle_ms: 40}",
        "radio.drx.on_duration_ms",
        "7 ms is not a drx-onDurationTimer",
    );
    refused(
        "rrc: {inactive: {after_s: 9}, idle: {after_s: 8, setup_ms: 100}}",
        "radio.rrc.idle.after_s",
        "RRC_IDLE begins before RRC_INACTIVE",
    );
    refused(
        "rrc: {paging_cycle_frames: 100}",
        "radio.rrc.paging_cycle_frames",
        "PagingCycle",
    );
    refused(
        "rrc: {inactive: {after_s: 9}}\n  gnb_profile: oai-2026.w11",
        "radio.rrc",
        "neither sleep nor leave",
    );
    let polling = "rlc: {polling: {t_poll_retransmit_ms: 45, t_status_prohibit_ms: 12}}";
    refused(
        polling,
        "radio.rlc.polling.t_status_prohibit_ms",
        "a multiple of 5 from 0 to 250",
    );
    let um = "rlc: {mode: um, polling: {t_poll_retransmit_ms: 45, t_status_prohibit_ms: 10}}";
    refused(
        um,
        "radio.rlc.polling",
        "unacknowledged mode has no polling",
    );
}
