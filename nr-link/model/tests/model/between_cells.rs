// SPDX-License-Identifier: Apache-2.0
//! UEs among several cells that sleep, are released, are served by LTE, or lose their beam: what happens when, calculated
//! manually.

use std::path::Path;

use crate::common::{MS, SECOND, config, link, packet};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, EventKind, Link, Nanos, Port, ResolvedConfig, Source, UeId};

const CORE: Port = Port::Core { ue: UeId(0) };

/// Two cells, the second of which becomes stronger at 5 s, with more lines below `radio` and beside it.
fn crossing(radio: &str, beside: &str) -> Scenario {
    cells(
        "{level: {path_loss_db: [[0, 80], [10, 120]]}}, {level: {path_loss_db: [[0, 120], [10, 80]]}}",
        radio,
        beside,
    )
}

fn cells(cells: &str, radio: &str, beside: &str) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: crossing\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\n\
         duration_s: 60\nat_end: stop\nradio:\n  ss_pbch_block_power_dbm: 10\n  level: {{path_loss_db: 0}}\n\
         \x20 noise: {{figure_db: 7}}\n  cells: [{cells}]\n{radio}{beside}"
    );
    Scenario::parse(&text, Path::new("crossing.yaml")).expect("valid")
}

/// A configuration without layer 3's filter, with these lines below `radio`.
fn unfiltered(lines: &str) -> ResolvedConfig {
    let radio = format!("mcs_table: 64qam\n  handover: {{filter_coefficient: 0}}\n  {lines}");
    config(&[("mcs_table: 64qam", &radio)])
}

/// The events of a link until a time, and when each was, ms.
fn events(link: &mut Link<u64>, until: Nanos) -> Vec<(EventKind, f64)> {
    link.advance(until);
    let events = link.radio_events().into_iter();
    events
        .map(|event| (event.kind, event.time as f64 / 1e6))
        .collect()
}

fn first(events: &[(EventKind, f64)], is: impl Fn(&EventKind) -> bool) -> f64 {
    let found = events.iter().find(|(kind, _)| is(kind));
    found.unwrap_or_else(|| panic!("not in {events:#?}")).1
}

/// The handover of `handover.rs`, whose report is at 5,760 ms, and whose command is ready at 5,780 ms. The report is sent at
/// 5,769 ms: with 20 ms the UE is still awake then, with 8 ms it is not, and the command waits for the on-duration of the next
/// long cycle, at 37 · 160 ms.
#[test]
fn the_command_waits_for_active_time_and_the_target_starts_drx_again() {
    for (inactivity_ms, command, complete) in [(20, 5_781.0, 5_840.0), (8, 5_921.0, 5_980.0)] {
        let drx = format!(
            "drx: {{on_duration_ms: 5, inactivity_ms: {inactivity_ms}, long_cycle_ms: 160}}"
        );
        let mut link = link(&unfiltered(&drx), &crossing("", ""));
        let events = events(&mut link, 8 * SECOND);
        let is_command = |kind: &EventKind| matches!(kind, EventKind::HandoverCommand { .. });
        let is_complete = |kind: &EventKind| matches!(kind, EventKind::HandoverComplete { .. });
        assert_eq!(first(&events, is_command), command, "{events:#?}");
        assert_eq!(first(&events, is_complete), complete);
        // As if the PDCCH had indicated a transmission at the completion.
        let asleep = events
            .iter()
            .find(|(kind, at)| matches!(kind, EventKind::DrxStart { .. }) && *at > complete);
        assert_eq!(
            asleep.map(|(_, at)| *at),
            Some(complete + f64::from(inactivity_ms))
        );
    }
}

/// The neighbour is better by more than the hysteresis of 1 dB from 5.125 s on. The measurement at t is that of t − 90 ms (see
/// `handover.rs`): 0.88 dB at 5.2 s, 2.48 dB at 5.4 s.
const RESELECTED: (EventKind, f64) = (EventKind::CellReselected { cell: 0, target: 1 }, 5_400.0);

fn is_handover(kind: &EventKind) -> bool {
    use EventKind::*;
    matches!(
        kind,
        MeasurementReport { .. } | HandoverCommand { .. } | HandoverComplete { .. }
    )
}

#[test]
fn a_suspended_ue_reselects_and_its_data_follows_over_xn() {
    for (rrc, forwarded) in [
        ("rrc: {inactive: {after_s: 1}}", Some(3000)),
        ("rrc: {idle: {after_s: 1, setup_ms: 50}}", None),
    ] {
        let mut link = link(&unfiltered(rrc), &crossing("", ""));
        link.enqueue(CORE, packet(1500, 0), 7 * SECOND);
        link.enqueue(CORE, packet(1500, 1), 7 * SECOND);
        let events = events(&mut link, 9 * SECOND);
        assert!(events.contains(&RESELECTED), "{events:#?}");
        assert!(!events.iter().any(|(kind, _)| is_handover(kind)));
        assert!(events.iter().any(|(kind, _)| matches!(
            kind,
            EventKind::RandomAccess {
                cell: 1,
                attempt: 1
            }
        )));
        let moved = events.iter().find_map(|(kind, _)| match kind {
            EventKind::DataForwarded {
                cell: 0,
                target: 1,
                forwarded_bytes,
                ..
            } => Some(*forwarded_bytes),
            _ => None,
        });
        assert_eq!(moved, forwarded);
        assert_eq!(std::iter::from_fn(|| link.dequeue()).count(), 2);
    }
}

#[test]
fn after_lte_the_strongest_cell_serves() {
    let lte = "lte: {capacity: {dl: {constant_mbps: 12}, ul: {constant_mbps: 4}}, delay_ms: {dl: 15, ul: 20}, \
               interruption_ms: {5t4: 60, 4t5: 40}, changes: [{t_s: 2, to: lte}, {t_s: 8, to: nr}]}";
    let mut link = link(&unfiltered(""), &crossing("", lte));
    link.enqueue(CORE, packet(1500, 0), 9 * SECOND);
    let events = events(&mut link, 10 * SECOND);
    assert!(events.contains(&RESELECTED), "{events:#?}");
    assert!(!events.iter().any(|(kind, _)| is_handover(kind)));
    let technology_and_cell = link.samples().next_back().map(|sample| {
        let mobility = sample.radio.and_then(|radio| radio.mobility);
        (sample.technology, mobility.map(|mobility| mobility.cell))
    });
    assert_eq!(technology_and_cell, Some((Some(2), Some(1))));
    assert_eq!(std::iter::from_fn(|| link.dequeue()).count(), 1);
}

/// LTE takes over between the command (5,781 ms) and the completion (5,840 ms): the target has the UE when LTE leaves it.
#[test]
fn lte_ends_a_change_of_the_secondary_cell() {
    let lte = "lte: {capacity: {dl: {constant_mbps: 12}, ul: {constant_mbps: 4}}, delay_ms: {dl: 15, ul: 20}, \
               interruption_ms: {5t4: 60, 4t5: 40}, changes: [{t_s: 5.8, to: lte}, {t_s: 8, to: nr}]}";
    let mut link = link(&unfiltered(""), &crossing("", lte));
    for number in 0..8000 {
        link.enqueue(CORE, packet(1000, number), number * MS);
    }
    let events = events(&mut link, 10 * SECOND);
    let is_complete =
        |(kind, _): &(EventKind, f64)| matches!(kind, EventKind::HandoverComplete { .. });
    assert!(!events.iter().any(is_complete), "{events:#?}");
    let is_forwarded = |kind: &EventKind| matches!(kind, EventKind::DataForwarded { .. });
    assert!(first(&events, is_forwarded) >= 5_800.0);
    let delivered = std::iter::from_fn(|| link.dequeue()).map(|one| one.packet.payload);
    assert_eq!(delivered.collect::<Vec<_>>(), (0..8000).collect::<Vec<_>>());
}

#[test]
fn daps_is_refused_where_the_nr_cells_are_secondary() {
    let lte = "lte: {capacity: {dl: {constant_mbps: 12}, ul: {constant_mbps: 4}}, delay_ms: {dl: 15, ul: 20}, \
               interruption_ms: {5t4: 60, 4t5: 40}, changes: [{t_s: 2, to: lte}, {t_s: 8, to: nr}]}";
    let daps = config(&[(
        "mcs_table: 64qam",
        "mcs_table: 64qam\n  handover: {kind: daps}",
    )]);
    let refused = Source::of(&crossing("", lte), &daps).expect_err("daps");
    let message = refused.to_string();
    assert!(
        message.starts_with("link.yaml: radio.handover.kind: DAPS"),
        "{message}"
    );
}

/// The first cell is blocked on all its beams from 2,003 ms on. SSBs at 2,020, 2,040 and 2,060 ms show three instances; no
/// candidate is above the threshold, and ten preambles, 10 ms apart, are without an answer at 2,160 ms. The cell search takes
/// 250 ms, random access begins in the next occasion, at 2,410 ms, and takes 10 ms (see `handover.rs`).
#[test]
fn a_beam_that_is_not_recovered_fails_the_link() {
    let blocked = "{level: {path_loss_db: 90}, blockage: [{from_s: 2.003, to_s: 9, loss_db: 60}]}, {level: {path_loss_db: 100}}";
    let scenario = cells(blocked, "  beams: [{loss_db: 60}]\n", "");
    let mut link = link(&unfiltered(""), &scenario);
    let events = events(&mut link, 3 * SECOND);
    let failure = EventKind::RadioLinkFailure {
        cell: 0,
        cause: "beam_failure_recovery",
    };
    let back = EventKind::Reestablished {
        cell: 0,
        target: 1,
        interruption_ns: 260 * MS,
        class: "too_late",
    };
    let expected = [
        (EventKind::BeamFailure { beam: 0 }, 2_060.0),
        (failure, 2_160.0),
        (back, 2_420.0),
    ];
    for event in expected {
        assert!(events.contains(&event), "{event:?} is not in {events:#?}");
    }
}

/// The candidate of the second cell is its strongest beam, as an object blocks the other one: the UE enters over it.
#[test]
fn a_ue_enters_a_cell_over_its_strongest_beam() {
    let blocked = "{level: {path_loss_db: [[0, 80], [10, 120]]}}, \
                   {level: {path_loss_db: [[0, 120], [10, 80]]}, blockage: [{from_s: 0, to_s: 9, loss_db: 40}]}";
    let scenario = cells(blocked, "  beams: [{loss_db: 6}]\n", "");
    let mut link = link(&unfiltered(""), &scenario);
    link.enqueue(CORE, packet(1500, 0), 7_500 * MS);
    let events = events(&mut link, 8 * SECOND);
    // 6 dB later than without: 0.75 s, at 8 dB/s.
    let complete = first(&events, |kind| {
        matches!(kind, EventKind::HandoverComplete { target: 1, .. })
    });
    assert!((6_400.0..6_800.0).contains(&complete), "{events:#?}");
    let beam = |(kind, _): &(EventKind, f64)| {
        matches!(
            kind,
            EventKind::BeamChange { .. } | EventKind::BeamFailure { .. }
        )
    };
    assert!(!events.iter().any(beam), "{events:#?}");
    let delivered: Vec<_> = std::iter::from_fn(|| link.dequeue()).collect();
    assert_eq!(delivered.len(), 1);
    assert!(delivered[0].due < 7_520 * MS);
}

/// The UE that was handed over at 5.84 s and the one that reselected at 5.4 s are in the same cell.
#[test]
fn the_capacity_of_a_ue_in_rrc_idle_is_that_of_the_cell_it_has_selected() {
    let capacity = |lines: &str| {
        let mut link: Link<u64> = link(&unfiltered(lines), &crossing("", ""));
        let by = |link: &mut Link<u64>, time| {
            link.advance(time);
            link.totals(UeId(0), Direction::Downlink).capacity_bytes
        };
        let before = by(&mut link, 6 * SECOND);
        by(&mut link, 9 * SECOND) - before
    };
    let connected = capacity("");
    for idle in [
        "rrc: {idle: {after_s: 1, setup_ms: 50}}",
        "rrc: {inactive: {after_s: 1}}",
    ] {
        let ratio = capacity(idle) / connected;
        assert!((ratio - 1.0).abs() < 1e-9, "{idle}: {ratio}");
    }
}

/// The last packets are lost with the source's queue, and the UE is released before anything comes behind them: the next
/// connection is a new bearer, which waits for none of them.
#[test]
fn a_new_connection_does_not_wait_for_what_the_one_before_lost() {
    let due = |t_reordering_ms: u32| {
        let keys = format!(
            "{{filter_coefficient: 0, forwarding: false, t_reordering_ms: {t_reordering_ms}}}"
        );
        let lines = format!("handover: {keys}\n  rrc: {{idle: {{after_s: 1, setup_ms: 50}}}}");
        let mcs = "mcs_table: 64qam";
        let config = config(&[(mcs, &format!("{mcs}\n  {lines}"))]);
        let mut link: Link<u64> = link(&config, &crossing("", ""));
        // The last ones are in the source's buffer when the UE leaves it, at 5,781 ms.
        for number in 0..4770 {
            link.enqueue(CORE, packet(1500, number), number * MS + SECOND);
        }
        for number in 4770..4800 {
            link.enqueue(CORE, packet(1500, number), 5_770 * MS);
        }
        link.advance(9 * SECOND);
        link.enqueue(CORE, packet(1500, 5000), 9 * SECOND);
        link.advance(14 * SECOND);
        let delivered: Vec<_> = std::iter::from_fn(|| link.dequeue()).collect();
        assert!(delivered.len() < 4800, "{}", delivered.len());
        let last = delivered.last().expect("some");
        assert_eq!(last.packet.payload, 5000);
        last.due
    };
    assert_eq!(due(50), due(3000));
}
