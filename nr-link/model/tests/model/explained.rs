// SPDX-License-Identifier: Apache-2.0
//! Explained delays: for any link and arrivals, the parts of each packet's delay add up to it exactly, and explaining
//! changes nothing; and with a cause removed, its part is gone while the others stay within what that implies.

use std::path::Path;

use crate::common::{MS, capacity_scenario, config, drain, flat, link};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Delays, Delivery, Ecn, Link, Nanos, Packet, Part, Port, ResolvedConfig, UeId};
use proptest::prelude::*;

const TDD: &str = "duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}";
const ADAPTATION: &str = "link_adaptation: {olla: {bler_target: 0.1}}";
const POLLING: &str = "link_adaptation: {fixed_mcs: 9}\n  rlc: {mode: am, t_reassembly_ms: 5, polling: \
                       {poll_pdu: 4, poll_kbyte: 1, t_poll_retransmit_ms: 10, t_status_prohibit_ms: 5}}";
const SLOT: Nanos = MS / 2;

/// A packet: ns since the last one, bytes, whether it is downlink, and a number that chooses its UE.
pub(super) type Arrivals = Vec<(Nanos, u32, bool, usize)>;

pub(super) fn arrivals() -> impl Strategy<Value = Arrivals> {
    // Bursts and pauses: of each three packets, two come within a slot.
    let gap = prop_oneof![0..SLOT, 0..SLOT, 0..6 * MS];
    prop::collection::vec((gap, 28..=1500u32, any::<bool>(), 0..8usize), 50..300)
}

/// A packet as it left: number, time, account.
type Left = (u64, Nanos, Option<Box<Delays>>);

/// Runs a link with these arrivals from 50 ms on, until 300 ms after the last.
pub(super) fn play(link: &mut Link<u64>, arrivals: &Arrivals) {
    let last = send(link, arrivals, |_| Ecn::NotEct);
    link.advance(last + 300 * MS);
}

/// Sends packets with these arrivals from 50 ms on, with the ECN field of each number; returns when the last is sent.
fn send(link: &mut Link<u64>, arrivals: &Arrivals, ecn: fn(u64) -> Ecn) -> Nanos {
    let entered = times(arrivals);
    for ((&(_, bytes, down, ue), &now), number) in arrivals.iter().zip(&entered).zip(0..) {
        let ue = UeId(ue % link.ues());
        let from = if down {
            Port::Core { ue }
        } else {
            Port::Ue(ue)
        };
        link.enqueue(from, Packet::new(bytes, ecn(number), number), now);
    }
    *entered.last().expect("packets arrive")
}

/// Returns what a link has delivered.
fn left(link: &mut Link<u64>) -> Vec<Left> {
    std::iter::from_fn(|| link.dequeue()).map(as_left).collect()
}

fn as_left(one: Delivery<u64>) -> Left {
    (one.packet.payload, one.due, one.packet.delays)
}

/// Returns what a link with these arrivals delivered.
fn run(
    config: &ResolvedConfig,
    scenario: &Scenario,
    arrivals: &Arrivals,
    explains: bool,
) -> Vec<Left> {
    let mut link: Link<u64> = link(config, scenario);
    if explains {
        link.explain();
    }
    play(&mut link, arrivals);
    left(&mut link)
}

/// Returns when each packet arrives.
pub(super) fn times(arrivals: &Arrivals) -> Vec<Nanos> {
    let mut now = 50 * MS;
    let after = |&(gap, ..): &(Nanos, u32, bool, usize)| {
        now += gap;
        now
    };
    arrivals.iter().map(after).collect()
}

/// Checks that all parts add up to the delay, of every packet, and that explaining changes no delivery.
fn check(config: &ResolvedConfig, scenario: &Scenario, arrivals: &Arrivals) {
    let explained = run(config, scenario, arrivals, true);
    let entered = times(arrivals);
    for (number, due, delays) in &explained {
        let delays = delays.as_ref().expect("each packet has an account");
        assert_eq!(delays.entered, entered[*number as usize]);
        assert_eq!(
            delays.total(),
            due - delays.entered,
            "packet {number}: {delays:?}"
        );
    }
    let plain = run(config, scenario, arrivals, false);
    assert!(plain.iter().all(|(.., delays)| delays.is_none()));
    let deliveries = |all: &[Left]| all.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>();
    assert_eq!(deliveries(&plain), deliveries(&explained));
}

/// The radio of an experiment: lines of `link.yaml` in place of others, and the SINR.
pub(super) fn radios() -> impl Strategy<Value = (Vec<(&'static str, String)>, f64)> {
    let duplex = prop_oneof![
        Just(TDD.to_owned()),
        Just("duplex: fdd".to_owned()),
        Just(TDD.replace("DDDDDDDSUU", "DDDSU")),
    ];
    let secondary = prop_oneof![
        3 => Just(""),
        1 => Just("\n  secondary: [{}]"),
        1 => Just("\n  secondary: [{carrier_ghz: 28, numerology: 3, prb: 66}]"),
        1 => Just("\n  secondary: [{carrier_ghz: 0.8, numerology: 0, prb: 52, duplex: fdd}]"),
    ];
    let scheduler = prop_oneof![
        Just(""),
        Just("\n  scheduler: max_ci"),
        Just("\n  scheduler: proportional_fair"),
    ];
    let sleep = prop_oneof![
        Just(""),
        Just(
            "\n  drx: {on_duration_ms: 2, inactivity_ms: 1, long_cycle_ms: 20, retransmission_slots: {dl: 0, ul: 0}}"
        ),
        Just(
            "\n  drx: {on_duration_ms: 4, inactivity_ms: 4, long_cycle_ms: 40, short: {cycle_ms: 10, cycles: 1}}"
        ),
        Just(
            "\n  rrc: {inactive: {after_s: 0.01, resume_ms: 3}, paging_cycle_frames: 32, prach_period_ms: 10}"
        ),
    ];
    let adaptation = prop_oneof![
        Just((ADAPTATION.to_owned(), 20.0)),
        Just((ADAPTATION.to_owned(), 3.0)),
        // Blocks fail now and then, or nearly always.
        Just((
            "link_adaptation: {fixed_mcs: 9}\n  rlc: {mode: am}".to_owned(),
            1.0
        )),
        Just((
            "link_adaptation: {fixed_mcs: 9}\n  rlc: {mode: um}".to_owned(),
            0.0
        )),
        Just((POLLING.to_owned(), 0.0)),
        Just((POLLING.to_owned(), -3.7)),
        Just((
            "link_adaptation: {fixed_mcs: 9}\n  rlc: {mode: am}".to_owned(),
            -3.7
        )),
        Just((
            "link_adaptation: {fixed_mcs: 9}\n  rlc: {mode: um}".to_owned(),
            -3.7
        )),
        Just(("gnb_profile: oai-2026.w11".to_owned(), 20.0)),
        Just(("gnb_profile: oai-2025.w36".to_owned(), 20.0)),
    ];
    (duplex, secondary, scheduler, sleep, adaptation).prop_map(
        |(duplex, secondary, scheduler, sleep, (adaptation, sinr_db))| {
            let is_oai = adaptation.starts_with("gnb_profile");
            let [secondary, sleep] =
                [secondary, sleep].map(|lines| if is_oai { "" } else { lines });
            let duplex = if is_oai { TDD.to_owned() } else { duplex };
            let changes = vec![
                (TDD, format!("{duplex}{secondary}{scheduler}{sleep}")),
                (ADAPTATION, adaptation),
            ];
            (changes, sinr_db)
        },
    )
}

/// Path, queues and UEs of an experiment.
pub(super) fn surroundings() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let queue = prop_oneof![
        Just("{packets: 3200}"),
        Just("{packets: 20}"),
        Just("{packets: 100, aqm: {codel: {}}}"),
        Just("{packets: 100, aqm: {pie: {}}}"),
        Just("{packets: 100, aqm: {dualpi2: {}}}"),
    ];
    let line = prop_oneof![
        Just("{delay_ms: 0, loss_ratio: 0.0}"),
        Just("{delay_ms: 7.3, loss_ratio: 0.05}"),
        Just("{delay_ms: 3, loss_ratio: 0, rate_mbps: 8, queue: {packets: 40}}"),
    ];
    (queue, line, 1..4usize).prop_map(|(queue, line, ues)| {
        let names = (1..=ues).map(|ue| format!("{{name: ue{ue}, addresses: [10.0.0.{ue}]}}"));
        vec![
            ("dl: {packets: 3200}", format!("dl: {queue}")),
            ("ul: {packets: 3200}", format!("ul: {queue}")),
            (
                "dl: {delay_ms: 10.0, loss_ratio: 0.0}",
                format!("dl: {line}"),
            ),
            (
                "ul: {delay_ms: 10.0, loss_ratio: 0.0}",
                format!("ul: {line}"),
            ),
            ("prb: 106", "prb: 24".to_owned()),
            ("{name: ue1}", names.collect::<Vec<_>>().join(", ")),
        ]
    })
}

pub(super) fn changed(changes: &[(&'static str, String)]) -> ResolvedConfig {
    let changes: Vec<_> = changes
        .iter()
        .map(|(from, to)| (*from, to.as_str()))
        .collect();
    config(&changes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn over_any_radio_the_parts_are_the_delay(
        arrivals in arrivals(), (radio, sinr_db) in radios(), around in surroundings(),
    ) {
        check(&changed(&[radio, around].concat()), &flat(sinr_db), &arrivals);
    }

    #[test]
    fn over_any_capacity_the_parts_are_the_delay(
        arrivals in arrivals(), mbps in 1.0..50.0, around in surroundings(),
    ) {
        let scenario = capacity_scenario(&format!("{{dl: {{constant_mbps: {mbps}}}, ul: {{constant_mbps: {}}}}}", mbps / 2.0));
        check(&changed(&around), &scenario, &arrivals);
    }
}

/// Lets the queue management of a link change each 100 ms between one queue and two.
fn with_changing_queues(mut config: ResolvedConfig) -> ResolvedConfig {
    let queue = |aqm: &str| format!("{{packets: 100{aqm}}}");
    let changes = ["dualpi2", "codel", "dualpi2", "pie", "dualpi2", "codel"];
    let changes = changes.iter().enumerate().map(|(number, aqm)| {
        let queue = queue(&format!(", aqm: {{{aqm}: {{}}}}"));
        let at_s = 0.1 * (number + 1) as f64;
        format!("\n- {{at_s: {at_s}, queue: {{dl: {queue}, ul: {queue}}}}}")
    });
    let text = include_str!("../common/link.yaml").to_owned();
    let text = format!("{text}changes:{}\n", changes.collect::<String>());
    let other = ResolvedConfig::parse(&text, Path::new("link.yaml")).expect("valid");
    config.changes = other.changes;
    config
}

/// Runs a link with these packets, of which each second one is of L4S; changes count from 0. Returns what it delivered.
fn run_with_changes(link: &mut Link<u64>, arrivals: &Arrivals) -> Vec<Left> {
    link.explain();
    link.count_changes_from(0);
    let last = send(link, arrivals, |number| match number % 2 {
        0 => Ecn::NotEct,
        _ => Ecn::Ect1,
    });
    drain(link, last, last + 3000 * MS)
        .1
        .into_iter()
        .map(as_left)
        .collect()
}

fn check_with_changes(config: ResolvedConfig, scenario: &Scenario, arrivals: &Arrivals) {
    let mut link = link(&with_changing_queues(config), scenario);
    for (number, due, delays) in run_with_changes(&mut link, arrivals) {
        let delays = delays.expect("each packet has an account");
        let total = due - delays.entered;
        // A part that is counted from a later instant than its packet came would be negative.
        let most = delays.parts.iter().max();
        assert!(most <= Some(&total), "packet {number}: {delays:?}");
        assert_eq!(delays.total(), total, "packet {number}: {delays:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn over_changes_of_queue_management_the_parts_are_the_delay(
        arrivals in arrivals(), (radio, sinr_db) in radios(), around in surroundings(), mbps in 1.0..20.0,
    ) {
        let config = changed(&[radio, around].concat());
        let capacity = format!("{{dl: {{constant_mbps: {mbps}}}, ul: {{constant_mbps: {mbps}}}}}");
        check_with_changes(config.clone(), &capacity_scenario(&capacity), &arrivals);
        check_with_changes(config, &flat(sinr_db), &arrivals);
    }
}

#[test]
fn a_change_of_queue_management_leaves_the_first_packet_its_account() {
    // 1250 bytes take 10 ms. The second packet is being served when the queues become two, and the third waits for it.
    let scenario = capacity_scenario("{dl: {constant_mbps: 1}, ul: {constant_mbps: 1}}");
    let mut link = link(&with_changing_queues(config(&[])), &scenario);
    let arrivals = [10 * MS, 35 * MS, 2 * MS].map(|gap| (gap, 1250, false, 0));
    let left = run_with_changes(&mut link, &arrivals.to_vec());
    let parts = left.iter().map(|(_, _, delays)| {
        let delays = delays.as_ref().expect("an account");
        [Part::Queue, Part::Service, Part::Path].map(|part| delays.of(part) / MS)
    });
    let expected = [[0, 10, 10], [0, 10, 10], [8, 10, 10]];
    assert_eq!(parts.collect::<Vec<_>>(), expected);
}

/// A scenario of EN-DC or of blocked beams, in which a bearer changes between legs or beams.
pub(super) fn changing() -> impl Strategy<Value = Scenario> {
    let lte = (1.0..20.0, 0.0..40.0, 0.0..80.0).prop_map(|(mbps, delay_ms, ms)| {
        let changes = (1..8).map(|change| {
            let to = if change % 2 == 1 { "lte" } else { "nr" };
            format!("{{t_s: {}, to: {to}}}", 0.1 * f64::from(change))
        });
        let changes = changes.collect::<Vec<_>>().join(", ");
        format!(
            "\nlte:\n  capacity: {{dl: {{constant_mbps: {mbps}}}, ul: {{constant_mbps: {mbps}}}}}\n  \
             delay_ms: {{dl: {delay_ms}, ul: {delay_ms}}}\n  interruption_ms: {{5t4: {ms}, 4t5: {ms}}}\n  changes: [{changes}]\n"
        )
    });
    let beams = (0.1..0.4, 0.05..0.5).prop_map(|(from_s, lasts_s)| {
        let to_s = from_s + lasts_s;
        let blocked = format!("blockage: [{{from_s: {from_s}, to_s: {to_s}, loss_db: 40}}]");
        format!(", {blocked}, beams: [{{loss_db: 6, {blocked}}}, {{loss_db: 60}}]")
    });
    let more = prop_oneof![
        lte.prop_map(|lte| (String::new(), lte)),
        beams.prop_map(|beams| (beams, String::new())),
    ];
    more.prop_map(|(beams, lte)| {
        let text = format!(
            "schema: rf-scenario/1\nname: test\nsummary: For a test.\nsources: [chosen]\nlicense: Apache-2.0\n\
             duration_s: 60\nat_end: stop\nradio: {{ss_pbch_block_power_dbm: 0, level: {{rsrp_dbm: -70}}, \
             noise: {{floor_dbm_per_re: -90}}{beams}}}{lte}\n"
        );
        Scenario::parse(&text, Path::new("test.yaml")).expect("valid")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn over_any_change_of_leg_or_beam_the_parts_are_the_delay(
        arrivals in arrivals(), (radio, _) in radios(), around in surroundings(), scenario in changing(),
    ) {
        check(&changed(&[radio, around].concat()), &scenario, &arrivals);
    }
}

/// Returns the accounts by packet; a packet that was lost has none.
fn accounts(
    config: &ResolvedConfig,
    scenario: &Scenario,
    arrivals: &Arrivals,
) -> Vec<Option<Delays>> {
    let mut accounts = vec![None; arrivals.len()];
    for (number, _, delays) in run(config, scenario, arrivals, true) {
        accounts[number as usize] = delays.map(|delays| *delays);
    }
    accounts
}

/// Returns the sum of a part over all packets that both runs delivered, in each.
fn sums(before: &[Option<Delays>], after: &[Option<Delays>], part: Part) -> (Nanos, Nanos) {
    let both = before.iter().zip(after);
    let both = both.filter_map(|(before, after)| Some((before.as_ref()?, after.as_ref()?)));
    both.fold((0, 0), |(sum, other), (before, after)| {
        (sum + before.of(part), other + after.of(part))
    })
}

/// Packets at all phases of the TDD pattern, in both directions, so far apart that none meets another.
fn single_packets(count: usize) -> Arrivals {
    (0..count)
        .map(|number| (40 * MS + 137_000, 1200, number % 2 == 0, 0))
        .collect()
}

/// The same packets in trains of ten.
fn trains(count: usize) -> Arrivals {
    let gap = |number: usize| {
        if number.is_multiple_of(10) {
            25 * MS + 137_000
        } else {
            50_000
        }
    };
    (0..count)
        .map(|number| (gap(number), 1200, (number / 10) % 2 == 0, 0))
        .collect()
}

const FIXED: (&str, &str) = (ADAPTATION, "link_adaptation: {fixed_mcs: 9}");
const NARROW: (&str, &str) = ("prb: 106", "prb: 24");
/// At 3.2 dB some blocks of MCS 9 fail, and at 40 dB none.
const FAILING_DB: f64 = 3.2;

#[test]
fn without_block_errors_recovery_is_gone_and_nothing_else_grows() {
    let config = config(&[FIXED, NARROW]);
    let arrivals = trains(600);
    let before = accounts(&config, &flat(FAILING_DB), &arrivals);
    let after = accounts(&config, &flat(40.0), &arrivals);
    let (harq, order) = (
        sums(&before, &after, Part::Harq),
        sums(&before, &after, Part::Order),
    );
    assert!(harq.0 > 0 && order.0 > 0);
    assert_eq!((harq.1, order.1), (0, 0));
    assert_eq!(sums(&before, &after, Part::Rlc).1, 0);
    // The MCS is fixed, so a block takes as long; a packet can only be earlier, and each wait before its block be shorter.
    let same = [Part::Path, Part::Line, Part::Transmission];
    for (before, after) in before.iter().zip(&after) {
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        same.iter()
            .for_each(|&part| assert_eq!(before.of(part), after.of(part)));
        assert!(after.total() <= before.total());
    }
}

#[test]
fn with_fdd_no_packet_waits_longer_than_a_slot_for_its_direction() {
    let (tdd, fdd) = (config(&[NARROW]), config(&[NARROW, (TDD, "duplex: fdd")]));
    let arrivals = single_packets(200);
    let before = accounts(&tdd, &flat(40.0), &arrivals);
    let after = accounts(&fdd, &flat(40.0), &arrivals);
    let waited = |accounts: &[Option<Delays>]| {
        let waits = accounts.iter().flatten().map(|one| one.of(Part::Slot));
        waits.max().unwrap_or_default()
    };
    assert!(waited(&before) > SLOT);
    assert!(waited(&after) <= SLOT);
    for part in [
        Part::Path,
        Part::Line,
        Part::Transmission,
        Part::Queue,
        Part::Harq,
        Part::Order,
    ] {
        let (before, after) = sums(&before, &after, part);
        assert_eq!(before, after, "{part:?}");
    }
    // A request, a report and a grant take slots too: with more slots for them they can only be sooner.
    for part in [Part::Request, Part::Grant] {
        let (before, after) = sums(&before, &after, part);
        assert!(after <= before, "{part:?}");
    }
}

#[test]
fn with_unlimited_grants_no_packet_waits_for_a_request_or_a_grant() {
    let requested = config(&[NARROW, FIXED]);
    let unlimited = format!("{}\n  uplink: {{grants: unlimited}}", FIXED.1);
    let unlimited = config(&[NARROW, (ADAPTATION, &unlimited)]);
    for arrivals in [single_packets(200), trains(600)] {
        let before = accounts(&requested, &flat(40.0), &arrivals);
        let after = accounts(&unlimited, &flat(40.0), &arrivals);
        for part in [Part::Request, Part::Grant] {
            let (before, after) = sums(&before, &after, part);
            assert!(before > 0, "{part:?}");
            assert_eq!(after, 0, "{part:?}");
        }
        for ((before, after), &(_, _, is_down, _)) in before.iter().zip(&after).zip(&arrivals) {
            let (before, after) = (before.as_ref().unwrap(), after.as_ref().unwrap());
            if is_down {
                assert_eq!(before, after);
                continue;
            }
            // The UE is alone and no block fails: what is left are slots, those before it, and the way.
            for part in [Part::Path, Part::Line, Part::Transmission] {
                assert_eq!(before.of(part), after.of(part), "{part:?}");
            }
            for part in [Part::Blocked, Part::Priority, Part::Harq, Part::Order] {
                assert_eq!(after.of(part), 0, "{part:?}");
            }
            assert!(after.total() <= before.total());
        }
    }
}

#[test]
fn a_lone_ue_waits_for_no_other() {
    let config = config(&[(
        "{name: ue1}",
        "{name: ue1, addresses: [10.0.0.1]}, {name: ue2, addresses: [10.0.0.2]}",
    )]);
    let busy: Arrivals = (0..8000)
        .map(|number| (20_000, 1500, true, usize::from(number % 20 != 0)))
        .collect();
    let alone: Arrivals = {
        let times = times(&busy);
        let own = (0..busy.len()).step_by(20);
        let mut last = 50 * MS;
        own.map(|number| {
            let gap = times[number] - std::mem::replace(&mut last, times[number]);
            (gap, 1500, true, 0)
        })
        .collect()
    };
    let with_others = accounts(&config, &flat(10.0), &busy);
    let with_others: Vec<_> = with_others.into_iter().step_by(20).collect();
    let alone = accounts(&config, &flat(10.0), &alone);
    let (before, after) = sums(&with_others, &alone, Part::Priority);
    assert!(before > 0);
    assert_eq!(after, 0);
    for part in [Part::Path, Part::Line] {
        let (before, after) = sums(&with_others, &alone, part);
        assert_eq!(before, after, "{part:?}");
    }
    // Its own packets before it wait for others no longer.
    let (before, after) = sums(&with_others, &alone, Part::Queue);
    assert!(after < before);
}
