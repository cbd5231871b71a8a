// SPDX-License-Identifier: Apache-2.0
//! Handover between cells: when each step comes, to the slot, and what happens to data.

use std::path::Path;

use crate::common::{MS, SECOND, config, link, packet};
use nr_link_model::scenario::Scenario;
use nr_link_model::{
    Direction, Ecn, EventKind, Link, Nanos, Packet, Port, RadioEvent, ResolvedConfig, UeId,
};

const UE: UeId = UeId(0);
const CORE: Port = Port::Core { ue: UE };

/// Two cells whose path losses cross: from 80 and 120 dB at the start to 120 and 80 dB after `seconds`.
fn crossing(seconds: f64) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: crossing\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\n\
         duration_s: {}\nat_end: stop\nradio:\n  ss_pbch_block_power_dbm: 10\n  level: {{path_loss_db: 0}}\n\
         \x20 noise: {{figure_db: 7}}\n  cells:\n\
         \x20 - level: {{path_loss_db: [[0, 80], [{seconds}, 120]]}}\n\
         \x20 - level: {{path_loss_db: [[0, 120], [{seconds}, 80]]}}\n",
        seconds + 60.0
    );
    Scenario::parse(&text, Path::new("crossing.yaml")).expect("valid")
}

/// A configuration with these keys of `radio.handover`, and more of `radio`.
fn handover(keys: &str, radio: &str) -> ResolvedConfig {
    let replaced = format!("mcs_table: 64qam\n  handover: {{{keys}}}\n  {radio}");
    config(&[("mcs_table: 64qam", &replaced)])
}

/// The events of one UE without traffic, without those of random access.
fn events<T>(link: &mut Link<T>, until: Nanos) -> Vec<RadioEvent> {
    link.advance(until);
    link.radio_events()
}

fn time(events: &[RadioEvent], is: impl Fn(&EventKind) -> bool) -> Nanos {
    let found = events.iter().find(|event| is(&event.kind));
    found.unwrap_or_else(|| panic!("not in {events:#?}")).time
}

/// Every step of an ordinary handover as calculated manually. The difference of both RSRPs is 40 − 8 t dB at t s (80 and 120 dB, 4 dB a
/// second each), so that the neighbour is better by 3 + 1 dB from t = 5.5 s on, and by more than that at the first
/// measurement after it.
///
/// - Without layer 3's filter a measurement at t is the mean in mW of ten SSBs, of the levels at t, t − 20 ms … t − 180 ms.
///   Over 180 ms a level changes by 0.72 dB, so the mean of powers is that at t − 90 ms but for 0.002 dB, for both alike in
///   first order: of the measurements, at multiples of 200 ms, the one at 5.4 s has 2.48 dB and the one at 5.6 s 4.08 dB. The
///   event enters at 5.6 s.
/// - Time to trigger 160 ms: the report is due at 5.76 s. That is slot 11520, the first of DDDDDDDSUU. The request goes in
///   slot 7, special, at 3.5 ms, and the gNB has it 0.5 ms after its end, at 4.5 ms: slot 9. The next slot that grants is
///   slot 16 of the next period, which grants slot 18, k2 = 2 before it, at 9 ms. It is decoded at 9.5 + 0.5 ms.
/// - Preparation 10 ms: the command goes in the downlink slot at 20 ms, and is decoded after the slot and N1, 13 symbols of
///   35.7 µs: 20.964 ms. The model acts in the slot that starts at 21 ms.
/// - RRC 10 ms, processing 20 ms: 51 ms, which is 5.811 s. The next SSB is at 5.82 s, and 2 ms margin lead to 5.822 s; the
///   next occasion of random access is at 5.83 s.
/// - The preamble goes in the first uplink slot from there: 5.83 s is the first slot of a period, so slot 8, which ends at
///   4.5 ms, detected at 5 ms. The response is in that downlink slot, decoded at 5.5 ms + 0.464; the model acts at 6 ms.
///   The completion follows N2 (12 symbols, 0.4286 ms) and 0.5 ms later, from 6.929 ms, in the next uplink slot, 18 at 9 ms,
///   and is decoded at 10 ms: 5.84 s.
#[test]
fn each_step_comes_in_the_slot_that_a_hand_calculation_gives() {
    let config = handover("l1_period_ms: 200, filter_coefficient: 0", "");
    let mut link: Link<u64> = link(&config, &crossing(10.0));
    let events = events(&mut link, 8 * SECOND);
    let at = |is: fn(&EventKind) -> bool| time(&events, is);
    assert_eq!(
        at(|kind| matches!(kind, EventKind::CellSelected { cell: 0 })),
        0
    );
    assert_eq!(
        at(|kind| matches!(
            kind,
            EventKind::MeasurementReport {
                target: Some(1),
                event: "A3",
                ..
            }
        )),
        5_760 * MS
    );
    assert_eq!(
        at(|kind| matches!(
            kind,
            EventKind::HandoverCommand {
                target: 1,
                transmissions: 1,
                ..
            }
        )),
        5_781 * MS
    );
    assert_eq!(
        at(|kind| matches!(kind, EventKind::HandoverStart { .. })),
        5_781 * MS
    );
    assert_eq!(
        at(|kind| matches!(
            kind,
            EventKind::RandomAccess {
                cell: 1,
                attempt: 1
            }
        )),
        5_830 * MS
    );
    let complete = |kind: &EventKind| {
        let EventKind::HandoverComplete {
            interruption_ns,
            processing_ns,
            synchronisation_ns,
            access_ns,
            ..
        } = *kind
        else {
            return false;
        };
        let parts = [processing_ns, synchronisation_ns, access_ns].map(|part| part / MS);
        assert_eq!((interruption_ns / MS, parts), (59, [30, 11, 18]));
        true
    };
    assert_eq!(time(&events, complete), 5_840 * MS);
    let handovers = events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::HandoverComplete { .. }));
    assert_eq!(handovers.count(), 1);
}

/// With layer 3's filter (k = 4) each measurement counts half: F = Σ M/2ⁿ lags behind a ramp by one period of 200 ms. The
/// difference that is 4 dB at 5.59 s (above) is reached a period later, so at the measurement at 5.8 s.
#[test]
fn the_filter_of_layer_3_delays_by_a_period() {
    let mut link: Link<u64> = link(&handover("filter_coefficient: 4", ""), &crossing(10.0));
    let events = events(&mut link, 8 * SECOND);
    let reported = time(&events, |kind| {
        matches!(kind, EventKind::MeasurementReport { .. })
    });
    assert_eq!(reported, 5_800 * MS + 160 * MS);
}

/// The interruption of each kind over the same crossing.
fn interruption(kind: &str) -> Nanos {
    let mut link: Link<u64> = link(&handover(&format!("kind: {kind}"), ""), &crossing(10.0));
    let events = events(&mut link, 12 * SECOND);
    let found = events.iter().find_map(|event| match event.kind {
        EventKind::HandoverComplete {
            interruption_ns, ..
        } => Some(interruption_ns),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{kind}: {events:#?}"))
}

/// Packets of L4S are on Xn, for 200 ms from 5.781 s on, when a queue management without their queue takes over.
#[test]
fn packets_on_xn_are_sent_whatever_queue_management_they_come_to() {
    let queue = |aqm: &str| format!("dl: {{packets: 3200, aqm: {aqm}}}");
    let change = format!(
        "changes:\n- {{at_s: 5.9, queue: {{{}, ul: {{packets: 3200}}}}}}\noutput:",
        queue("{codel: {}}")
    );
    let keys = "handover: {l1_period_ms: 200, filter_coefficient: 0, xn_delay_ms: 200}";
    let config = config(&[
        ("mcs_table: 64qam", &format!("mcs_table: 64qam\n  {keys}")),
        ("dl: {packets: 3200}", &queue("{dualpi2: {}}")),
        ("output:", &change),
    ]);
    let mut link: Link<u64> = link(&config, &crossing(10.0));
    link.count_changes_from(0);
    link.advance(5_700 * MS);
    for number in 0..2000 {
        link.enqueue(CORE, Packet::new(1500, Ecn::Ect1, number), 5_700 * MS);
    }
    link.advance(20 * SECOND);
    let delivered = std::iter::from_fn(|| link.dequeue()).count() as u64;
    let totals = link.totals(UE, Direction::Downlink);
    assert_eq!(delivered + totals.queue_drops, 2000);
    assert!(totals.queue_drops < 100, "{}", totals.queue_drops);
}

/// DAPS has none, LTM neither RRC nor random access in it, and a conditional handover not RRC's processing.
#[test]
fn kinds_are_ordered_by_interruption() {
    let [a3, cho, ltm, daps] = ["a3", "cho", "ltm", "daps"].map(interruption);
    assert!(
        daps == 0 && daps < ltm && ltm < cho && cho < a3,
        "{daps} {ltm} {cho} {a3}"
    );
}

#[test]
fn without_handover_the_link_fails_and_is_re_established() {
    let mut link: Link<u64> = link(&handover("kind: off", "neighbour_load: 1"), &crossing(10.0));
    let events = events(&mut link, 30 * SECOND);
    let failed = time(&events, |kind| {
        matches!(
            kind,
            EventKind::RadioLinkFailure {
                cell: 0,
                cause: "t310"
            }
        )
    });
    let back = time(&events, |kind| {
        matches!(
            kind,
            EventKind::Reestablished {
                cell: 0,
                target: 1,
                class: "too_late",
                ..
            }
        )
    });
    assert!(
        failed + 250 * MS < back && back < failed + 350 * MS,
        "{failed} {back}"
    );
}

/// A flow of numbered packets in both directions, one of each in each ms.
fn flows(link: &mut Link<u64>, until: Nanos) -> [Vec<u64>; 2] {
    let mut delivered = [Vec::new(), Vec::new()];
    let mut number = 0;
    for now in (0..until + 2 * SECOND).step_by(MS as usize) {
        link.advance(now);
        if now < until {
            for _ in 0..3 {
                link.enqueue(CORE, packet(1500, number), now);
                link.enqueue(Port::Ue(UE), packet(400, number), now);
                number += 1;
            }
        }
        while let Some(delivery) = link.dequeue() {
            let Packet { payload, .. } = delivery.packet;
            delivered[usize::from(matches!(delivery.to, Port::Core { .. }))].push(payload);
        }
    }
    delivered
}

/// Checks order and counters; returns the packets of each direction that are missing, of `sent`.
fn lost(link: &Link<u64>, delivered: &[Vec<u64>; 2], sent: u64) -> [u64; 2] {
    let directions = [Direction::Downlink, Direction::Uplink];
    [0, 1].map(|index| {
        let delivered = &delivered[index];
        assert!(
            delivered.windows(2).all(|pair| pair[0] < pair[1]),
            "reordered or doubled"
        );
        let totals = link.totals(UE, directions[index]);
        assert_eq!(totals.queue_drops + totals.path_losses, 0);
        let lost = sent - delivered.len() as u64;
        assert_eq!(
            (lost, link.contents(UE, directions[index]).packets),
            (totals.rlc_losses, 0)
        );
        lost
    })
}

#[test]
fn with_forwarding_nothing_is_lost_or_reordered() {
    for kind in ["a3", "cho", "daps", "ltm"] {
        let mut link: Link<u64> = link(&handover(&format!("kind: {kind}"), ""), &crossing(10.0));
        let delivered = flows(&mut link, 8 * SECOND);
        assert_eq!(lost(&link, &delivered, 24_000), [0, 0], "{kind}");
        let handovers = link.radio_events();
        let is_complete =
            |event: &&RadioEvent| matches!(event.kind, EventKind::HandoverComplete { .. });
        assert_eq!(handovers.iter().filter(is_complete).count(), 1, "{kind}");
    }
}

/// Without forwarding the source's queue is lost, and what reaches the source until the path is switched: the bytes that
/// the event states, no others. The uplink loses nothing, as the UE has its packets.
#[test]
fn without_forwarding_exactly_the_source_loses_its_queue() {
    let mut link: Link<u64> = link(&handover("forwarding: false", ""), &crossing(10.0));
    let delivered = flows(&mut link, 8 * SECOND);
    let lost = lost(&link, &delivered, 24_000);
    let discarded = link
        .radio_events()
        .iter()
        .find_map(|event| match event.kind {
            EventKind::DataForwarded {
                discarded_bytes,
                forwarded_bytes: 0,
                ..
            } => Some(discarded_bytes),
            _ => None,
        });
    assert_eq!((Some(lost[0] * 1500), lost[1]), (discarded, 0));
    // Three packets a ms over 59 ms of interruption and 10 ms until the path is switched.
    assert!((200..240).contains(&lost[0]), "{lost:?}");
}

/// Nothing comes behind what the handover lost, so that nothing ends the receiver's wait for it.
#[test]
fn a_ue_whose_last_data_a_handover_lost_becomes_inactive() {
    let inactive = "rrc: {inactive: {after_s: 6}}";
    let mut link: Link<u64> = link(
        &handover(
            "l1_period_ms: 200, filter_coefficient: 0, forwarding: false",
            inactive,
        ),
        &crossing(10.0),
    );
    link.advance(5_700 * MS);
    for number in 0..2000 {
        link.enqueue(CORE, packet(1500, number), 5_700 * MS);
    }
    let events = events(&mut link, 20 * SECOND);
    let complete = time(&events, |kind| {
        matches!(kind, EventKind::HandoverComplete { .. })
    });
    let released = time(&events, |kind| {
        matches!(kind, EventKind::RrcState { state: "inactive" })
    });
    assert!(
        (complete..complete + 7 * SECOND).contains(&released),
        "{released}"
    );
    assert!(std::iter::from_fn(|| link.dequeue()).count() < 2000);
}

#[test]
fn unacknowledged_mode_loses_what_was_in_transmission() {
    let mut link: Link<u64> = link(&handover("", "rlc: {mode: um}"), &crossing(10.0));
    let delivered = flows(&mut link, 8 * SECOND);
    let lost = lost(&link, &delivered, 24_000);
    assert!(lost[0] < 12 && lost[1] < 12, "{lost:?}");
}

/// The first cell is blocked for longer than T310 runs; the second one is out of reach.
const BLOCKED: &str = "{level: {path_loss_db: 90}, blockage: [{from_s: 2, to_s: 2.6, loss_db: 60}]}, \
                       {level: {path_loss_db: 160}}";
/// The second cell is blocked when the UE has the command, so that the access fails, and T304 expires.
const OUT_OF_REACH: &str = "{level: {path_loss_db: [[0, 80], [10, 120]]}}, \
                            {level: {path_loss_db: [[0, 120], [10, 80]]}, blockage: [{from_s: 5.8, to_s: 60, loss_db: 80}]}";

fn back_in_the_same_cell(
    cells: &str,
    keys: &str,
    radio: &str,
) -> (Link<u64>, [Vec<u64>; 2], Vec<RadioEvent>) {
    let text = format!(
        "schema: rf-scenario/1\nname: back\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\n\
         duration_s: 70\nat_end: stop\nradio:\n  ss_pbch_block_power_dbm: 10\n  level: {{path_loss_db: 0}}\n\
         \x20 noise: {{figure_db: 7}}\n  cells: [{cells}]\n"
    );
    let scenario = Scenario::parse(&text, Path::new("back.yaml")).expect("valid");
    let keys = format!("filter_coefficient: 0, t310_ms: 100, t304_ms: 100, {keys}");
    let mut link: Link<u64> = link(&handover(&keys, radio), &scenario);
    let delivered = flows(&mut link, 8 * SECOND);
    let events = link.radio_events();
    let is_back = |kind: &EventKind| {
        matches!(
            kind,
            EventKind::Reestablished {
                cell: 0,
                target: 0,
                ..
            }
        )
    };
    time(&events, is_back);
    (link, delivered, events)
}

/// Source and target of the re-establishment are the same: nothing crosses Xn, and the queue stays.
#[test]
fn a_connection_that_is_re_established_in_its_cell_keeps_its_data() {
    for keys in ["forwarding: true", "forwarding: false"] {
        let (link, delivered, events) = back_in_the_same_cell(BLOCKED, keys, "");
        // The queue of 3200 packets holds what comes while nothing serves.
        assert_eq!(lost(&link, &delivered, 24_000), [0, 0], "{keys}");
        let forwarded = |event: &RadioEvent| matches!(event.kind, EventKind::DataForwarded { .. });
        assert!(!events.iter().any(forwarded), "{keys}: {events:#?}");
    }
    let (link, delivered, _) =
        back_in_the_same_cell(BLOCKED, "forwarding: false", "rlc: {mode: um}");
    assert!(lost(&link, &delivered, 24_000)[0] < 100);
}

/// The source has its copies of what it forwarded, and the core still sends to it.
#[test]
fn a_ue_that_does_not_reach_the_target_comes_back_to_its_data() {
    let is_back = |kind: &EventKind| matches!(kind, EventKind::Reestablished { .. });
    let (link, delivered, events) = back_in_the_same_cell(OUT_OF_REACH, "xn_delay_ms: 30", "");
    assert_eq!(lost(&link, &delivered, 24_000), [0, 0]);
    let is_there = |kind: &EventKind| matches!(kind, EventKind::DataForwarded { target: 0, .. });
    assert_eq!(time(&events, is_there), time(&events, is_back));
    let (link, delivered, events) = back_in_the_same_cell(OUT_OF_REACH, "forwarding: false", "");
    let left = time(&events, |kind| {
        matches!(kind, EventKind::HandoverStart { .. })
    });
    // Three packets a ms while the UE is away, and those of some slots that were in transmission then.
    let away = 3 * (time(&events, is_back) - left) / MS;
    let lost = lost(&link, &delivered, 24_000);
    assert!((away..away + 20).contains(&lost[0]), "{lost:?} of {away}");
}

/// The transmitter's errors bound the SINR once, with interference and without: 1 / (1 / SNR + I / S + EVM²).
#[test]
fn interference_adds_to_the_noise_and_not_to_the_transmitters_errors() {
    for loss_db in [30.0, 40.0, 60.0, 90.0] {
        let neighbour_db = loss_db + 20.0;
        let text = format!(
            "schema: rf-scenario/1\nname: strong\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\n\
             duration_s: 60\nradio:\n  ss_pbch_block_power_dbm: 10\n  level: {{path_loss_db: 0}}\n  tx_evm_percent: 5\n\
             \x20 noise: {{floor_dbm_per_re: -120}}\n  cells: [{{level: {{path_loss_db: {loss_db}}}}}, {{level: {{path_loss_db: {neighbour_db}}}}}]\n"
        );
        let scenario = Scenario::parse(&text, Path::new("strong.yaml")).expect("valid");
        let mut link: Link<u64> = link(&handover("kind: off", "neighbour_load: 1"), &scenario);
        link.advance(SECOND);
        let seen = link
            .samples()
            .next()
            .and_then(|sample| sample.radio?.sinr_db);
        let ratio = |db: f64| 10f64.powf(db / 10.0);
        let disturbed = (ratio(-120.0) + ratio(10.0 - neighbour_db)) / ratio(10.0 - loss_db);
        let expected = -10.0 * (disturbed + 0.05f64.powi(2)).log10();
        let seen = seen.expect("measured");
        assert!(
            (seen - expected).abs() < 1e-3,
            "{loss_db}: {seen} {expected}"
        );
    }
}
