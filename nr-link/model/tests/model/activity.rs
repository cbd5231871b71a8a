// SPDX-License-Identifier: Apache-2.0
//! DRX and RRC states: when a packet is delivered, calculated manually, to the slot.

use nr_link_model::samples::ActivitySample;
use nr_link_model::{EventKind, Link, Nanos, Port, UeId};

use crate::common::{MS, SECOND, config, flat, link, packet, saturate};

const DOWN: Port = Port::Core { ue: UeId(0) };
const UP: Port = Port::Ue(UeId(0));
const SLOT: Nanos = 500_000;
/// Decoding of a UE, N1 of 20 symbols at 30 kHz: TS 38.214 table 5.3-1 with additional DM-RS.
const N1: Nanos = 13 * SLOT / 14;

/// Makes a link in FDD without path and errors, with more lines of `radio`.
fn idle_link(lines: &str) -> Link<u64> {
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
    link(&config, &flat(40.0))
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

const RRC: &str = "rrc: {inactive: {after_s: 1, resume_ms: 10}, idle: {after_s: 5, setup_ms: 100}, \
                   paging_cycle_frames: 32, prach_period_ms: 20, random_access_ms: 15}";

#[test]
fn an_inactive_ue_is_paged_and_resumes_by_random_access() {
    let mut link = idle_link(RRC);
    let due = delivered(&mut link, DOWN, &[2008 * MS, 8001 * MS]);
    // The RNTI is 0x4601, so that its paging frames are 1, 33, … of 32: 225 is the first after 2008 ms. PRACH at 2260
    // ms, 15 ms to Msg4, 10 ms to resume. From RRC_IDLE: frame 801, PRACH at 8020 ms, 115 ms.
    assert_eq!(due, [2285.0, 8135.0].map(decoded));
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
