// SPDX-License-Identifier: Apache-2.0
//! Links over a capacity scenario carry exactly its capacity, through the same queue and path.

use std::io::Write;
use std::path::Path;

use crate::common::{
    MS, SECOND, capacity_scenario, capacity_scenario_in, config, link, packet, saturate,
};
use nr_link_model::config::{QueueLimit, RlcMode};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, Link, Nanos, Port, ResolvedConfig, Totals, UeId};
use proptest::prelude::*;

const DOWN: Port = Port::Core { ue: UeId(0) };

/// Makes a configuration without delay on the path.
fn without_delay() -> ResolvedConfig {
    let mut config = config(&[]);
    config.path = Default::default();
    config
}

fn departures<T>(link: &mut Link<T>, until: Nanos) -> Vec<(Nanos, T)> {
    link.advance(until);
    let deliveries = std::iter::from_fn(|| link.dequeue());
    deliveries
        .map(|delivery| (delivery.due, delivery.packet.payload))
        .collect()
}

fn totals<T>(link: &Link<T>) -> Totals {
    link.totals(UeId(0), Direction::Downlink)
}

#[test]
fn a_rate_is_that_of_ip_packets_to_the_nanosecond() {
    for (mbps, count) in [(1000, 250_000), (9999, 2_000_000)] {
        let scenario = capacity_scenario(&format!(
            "{{dl: {{constant_mbps: {mbps}}}, ul: {{constant_mbps: 1}}}}"
        ));
        let mut config = without_delay();
        config.ues[0].queue.dl = QueueLimit::Packets(count).into();
        let mut link: Link<u64> = link(&config, &scenario);
        (0..count).for_each(|number| link.enqueue(DOWN, packet(1500, number), SECOND));
        let out = departures(&mut link, 5 * SECOND);
        assert_eq!(out.len() as u64, count);
        for &(due, number) in &out {
            // The last bit of packet n is served n + 1 packet times after the first began.
            let bits = u128::from((number + 1) * 12_000);
            let exact = (bits * 1000).div_ceil(mbps) as Nanos;
            assert_eq!(due, SECOND + exact, "packet {number}");
        }
    }
}

#[test]
fn a_saturated_link_carries_and_reports_its_rate() {
    let scenario = capacity_scenario("{dl: {constant_mbps: 720}, ul: {constant_mbps: 50}}");
    for (from, direction, mbps) in [
        (DOWN, Direction::Downlink, 720),
        (Port::Ue(UeId(0)), Direction::Uplink, 50),
    ] {
        let mut link: Link<u64> = link(&without_delay(), &scenario);
        saturate(&mut link, from, SECOND);
        link.advance(SECOND);
        let totals = link.totals(UeId(0), direction);
        let exact = mbps * 125_000;
        assert_eq!(totals.capacity_sdu_bytes, exact as f64);
        assert!(totals.queue_drops > 0);
        assert!(
            (exact - 1500..=exact).contains(&totals.sdu_bytes),
            "{totals:?}"
        );
    }
}

#[test]
fn steps_change_the_rate_in_the_middle_of_a_packet() {
    // 1500 bytes are 12 ms at 1 Mbit/s; at 4 ms two thirds are left, which 8 Mbit/s serve in 1 ms.
    let scenario = capacity_scenario(
        "{dl: {steps_mbps: [[0, 1], [0.004, 8], [0.005, 0], [0.02, 12]]}, ul: {constant_mbps: 1}}",
    );
    let mut link: Link<u64> = link(&without_delay(), &scenario);
    (0..3).for_each(|number| link.enqueue(DOWN, packet(1500, number), 0));
    assert_eq!(
        departures(&mut link, SECOND),
        [(5 * MS, 0), (21 * MS, 1), (22 * MS, 2)]
    );
}

#[test]
fn nothing_leaves_after_a_scenario_that_stops() {
    let scenario = capacity_scenario_in(
        Path::new(""),
        "{dl: {constant_mbps: 1}, ul: {constant_mbps: 1}}",
        "at_end: stop",
    );
    let mut link: Link<u64> = link(&without_delay(), &scenario);
    link.enqueue(DOWN, packet(1500, 0), 60 * SECOND - 12 * MS);
    link.enqueue(DOWN, packet(1500, 1), 60 * SECOND - 12 * MS);
    assert_eq!(departures(&mut link, 90 * SECOND), [(60 * SECOND, 0)]);
    assert_eq!(link.contents(UeId(0), Direction::Downlink).packets, 1);
    assert_eq!(totals(&link).capacity_bytes, 60.0 * 125_000.0);
}

/// Makes a link that replays these stamps in the downlink.
fn replay<T>(stamps: &str, config: &ResolvedConfig) -> Link<T> {
    let folder = tempfile::tempdir().expect("writable");
    let mut file = std::fs::File::create(folder.path().join("t.down")).expect("writable");
    file.write_all(stamps.as_bytes()).expect("writable");
    let capacity = "{dl: {trace: {file: t.down, format: mahimahi}}, ul: {constant_mbps: 10}}";
    link(config, &capacity_scenario_in(folder.path(), capacity, ""))
}

#[test]
fn a_trace_delivers_exactly_its_opportunities() {
    let stamps = [1, 1, 3, 7, 7, 7, 10];
    let text: String = stamps.iter().map(|ms| format!("{ms}\n")).collect();
    let mut link: Link<u64> = replay(&text, &without_delay());
    (0..700).for_each(|number| link.enqueue(DOWN, packet(1500, number), 0));
    let out = departures(&mut link, 10 * SECOND);
    let expected = (0..100).flat_map(|lap| stamps.map(|ms| (lap * 10 + ms) * MS));
    assert_eq!(out.len(), 700);
    for (number, (&(due, packet), expected)) in out.iter().zip(expected).enumerate() {
        assert_eq!((due, packet), (expected, number as u64));
    }
    // A packet that is due at an interval's end belongs to the next interval.
    let first = link.samples().next().expect("an interval has ended");
    let down = first.directions.dl;
    assert_eq!(down.totals.capacity_bytes, 6.0 * 1504.0);
    assert_eq!((down.queue_packets, down.queue_bytes), (694, 694 * 1500));
    // From cycle 100 on the link is idle, but still offers capacity.
    assert_eq!(totals(&link).capacity_bytes, 1000.0 * 7.0 * 1504.0);
    assert_eq!(totals(&link).capacity_sdu_bytes, 1000.0 * 7.0 * 1500.0);
    assert_eq!(totals(&link).bytes, 700 * 1504);
}

#[test]
fn packets_share_opportunities_or_use_several_and_unused_ones_are_lost() {
    let mut config = without_delay();
    config.mtu_bytes = 9000;
    let mut link: Link<u64> = replay("1\n2\n3\n4\n5\n6\n7\n8\n", &config);
    // Three packets of 496 + 4 bytes share an opportunity; the fourth takes the 4 bytes left and
    // 496 of the next one; 2000 + 4 bytes take the 1008 left there and 996 of the third.
    for (number, bytes) in [496, 496, 496, 496, 2000].into_iter().enumerate() {
        link.enqueue(DOWN, packet(bytes, number as u64), 0);
    }
    let out = departures(&mut link, 4 * MS);
    assert_eq!(out, [(MS, 0), (MS, 1), (MS, 2), (2 * MS, 3), (3 * MS, 4)]);
    // The rest of the third and the whole fourth opportunity are lost.
    link.enqueue(DOWN, packet(1500, 9), 4 * MS + 1);
    assert_eq!(departures(&mut link, 9 * MS), [(5 * MS, 9)]);
}

#[test]
fn the_queue_counts_packets_not_completely_sent_and_bytes_not_sent() {
    let scenario = capacity_scenario("{dl: {constant_mbps: 8}, ul: {constant_mbps: 8}}"); // 1 byte a µs
    let mut config = without_delay();
    config.ues[0].queue.dl = QueueLimit::Bytes(3000).into();
    config.ues[0].queue.ul = QueueLimit::Packets(2).into();
    let mut link: Link<u64> = link(&config, &scenario);
    (0..3).for_each(|number| link.enqueue(DOWN, packet(1500, number), 0));
    link.enqueue(DOWN, packet(700, 3), 699_999);
    link.enqueue(DOWN, packet(700, 4), 700_000);
    (0..3).for_each(|number| link.enqueue(Port::Ue(UeId(0)), packet(1000, 10 + number), 800_000));
    link.enqueue(Port::Ue(UeId(0)), packet(1000, 13), 1_800_000);
    let numbers: Vec<u64> = departures(&mut link, SECOND)
        .into_iter()
        .map(|(_, number)| number)
        .collect();
    assert_eq!(numbers, [0, 10, 11, 1, 4, 13]);
}

#[test]
fn delay_and_loss_of_the_path_are_those_of_a_radio_link() {
    let scenario = capacity_scenario("{dl: {constant_mbps: 12}, ul: {constant_mbps: 12}}");
    let mut link: Link<u64> = link(&config(&[]), &scenario);
    link.enqueue(DOWN, packet(1500, 0), 0);
    link.enqueue(Port::Ue(UeId(0)), packet(1500, 1), 0);
    assert_eq!(departures(&mut link, SECOND), [(11 * MS, 0), (11 * MS, 1)]);

    let lossy = config(&[("loss_ratio: 0.0", "loss_ratio: 0.5")]);
    let mut link: Link<u64> = crate::common::link(&lossy, &scenario);
    for number in 0..1000 {
        link.enqueue(DOWN, packet(1500, 0), number * 2 * MS);
    }
    link.advance(10 * SECOND);
    let totals = totals(&link);
    assert!((400..600).contains(&totals.path_losses), "{totals:?}");
    assert_eq!(totals.sdu_count + totals.path_losses, 1000);
}

#[test]
fn a_row_has_no_radio_columns_and_the_mac_adds_no_delay() {
    let scenario = capacity_scenario("{dl: {constant_mbps: 12}, ul: {constant_mbps: 12}}");
    let mut link: Link<u64> = link(&without_delay(), &scenario);
    let floor = link.mac_floor_ms(&without_delay());
    assert_eq!((floor.dl, floor.ul), (0.0, 0.0));
    (0..3).for_each(|_| link.enqueue(DOWN, packet(1500, 0), 8 * MS + 500_000));
    link.advance(10 * MS);
    let mut row = Vec::new();
    let sample = link.samples().next().expect("an interval has ended");
    sample.write_csv(0, &mut row).expect("memory");
    let row = String::from_utf8(row).expect("text");
    let row: Vec<&str> = row.trim_end().split(',').collect();
    let columns = link.csv_header();
    let columns: Vec<&str> = columns.split(',').collect();
    assert_eq!(row.len(), columns.len());
    let value = |name: &str| {
        row[columns
            .iter()
            .position(|&column| column == name)
            .expect(name)]
    };
    for name in [
        "mac_rnti",
        "mac_in_sync",
        "mac_rsrp_dbm",
        "mac_cqi",
        "mac_pcmax_dbm",
    ] {
        assert_eq!(value(name), "", "{name}");
    }
    for name in [
        "mcs",
        "mcs_table",
        "bler_ratio",
        "rounds_1_count",
        "prb_count",
        "harq_ms",
    ] {
        assert_eq!(value(&format!("mac_dl_{name}")), "", "{name}");
    }
    // One packet has left, and half of the second has been served.
    for (name, expected) in [
        ("sdu_bytes", "1500"),
        ("sdu_count", "1"),
        ("bytes", "1500"),
        ("capacity_bytes", "15000"),
        ("capacity_sdu_bytes", "15000"),
        ("rlc_queue_bytes", "2250"),
        ("rlc_queue_packets", "2"),
        ("rlc_wait_ms", "1.0000"),
        ("rlc_delay_ms", "1.0000"),
        ("enqueued_bytes", "4500"),
        ("queue_drop_count", "0"),
    ] {
        assert_eq!(value(&format!("mac_dl_{name}")), expected, "{name}");
    }
}

#[test]
fn radio_in_the_configuration_has_no_effect_and_may_be_absent() {
    let scenario = capacity_scenario("{dl: {constant_mbps: 12}, ul: {constant_mbps: 12}}");
    let mut fates = Vec::new();
    let text = include_str!("../common/link.yaml");
    let from = text.find("radio:").expect("there");
    let to = text.find("scenario:").expect("there");
    let without = format!("{}{}", &text[..from], &text[to..]);
    let without = ResolvedConfig::parse(&without, Path::new("link.yaml")).expect("valid");
    assert!(without.radio.is_none());
    let mut um = config(&[]);
    um.radio.as_mut().expect("there").rlc = RlcMode::Unacknowledged {
        t_reassembly: 0,
        t_reordering: 0,
    };
    for config in [config(&[]), um, without.clone()] {
        let mut link: Link<u64> = link(&config, &scenario);
        (0..9).for_each(|number| link.enqueue(DOWN, packet(700, number), 0));
        fates.push(departures(&mut link, SECOND));
    }
    assert!(fates[0].len() == 9 && fates[0] == fates[1] && fates[0] == fates[2]);

    let radio = crate::common::flat(20.0);
    let error = nr_link_model::Source::of(&radio, &without).expect_err("there is no carrier");
    assert!(
        error.to_string().contains("the configuration no carrier"),
        "{error}"
    );
}

#[test]
fn capacity_scenarios_of_the_project_are_valid() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rf-scenarios");
    for (name, end_s, mbps) in [
        ("constant-100M", 600, 100),
        ("constant-1G", 600, 1000),
        ("surge-100M-720M", 40, 410),
        ("decline-720M-600M", 60, 684),
        ("decline-720M-100M", 60, 536),
        ("drop-720M-600M", 60, 680),
        ("drop-720M-100M", 60, 513),
        ("step-300M-600M", 60, 400),
    ] {
        let scenario = Scenario::load(&folder.join(name).with_extension("yaml")).expect(name);
        let mut link: Link<u64> = link(&without_delay(), &scenario);
        link.advance(end_s * SECOND);
        let mean_mbps = totals(&link).capacity_sdu_bytes * 8e-6 / end_s as f64;
        assert_eq!(mean_mbps as u64, mbps, "{name}");
    }
}

#[test]
fn an_idle_link_at_10_gbps_has_only_sample_events() {
    let scenario = capacity_scenario("{dl: {constant_mbps: 10000}, ul: {constant_mbps: 10000}}");
    let mut link: Link<u64> = link(&config(&[]), &scenario);
    for interval in 1..=100 {
        assert_eq!(link.next_event().at, interval * 10 * MS);
        link.advance(link.next_event().at);
    }
}

/// Arrivals: ns since the last one, bytes, and whether it is downlink.
type Arrivals = Vec<(Nanos, u32, bool)>;

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop::collection::vec((0..2 * MS, 28..=1500u32, any::<bool>()), 1..200)
}

/// Computes departures by Lindley's recursion: service starts when the packet has arrived and the
/// one before has left.
fn lindley(arrivals: &Arrivals, down: bool, mbps: u64) -> Vec<(Nanos, usize)> {
    let (mut now, mut free) = (0, 0.0f64);
    let mut out = Vec::new();
    for (number, &(gap, bytes, of)) in arrivals.iter().enumerate() {
        now += gap;
        if of == down {
            free = free.max((now + 10 * MS * u64::from(down)) as f64)
                + f64::from(bytes) * 8e3 / mbps as f64;
            out.push(((free.ceil() as Nanos) + 10 * MS * u64::from(!down), number));
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn packets_leave_as_lindleys_recursion_computes(arrivals in arrivals(), mbps in 1..50u64) {
        let rate = format!("{{constant_mbps: {mbps}}}");
        let scenario = capacity_scenario(&format!("{{dl: {rate}, ul: {rate}}}"));
        let mut link: Link<u64> = link(&config(&[]), &scenario);
        let mut now = 0;
        for (number, &(gap, bytes, down)) in arrivals.iter().enumerate() {
            now += gap;
            link.enqueue(if down { DOWN } else { Port::Ue(UeId(0)) }, packet(bytes, number as u64), now);
        }
        let out = departures(&mut link, 20 * SECOND);
        for down in [true, false] {
            let of_one: Vec<_> = out.iter().filter(|(_, number)| arrivals[*number as usize].2 == down).collect();
            let expected = lindley(&arrivals, down, mbps);
            prop_assert_eq!(of_one.len(), expected.len());
            for (&&(due, number), &(at, of)) in of_one.iter().zip(&expected) {
                prop_assert_eq!(number, of as u64);
                prop_assert!(due.abs_diff(at) <= 1, "packet {} at {}, not {}", number, due, at);
            }
        }
    }

    #[test]
    fn the_result_does_not_depend_on_how_often_advance_is_called(
        arrivals in arrivals(), step in 1_000..40 * MS,
    ) {
        let run = |step: Option<Nanos>| {
            let stamps = "0\n1\n1\n4\n";
            let mut config = config(&[("loss_ratio: 0.0", "loss_ratio: 0.05")]);
            config.ues[0].queue.dl = QueueLimit::Bytes(9000).into();
            let mut link: Link<u64> = replay(stamps, &config);
            let (mut now, mut last, mut out, mut rows) = (0, 0, Vec::new(), Vec::new());
            for (number, &(gap, bytes, down)) in arrivals.iter().enumerate() {
                now += gap;
                while let Some(next) = step.map(|step| last + step).filter(|&next| next < now) {
                    last = next;
                    out.extend(departures(&mut link, last));
                }
                link.enqueue(if down { DOWN } else { Port::Ue(UeId(0)) }, packet(bytes, number as u64), now);
            }
            out.extend(departures(&mut link, 5 * SECOND));
            rows.extend(link.samples());
            (out, rows)
        };
        prop_assert_eq!(run(None), run(Some(step)));
    }
}
