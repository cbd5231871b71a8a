// SPDX-License-Identifier: Apache-2.0
//! EN-DC: which leg carries packets when, with which delay, and that none is lost or out of order.

use std::path::Path;

use nr_link_model::scenario::Scenario;
use nr_link_model::{EventKind, Nanos, Port, Source, UeId};

use crate::common::{MS, SECOND, config, link, packet};

const DOWN: Port = Port::Core { ue: UeId(0) };
const UP: Port = Port::Ue(UeId(0));

fn scenario(changes: &str) -> Result<Scenario, nr_link_model::Problem> {
    let text = format!(
        "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\nduration_s: 6\n\
         radio: {{ss_pbch_block_power_dbm: 0, level: {{rsrp_dbm: -60}}, noise: {{sinr_db: 22}}}}\n\
         lte:\n  capacity: {{dl: {{constant_mbps: 12}}, ul: {{constant_mbps: 4}}}}\n  delay_ms: {{dl: 15, ul: 20}}\n  \
         interruption_ms: {{5t4: 60, 4t5: 40}}\n  changes: [{changes}]\n"
    );
    Scenario::parse(&text, Path::new("test.yaml"))
}

const CHANGES: &str = "{t_s: 2, to: lte}, {t_s: 4, to: nr}";

#[test]
fn the_legs_carry_what_they_can_and_lose_nothing() {
    for (from, nr_mbps, lte_mbps) in [(DOWN, 50.0, 12.0), (UP, 15.0, 4.0)] {
        let mut link = link::<u64>(&config(&[]), &scenario(CHANGES).expect("valid"));
        let mut arrived: Vec<(Nanos, u64)> = Vec::new();
        let mut number = 0;
        for now in (0..12 * SECOND).step_by(MS as usize) {
            link.advance(now);
            while link.contents(UeId(0), direction(from)).packets < 400 && now < 11 * SECOND {
                link.enqueue(from, packet(1500, number), now);
                number += 1;
            }
            arrived.extend(
                std::iter::from_fn(|| link.dequeue()).map(|one| (one.due, one.packet.payload)),
            );
        }
        let numbers: Vec<_> = arrived.iter().map(|&(_, number)| number).collect();
        assert_eq!(numbers, (0..number).collect::<Vec<_>>());
        let mbps = |from_s: f64, to_s: f64| {
            let inside = |&&(due, _): &&(Nanos, u64)| (from_s..to_s).contains(&(due as f64 / 1e9));
            arrived.iter().filter(inside).count() as f64 * 1500.0 * 8.0 / 1e6 / (to_s - from_s)
        };
        assert!(mbps(1.0, 2.0) > nr_mbps, "{}", mbps(1.0, 2.0));
        // Each slot carries a segment; of the 250 bytes of a slot at 4 Mbit/s its headers take 8.
        assert!(
            (0.96..1.0).contains(&(mbps(2.5, 4.0) / lte_mbps)),
            "{}",
            mbps(2.5, 4.0)
        );
        assert!(mbps(5.0, 6.0) > nr_mbps && mbps(10.5, 11.0) > nr_mbps);
        assert!(
            (0.96..1.0).contains(&(mbps(8.5, 10.0) / lte_mbps)),
            "the scenario loops"
        );
        // Nothing arrives from what was decoded before the change until interruption and delay are over.
        let (delay, path) = if from == DOWN { (15, 0) } else { (20, 10) };
        let silent = |due: Nanos| (2002 + path) * MS < due && due < (2060 + delay + path) * MS;
        assert!(!arrived.iter().any(|&(due, _)| silent(due)));
    }
}

#[test]
fn with_polling_lte_carries_status_reports_and_nothing_is_sent_again() {
    let polling = "link_adaptation: {olla: {bler_target: 0.1}}\n  rlc: {mode: am, t_reassembly_ms: 15, polling: \
                   {poll_pdu: 16, poll_kbyte: 25, t_poll_retransmit_ms: 45, t_status_prohibit_ms: 10}}";
    let config = config(&[("link_adaptation: {olla: {bler_target: 0.1}}", polling)]);
    for from in [DOWN, UP] {
        let mut link = link::<u64>(&config, &scenario(CHANGES).expect("valid"));
        // Blocks are under way, with reports in them, when NR is left at 2 s, and when LTE is at 4 s.
        for now in (0..4200 * MS).step_by(MS as usize) {
            link.advance(now);
            if !(2500 * MS..3900 * MS).contains(&now) {
                link.enqueue(from, packet(400, now), now);
            }
            if now == 3 * SECOND {
                let sent = link.totals(UeId(0), direction(from)).scheduled_bytes;
                link.advance(3800 * MS);
                assert_eq!(
                    link.totals(UeId(0), direction(from)).scheduled_bytes,
                    sent,
                    "{from:?}"
                );
                // LTE carries the reports on it.
                let reports = link.totals(UeId(0), opposite(from));
                assert!(
                    reports.header_bytes > 0 && reports.sdu_bytes == 0,
                    "{from:?}"
                );
            }
        }
    }
}

fn opposite(from: Port) -> nr_link_model::Direction {
    match direction(from) {
        nr_link_model::Direction::Downlink => nr_link_model::Direction::Uplink,
        nr_link_model::Direction::Uplink => nr_link_model::Direction::Downlink,
    }
}

fn direction(from: Port) -> nr_link_model::Direction {
    match from {
        Port::Core { .. } => nr_link_model::Direction::Downlink,
        Port::Ue(_) => nr_link_model::Direction::Uplink,
    }
}

/// The gNB knows nothing of the channel that it had before LTE, which was 30 dB better.
#[test]
fn after_lte_mac_of_nr_starts_over() {
    let text = "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\nduration_s: 60\n\
         radio: {ss_pbch_block_power_dbm: 10, level: {path_loss_db: [[0, 95], [1, 95], [2, 125]]}, noise: {figure_db: 7}}\n\
         lte: {capacity: {dl: {constant_mbps: 12}, ul: {constant_mbps: 4}}, delay_ms: {dl: 15, ul: 20}, \
         interruption_ms: {5t4: 60, 4t5: 40}, changes: [{t_s: 1, to: lte}, {t_s: 4, to: nr}]}\n";
    let scenario = Scenario::parse(text, Path::new("test.yaml")).expect("valid");
    for from in [DOWN, UP] {
        let mut link = link::<u64>(&config(&[]), &scenario);
        for number in 0..900 {
            link.enqueue(from, packet(1500, number), number * MS);
        }
        link.advance(4 * SECOND);
        let errors = link.totals(UeId(0), direction(from)).errors;
        for number in 0..100 {
            link.enqueue(from, packet(1500, number), 4_010 * MS); // nothing serves until 4,040 ms
        }
        link.advance(6 * SECOND);
        let totals = link.totals(UeId(0), direction(from));
        assert_eq!(
            (totals.errors, totals.sdu_count),
            (errors, 1000),
            "{from:?}"
        );
    }
}

#[test]
fn what_lte_supplies_while_a_ue_is_idle_is_lost() {
    let idle = "link_adaptation: {olla: {bler_target: 0.1}}\n  rrc: {idle: {after_s: 0.2, setup_ms: 20}, paging_cycle_frames: 32}";
    let config = config(&[("link_adaptation: {olla: {bler_target: 0.1}}", idle)]);
    let scenario = scenario("{t_s: 1, to: lte}, {t_s: 5, to: nr}").expect("valid");
    for (from, mbps) in [(DOWN, 12), (UP, 4)] {
        let mut link = link::<u64>(&config, &scenario);
        // A second after the last data LTE has supplied more than 500 kB.
        for number in 0..100 {
            link.enqueue(from, packet(1250, number), 4 * SECOND);
        }
        link.advance(5 * SECOND);
        let due: Vec<_> = std::iter::from_fn(|| link.dequeue())
            .map(|one| one.due)
            .collect();
        assert_eq!(due.len(), 100);
        let lasted = due[99] - due[0];
        assert!(lasted > 98 * (10 * MS / mbps), "{from:?}: {lasted} ns");
    }
}

#[test]
fn a_change_may_come_hours_after_the_start() {
    let text = "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\n\
         duration_s: 21600\n\
         radio: {ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -60}, noise: {sinr_db: 22}}\n\
         lte: {capacity: {dl: {constant_mbps: 12}, ul: {constant_mbps: 4}}, delay_ms: {dl: 15, ul: 20}, \
         interruption_ms: {5t4: 60, 4t5: 40}, changes: [{t_s: 3599, to: lte}, {t_s: 21599, to: nr}]}\n";
    let scenario = Scenario::parse(text, Path::new("test.yaml")).expect("valid");
    assert!(Source::of(&scenario, &config(&[])).is_ok());
}

#[test]
fn changes_are_events_and_a_column() {
    let mut link = link::<u64>(&config(&[]), &scenario(CHANGES).expect("valid"));
    link.advance(7 * SECOND);
    let events = link
        .radio_events()
        .into_iter()
        .map(|event| match event.kind {
            EventKind::LegChange { change, .. } => (event.time / MS, change),
            EventKind::LegServes { leg } => (event.time / MS, leg),
            other => panic!("{other:?}"),
        });
    let expected = [(2000, "5t4"), (2060, "lte"), (4000, "4t5"), (4040, "nr")];
    assert_eq!(events.collect::<Vec<_>>(), expected);
    assert!(link.csv_header().ends_with(",mac_technology"));
    let technology: Vec<_> = link
        .samples()
        .filter_map(|sample| sample.technology)
        .collect();
    assert_eq!(
        [199, 202, 210, 402, 410].map(|at| technology[at]),
        [2, 0, 1, 0, 2]
    );
}

#[test]
fn changes_out_of_order_are_refused() {
    for (changes, rule) in [
        (
            "{t_s: 2, to: nr}",
            "changes at 2 s to the one that serves already",
        ),
        (
            "{t_s: 2, to: lte}, {t_s: 1, to: nr}",
            "begins before the one before it is over, at 2.06 s",
        ),
        (
            "{t_s: 2, to: lte}, {t_s: 2.05, to: nr}",
            "begins before the one before it is over",
        ),
        ("{t_s: 2, to: lte}", "loops and ends with LTE"),
        (
            "{t_s: 2, to: lte}, {t_s: 6, to: nr}",
            "after the scenario's duration_s of 6 s",
        ),
    ] {
        let message = scenario(changes).expect_err(rule).to_string();
        assert!(
            message.starts_with("test.yaml:12: lte.changes: "),
            "{message}"
        );
        assert!(message.contains(rule), "{message}");
    }
}
