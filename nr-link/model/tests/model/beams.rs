// SPDX-License-Identifier: Apache-2.0
//! Beam failure, recovery and changes: when each happens, calculated manually, and when no packet arrives.

use nr_link_model::{EventKind, Port, UeId};

use crate::common::{MS, config, link, packet, scenario};

const DOWN: Port = Port::Core { ue: UeId(0) };

/// Returns the events with their times in ms, and the times in ms at which packets arrived, one sent in each ms. The beam
/// is blocked from 1003 to 2003 ms; `candidates` is the key `beams` of the scenario.
fn run(candidates: &str) -> (Vec<(EventKind, f64)>, Vec<u64>) {
    let radio = format!(
        "{{ss_pbch_block_power_dbm: 0, level: {{rsrp_dbm: -80}}, noise: {{floor_dbm_per_re: -105}}, \
         blockage: [{{from_s: 1.003, to_s: 2.003, loss_db: 40}}]{candidates}}}"
    );
    let mut link = link::<u64>(&config(&[]), &scenario(&radio));
    let mut arrived = Vec::new();
    for ms in 0..3000 {
        link.advance(ms * MS);
        link.enqueue(DOWN, packet(100, ms), ms * MS);
        arrived.extend(std::iter::from_fn(|| link.dequeue()).map(|one| one.due / MS));
    }
    let events = link.radio_events().into_iter();
    (
        events
            .map(|event| (event.kind, event.time as f64 / 1e6))
            .collect(),
        arrived,
    )
}

/// Returns whether no packet arrived in these ms.
fn silent(arrived: &[u64], from: u64, to: u64) -> bool {
    !arrived.iter().any(|at| (from..to).contains(at))
}

#[test]
fn a_report_in_time_changes_the_beam_before_it_fails() {
    let (events, arrived) = run(", beams: [{loss_db: 10}]");
    // Failure would take SSBs at 1020, 1040 and 1060 ms. The gNB has the first report that the candidate is better at
    // 1020 ms, and uses it 6 ms later.
    let change = |from, to| EventKind::BeamChange { from, to };
    assert_eq!(events, [(change(0, 1), 1026.0), (change(1, 0), 2026.0)]);
    assert!(silent(&arrived, 1015, 1026) && !silent(&arrived, 1026, 1060));
}

#[test]
fn without_a_report_in_time_recovery_takes_three_instances_and_a_random_access() {
    let (events, arrived) =
        run(", beams: [{loss_db: 10, blockage: [{from_s: 0.9, to_s: 1.05, loss_db: 40}]}]");
    // Both beams are blocked at 1020 and 1040 ms. At 1060 ms the third instance is a failure; the candidate is there. The
    // preamble is sent at 1070 ms, the answer comes five slots later, and the beam serves two slots after it.
    let failure = EventKind::BeamFailure { beam: 0 };
    let recovery = EventKind::BeamRecovery {
        from: 0,
        to: 1,
        interruption_ns: 13_500_000,
    };
    assert_eq!(events[..2], [(failure, 1060.0), (recovery, 1073.5)]);
    assert!(silent(&arrived, 1015, 1073) && !silent(&arrived, 1074, 1100));
}

#[test]
fn without_a_candidate_the_ue_waits_until_the_object_has_left() {
    let (events, _) = run(", beams: [{loss_db: 60}]");
    let EventKind::BeamRecovery {
        from,
        to,
        interruption_ns,
    } = events[1].0
    else {
        panic!("{events:?}");
    };
    // The first SSB after the blockage is at 2020 ms; beamFailureRecoveryTimer is over, so that access is
    // contention-based: 2030 ms and 17 slots.
    assert_eq!((from, to, interruption_ns), (0, 0, 978_500_000));
    assert_eq!(events[1].1, 2038.5);
    // Without candidate beams there are no events at all.
    assert!(run("").0.is_empty());
}

#[test]
fn a_ue_that_is_not_connected_changes_no_beam() {
    let radio = "{ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -80}, noise: {floor_dbm_per_re: -105}, \
                 blockage: [{from_s: 1.003, to_s: 2.003, loss_db: 40}], beams: [{loss_db: 10}]}";
    let rrc = "radio:\n  rrc: {idle: {after_s: 0.2, setup_ms: 100}, paging_cycle_frames: 32}";
    let mut link = link::<u64>(&config(&[("radio:", rrc)]), &scenario(radio));
    link.enqueue(DOWN, packet(100, 0), 0);
    for ms in 0..3000 {
        link.advance(ms * MS);
        while link.dequeue().is_some() {}
    }
    let changed = |event: &EventKind| matches!(event, EventKind::BeamChange { .. });
    assert!(!link.radio_events().iter().any(|event| changed(&event.kind)));
}
