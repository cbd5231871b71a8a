// SPDX-License-Identifier: Apache-2.0
//! DRX and RRC states: when a packet is delivered, calculated manually, to the slot.

use nr_link_model::samples::ActivitySample;
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, EventKind, Link, Nanos, Port, Source, UeId};
use proptest::prelude::*;

use crate::common::{MS, SECOND, config, drain, flat, link, packet, saturate, scenario};

const DOWN: Port = Port::Core { ue: UeId(0) };
const UP: Port = Port::Ue(UeId(0));
const SLOT: Nanos = 500_000;
/// Decoding of a UE, N1 of 20 symbols at 30 kHz: TS 38.214 table 5.3-1 with additional DM-RS.
const N1: Nanos = 13 * SLOT / 14;

/// Makes a link in FDD without path and errors, with more lines of `radio`.
fn idle_link(lines: &str) -> Link<u64> {
    idle_link_at(40.0, lines)
}

/// Makes such a link with errors below a few dB.
fn idle_link_at(sinr_db: f64, lines: &str) -> Link<u64> {
    let fdd = format!("duplex: fdd\n  {lines}");
    let config = config(&[
        (
            "duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}",
            &fdd,
        ),
        ("delay_ms: 10.0", "delay_ms: 0"),
        ("delay_ms: 10.0", "delay_ms: 0"),
        (
            "link_adaptation: {olla: {bler_target: 0.1}}",
            "link_adaptation: {fixed_mcs: 4}",
        ),
    ]);
    link(&config, &flat(sinr_db))
}

/// Sends a small packet at each time and returns when each was delivered.
fn delivered(link: &mut Link<u64>, from: Port, times: &[Nanos]) -> Vec<Nanos> {
    let mut due = Vec::new();
    for &at in times {
        link.enqueue(from, packet(100, 0), at);
        while due.len() < times.len() && link.next_event().at < at + 3 * SECOND {
            link.advance(link.next_event().at);
            if let Some(delivery) = link.dequeue() {
                due.push(delivery.due);
                break;
            }
        }
    }
    due
}

/// Returns the events of a link: what, and when in ms.
fn log(link: &mut Link<u64>) -> Vec<(&'static str, f64)> {
    let events = link.radio_events().into_iter().map(|event| {
        let what = match event.kind {
            EventKind::DrxStart { cycle } => cycle,
            EventKind::DrxEnd {} => "awake",
            EventKind::Paging {} => "paging",
            EventKind::RandomAccess { .. } => "preamble",
            EventKind::RrcState { state } => state,
            other => panic!("{other:?}"),
        };
        (what, event.time as f64 / 1e6)
    });
    events.collect()
}

/// When a packet that is sent in the slot that starts at so many ms is delivered.
fn decoded(slot_ms: f64) -> Nanos {
    (slot_ms * 1e6) as Nanos + SLOT + N1
}

const DRX: &str = "drx: {on_duration_ms: 10, inactivity_ms: 20, long_cycle_ms: 160, start_offset_ms: 5, \
                   short: {cycle_ms: 40, cycles: 2}}";

#[test]
fn a_packet_waits_for_the_next_on_duration_of_the_cycle_in_use() {
    let mut link = idle_link(DRX);
    // On-durations start at 5 ms modulo 160 in long cycles, modulo 40 in the two short ones after each packet.
    let sent = [1008.0, 1150.0, 1206.2, 1290.0, 1500.0].map(|ms| (ms * 1e6) as Nanos);
    let due = delivered(&mut link, DOWN, &sent);
    // 1: long, 965 + 160. 2: after 1125 + 20 ms, short until 1225 ms. 3: within 1205 to 1215 ms, in the next slot. 4:
    // within 1285 to 1295 ms. 5: short until 1390 ms, then long.
    assert_eq!(due, [1125.0, 1165.0, 1206.5, 1290.0, 1605.0].map(decoded));
    let cycles: Vec<_> = log(&mut link)
        .into_iter()
        .filter(|(_, ms)| *ms < 1210.0)
        .collect();
    let expected = [
        ("short", 20.0),
        ("long", 100.0),
        ("awake", 1125.0),
        ("short", 1145.5), // the timer starts after the PDCCH, 1/14 slot later
        ("awake", 1165.0),
        ("short", 1185.5),
        ("awake", 1206.5),
    ];
    assert_eq!(cycles, expected);
}

#[test]
fn uplink_data_wakes_a_ue() {
    let sent = [1008 * MS, 1600 * MS];
    let [sleeping, awake] = [DRX, ""].map(|lines| delivered(&mut idle_link(lines), UP, &sent));
    assert_eq!((sleeping.len(), &sleeping), (2, &awake));
}

/// In the default pattern, slots 6 and 7 of ten grant the uplink slots 8 and 9. On-durations of 1 ms are over before.
const WITHOUT_GRANTS: &str = "drx: {on_duration_ms: 1, inactivity_ms: 0, long_cycle_ms: 10, retransmission_slots: {dl: 0, ul: 0}}";

#[test]
fn a_ue_whose_report_is_not_answered_sends_a_request_when_retx_bsr_timer_expires() {
    let mcs = "mcs_table: 64qam";
    let config = config(&[(mcs, &format!("{mcs}\n  {WITHOUT_GRANTS}"))]);
    let mut link = link(&config, &flat(40.0));
    // The grant of the first request has room for one of these packets and for a report of the others.
    for number in 0..3 {
        link.enqueue(UP, packet(400, number), SECOND);
    }
    link.advance(2 * SECOND);
    let due: Vec<_> = std::iter::from_fn(|| link.dequeue())
        .map(|one| one.due - SECOND)
        .collect();
    assert_eq!(due.len(), 3);
    assert!(due[0] < 30 * MS && due[2] > 80 * MS, "{due:?}");
}

#[test]
fn on_durations_without_a_downlink_slot_are_refused() {
    let mcs = "mcs_table: 64qam";
    let refused = |offset_ms: u64| {
        let drx = format!(
            "{mcs}\n  drx: {{on_duration_ms: 1, inactivity_ms: 0, long_cycle_ms: 10, start_offset_ms: {offset_ms}}}"
        );
        let source = Source::of(&flat(40.0), &config(&[(mcs, &drx)]));
        source.err().map(|problem| problem.to_string())
    };
    // The uplink slots of the default pattern start after 4 ms.
    assert_eq!(refused(3), None);
    let message = refused(4).expect("refused");
    let place = "link.yaml: radio.drx.on_duration_ms: no on-duration has a downlink slot";
    assert!(message.starts_with(place), "{message}");
}

const RRC: &str = "rrc: {inactive: {after_s: 1, resume_ms: 10}, idle: {after_s: 5, setup_ms: 100}, \
                   paging_cycle_frames: 32, prach_period_ms: 20, random_access_ms: 15}";

#[test]
fn an_inactive_ue_is_paged_and_resumes_by_random_access() {
    let mut link = idle_link(RRC);
    let due = delivered(&mut link, DOWN, &[2008 * MS, 8001 * MS]);
    // The RNTI is 0x4601, so that its paging frames are 1, 33, … of 32: 225 is the first after 2008 ms. PRACH at 2260
    // ms, 15 ms to Msg4, 10 ms to resume. From RRC_IDLE: frame 801, PRACH at 8020 ms, 115 ms, and 4 slots until the gNB has a
    // report of CSI.
    assert_eq!(due, [2285.0, 8137.0].map(decoded));
    let expected = [
        ("inactive", 1000.0),
        ("paging", 2250.0),
        ("preamble", 2260.0),
        ("connected", 2285.0),
        // Released 1 s and 5 s after the slot that carried the packet.
        ("inactive", 3285.0),
        ("idle", 7285.0),
        ("paging", 8010.0),
        ("preamble", 8020.0),
        ("connected", 8135.0),
    ];
    assert_eq!(log(&mut link), expected);
}

#[test]
fn a_preamble_is_not_sent_in_the_frame_of_the_paging() {
    let often = RRC.replace("prach_period_ms: 20", "prach_period_ms: 10");
    let mut link = idle_link(&often);
    delivered(&mut link, DOWN, &[2008 * MS]);
    let paged = [("paging", 2250.0), ("preamble", 2260.0)];
    assert_eq!(log(&mut link)[1..3], paged);
}

/// The gNB need not wait for an on-duration, as short as it may be, to know the channel.
#[test]
fn a_connection_begins_with_a_report() {
    let drx = "drx: {on_duration_ms: 0.5, inactivity_ms: 0, long_cycle_ms: 80, start_offset_ms: 8, \
               harq_rtt_symbols: {dl: 0, ul: 0}, retransmission_slots: {dl: 0, ul: 0}}";
    let rrc = "rrc: {idle: {after_s: 0.2, setup_ms: 100}, paging_cycle_frames: 32}";
    let mut link = idle_link(&format!("{drx}\n  {rrc}"));
    // Paging in 4170 ms, a preamble in 4180 ms, connected in 4295 ms.
    let due = delivered(&mut link, DOWN, &[4000 * MS]);
    assert_eq!(due, [decoded(4328.0)]);
}

#[test]
fn uplink_data_of_an_inactive_ue_waits_for_random_access_only() {
    let due = delivered(&mut idle_link(RRC), UP, &[4008 * MS]);
    assert_eq!(due, delivered(&mut idle_link(""), UP, &[4045 * MS]));
}

#[test]
fn a_full_queue_keeps_a_ue_awake_and_nothing_changes() {
    let rows = |lines| {
        let mut link = idle_link(lines);
        let delivered = saturate(&mut link, DOWN, 2 * SECOND);
        delivered
            .into_iter()
            .map(|delivery| delivery.due)
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(DRX), rows(""));
}

/// A channel that carries MCS 28 for a second, and from 2 s on 30 dB less.
fn fades() -> Scenario {
    scenario(
        "{ss_pbch_block_power_dbm: 10, level: {path_loss_db: [[0, 95], [1, 95], [2, 125]]}, noise: {figure_db: 7}}",
    )
}

/// Makes a link over this channel, with more lines of `radio`.
fn fading_link(lines: &str) -> Link<u64> {
    let mcs = "mcs_table: 64qam";
    link(&config(&[(mcs, &format!("{mcs}\n  {lines}"))]), &fades())
}

#[test]
fn the_capacity_of_a_sleeping_ue_is_that_of_the_channel() {
    let capacity = |lines: &str| {
        let mut link = fading_link(lines);
        let each = (1..=80).map(|step| {
            link.advance(step * SECOND / 10);
            [Direction::Downlink, Direction::Uplink]
                .map(|direction| link.totals(UeId(0), direction).capacity_bytes)
        });
        each.collect::<Vec<_>>()
    };
    let awake = capacity("");
    let before = awake[9][0];
    let after = awake[39][0] - awake[29][0];
    assert!(before > 2.0 * after && after > 0.0, "{before} {after}");
    for lines in [DRX, RRC, &format!("{DRX}\n  {RRC}")] {
        let mut each = capacity(lines).into_iter().zip(&awake);
        let differs = each.position(|(asleep, awake)| asleep != *awake);
        assert_eq!(differs, None, "{lines}");
    }
}

/// The gNB knows nothing of the channel that it had before.
#[test]
fn after_rrc_idle_mac_starts_over() {
    for (from, direction) in [(DOWN, Direction::Downlink), (UP, Direction::Uplink)] {
        let mut link = fading_link("rrc: {idle: {after_s: 0.2, setup_ms: 50}}");
        for number in 0..1000 {
            link.enqueue(from, packet(1500, number), number * MS);
        }
        link.advance(4 * SECOND);
        let before = link.totals(UeId(0), direction);
        for number in 0..100 {
            link.enqueue(from, packet(1500, number), 4 * SECOND);
        }
        link.advance(6 * SECOND);
        let after = link.totals(UeId(0), direction);
        assert_eq!((before.sdu_count, after.sdu_count), (1000, 1100));
        assert_eq!(after.errors, before.errors, "{direction:?}");
    }
}

/// Columns of a sleeping UE: none of them on a link of before.
#[test]
fn samples_have_the_state_and_the_share_of_active_time() {
    let mut link = idle_link(&format!("{DRX}\n  {RRC}"));
    assert!(
        link.csv_header()
            .ends_with(",mac_rrc_state,mac_drx_active_ratio")
    );
    assert!(!idle_link("").csv_header().contains("mac_rrc_state"));
    link.advance(3 * SECOND);
    let samples: Vec<_> = link
        .samples()
        .filter_map(|sample| sample.activity)
        .collect();
    let active_ms = |samples: &[ActivitySample]| {
        let ratios = samples.iter().filter_map(|sample| sample.drx_active_ratio);
        ratios.sum::<f64>() * 10.0
    };
    // 20 ms at first; 10 ms from 45 and 85 ms; then from 165, 325, 485, 645, 805 and 965 ms; inactive from 1000 ms.
    assert_eq!(active_ms(&samples[..100]).round(), 100.0);
    assert_eq!(active_ms(&samples[100..]), 0.0);
    assert_eq!((samples[99].rrc_state, samples[100].rrc_state), (2, 1));
}

/// A setting of DRX: its line, and its long cycle.
fn settings() -> impl Strategy<Value = (String, Nanos)> {
    let long = prop::sample::select(vec![10u64, 20, 32, 40, 64, 80, 160, 320]);
    let on_ms = prop::sample::select(vec![0.5, 0.75, 1.0, 2.0, 8.0]);
    let inactivity_ms = prop::sample::select(vec![0u64, 1, 5, 20, 100]);
    let short = prop::option::of((any::<bool>(), 1..=16u64));
    let timers = (0..=56u64, prop::sample::select(vec![0u64, 1, 16, 320]));
    (long, on_ms, inactivity_ms, short, timers, any::<prop::sample::Index>()).prop_map(
        |(long_ms, on_ms, inactivity_ms, short, (rtt, slots), offset)| {
            let start_ms = offset.index(long_ms as usize);
            let short = short.map_or(String::new(), |(half, cycles)| {
                let cycle_ms = if half { long_ms / 2 } else { 2 };
                format!(", short: {{cycle_ms: {cycle_ms}, cycles: {cycles}}}")
            });
            let line = format!(
                "drx: {{on_duration_ms: {on_ms}, inactivity_ms: {inactivity_ms}, long_cycle_ms: {long_ms}, \
                 start_offset_ms: {start_ms}, harq_rtt_symbols: {{dl: {rtt}, ul: {rtt}}}, \
                 retransmission_slots: {{dl: {slots}, ul: {slots}}}{short}}}"
            );
            (line, long_ms * MS)
        },
    )
}

/// Times in ns from 1 s on, and whether each packet is a downlink one. They are so far apart that all that wait for an
/// on-duration fit in a slot.
fn arrivals() -> impl Strategy<Value = Vec<(Nanos, bool)>> {
    let gaps = prop::collection::vec((20 * MS..400 * MS, any::<bool>()), 5..60);
    gaps.prop_map(|gaps| {
        let mut now = SECOND;
        let after = |(gap, down)| {
            now += gap;
            (now, down)
        };
        gaps.into_iter().map(after).collect()
    })
}

/// Returns when each packet is delivered, and checks that all are, in order, and once.
fn delays(link: &mut Link<u64>, arrivals: &[(Nanos, bool)]) -> Vec<Nanos> {
    let mut due = vec![None; arrivals.len()];
    let mut last = [None; 2];
    for (number, &(at, down)) in arrivals.iter().enumerate() {
        link.advance(at);
        link.enqueue(if down { DOWN } else { UP }, packet(60, number as u64), at);
    }
    let sent = arrivals.last().expect("some").0;
    let (empty, mut delivered) = drain(link, sent, sent + 20 * SECOND);
    // What came again would come within the longest cycle, paging included, and the timers of RLC.
    link.advance(empty + 2 * SECOND);
    delivered.extend(std::iter::from_fn(|| link.dequeue()));
    for delivery in delivered {
        let number = delivery.packet.payload;
        let last = &mut last[usize::from(delivery.to == UP)];
        assert!(*last < Some(number), "{number} came after {last:?}");
        *last = Some(number);
        due[number as usize] = Some(delivery.due);
    }
    for direction in [Direction::Downlink, Direction::Uplink] {
        assert_eq!(link.contents(UeId(0), direction).packets, 0);
    }
    let times = due.into_iter().zip(arrivals);
    times
        .map(|(due, &(at, _))| due.expect("delivered") - at)
        .collect()
}

/// The longest time until a downlink packet of an idle link is decoded: the rest of a slot, and one slot.
const AWAKE: Nanos = SLOT + SLOT + N1;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn with_drx_a_packet_waits_for_a_cycle_at_most(
        (line, cycle) in settings(), arrivals in arrivals(),
    ) {
        let asleep = delays(&mut idle_link(&line), &arrivals);
        let awake = delays(&mut idle_link(""), &arrivals);
        for (&(at, down), (&asleep, &awake)) in arrivals.iter().zip(asleep.iter().zip(&awake)) {
            if down {
                prop_assert!(asleep <= cycle + AWAKE, "{asleep} ns of a packet at {at}");
            } else {
                // A scheduling request is pending until the packet is sent.
                prop_assert_eq!(asleep, awake);
            }
        }
    }

    #[test]
    fn with_rrc_states_a_packet_waits_for_paging_access_and_a_cycle_at_most(
        (line, cycle) in settings(), arrivals in arrivals(),
        after_ms in 10..300u64, idle in any::<bool>(), frames in prop::sample::select(vec![32u64, 64]),
    ) {
        let after_s = after_ms as f64 / 1e3;
        let idle = if idle { format!(", idle: {{after_s: {}, setup_ms: 100}}", 2.0 * after_s) } else { String::new() };
        let rrc = format!("rrc: {{inactive: {{after_s: {after_s}, resume_ms: 10}}{idle}, paging_cycle_frames: {frames}}}");
        let back = 20 * MS + 15 * MS + 100 * MS; // PRACH, random access, RRC
        let paging = (frames + 1) * 10 * MS;
        let delays = delays(&mut idle_link(&format!("{line}\n  {rrc}")), &arrivals);
        for (&(at, down), delay) in arrivals.iter().zip(delays) {
            let most = if down { paging + back + cycle + AWAKE } else { back + 20 * MS };
            prop_assert!(delay <= most, "{delay} ns of a packet at {at}");
        }
    }

    #[test]
    fn with_drx_and_block_errors_no_packet_is_lost(
        (line, _) in settings(), arrivals in arrivals(), sinr_db in -4.0..-2.0, polls in any::<bool>(),
    ) {
        let polling = if polls { ", polling: {t_poll_retransmit_ms: 45, t_status_prohibit_ms: 0}" } else { "" };
        let rlc = format!("rlc: {{mode: am, t_reassembly_ms: 5{polling}}}");
        // A few packets may have no error; of so many more some have.
        let last = arrivals.last().expect("some").0;
        let more = (1..=40).map(|n| (last + n * 20 * MS, n % 2 == 0));
        let arrivals: Vec<_> = arrivals.into_iter().chain(more).collect();
        let mut link = idle_link_at(sinr_db, &format!("{line}\n  {rlc}"));
        delays(&mut link, &arrivals);
        let retransmissions = |direction| link.totals(UeId(0), direction).rounds[1];
        prop_assert!(retransmissions(Direction::Downlink) + retransmissions(Direction::Uplink) > 0);
    }
}
