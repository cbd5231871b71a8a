// SPDX-License-Identifier: Apache-2.0
//! The premise of the proof in docs/bound.md: whatever is sent, the packets of a UE that enter after one instant and leave
//! before another have no more bytes than the capacity between both.

use crate::common::{capacity_scenario, flat, link};
use crate::explained::{Arrivals, arrivals, changed, changing, play, radios, surroundings, times};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, Link, Nanos, ResolvedConfig, UeId};
use proptest::prelude::*;

/// Capacities are sums of fractions; mac.csv rounds them to bytes.
const ROUNDED_BYTES: f64 = 1.0;

/// A packet that was delivered.
#[derive(Debug)]
struct Passed {
    ue: UeId,
    direction: Direction,
    bytes: u32,
    entered: Nanos,
    left: Nanos,
}

fn check(config: &ResolvedConfig, scenario: &Scenario, arrivals: &Arrivals) {
    let mut link: Link<u64> = link(config, scenario);
    play(&mut link, arrivals);
    let entered = times(arrivals);
    let mut passed = Vec::new();
    while let Some(delivery) = link.dequeue() {
        let number = delivery.packet.payload as usize;
        let (_, bytes, down, ue) = arrivals[number];
        passed.push(Passed {
            ue: UeId(ue % link.ues()),
            direction: if down {
                Direction::Downlink
            } else {
                Direction::Uplink
            },
            bytes,
            entered: entered[number],
            left: delivery.due,
        });
    }
    let samples: Vec<_> = link.samples().collect();
    for ue in (0..link.ues()).map(UeId) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let own = samples.iter().filter(|sample| sample.ue == ue);
            let capacity = own.map(|sample| {
                let totals = sample.directions.of(direction).totals;
                (sample.start + sample.duration, totals.capacity_sdu_bytes)
            });
            let own = passed
                .iter()
                .filter(|one| one.ue == ue && one.direction == direction);
            check_intervals(&capacity.collect::<Vec<_>>(), &own.collect::<Vec<_>>());
        }
    }
}

/// Checks all pairs of instants; `capacity` is that until each of them.
fn check_intervals(capacity: &[(Nanos, f64)], passed: &[&Passed]) {
    for (index, &(from, before)) in capacity.iter().enumerate() {
        for &(to, after) in &capacity[index + 1..] {
            let between = passed
                .iter()
                .filter(|one| one.entered >= from && one.left <= to);
            let bytes: u64 = between.map(|one| u64::from(one.bytes)).sum();
            assert!(
                bytes as f64 <= after - before + ROUNDED_BYTES,
                "{bytes} bytes from {from} to {to}, capacity {}",
                after - before
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_packets_pass_a_radio_without_its_capacity(
        arrivals in arrivals(), (radio, sinr_db) in radios(), around in surroundings(),
    ) {
        check(&changed(&[radio, around].concat()), &flat(sinr_db), &arrivals);
    }

    #[test]
    fn no_packets_pass_a_capacity_without_it(
        arrivals in arrivals(), mbps in 1.0..50.0, around in surroundings(),
    ) {
        let scenario = capacity_scenario(&format!(
            "{{dl: {{constant_mbps: {mbps}}}, ul: {{constant_mbps: {}}}}}", mbps / 2.0
        ));
        check(&changed(&around), &scenario, &arrivals);
    }

    #[test]
    fn no_packets_pass_changing_legs_or_beams_without_their_capacity(
        arrivals in arrivals(), (radio, _) in radios(), around in surroundings(), scenario in changing(),
    ) {
        check(&changed(&[radio, around].concat()), &scenario, &arrivals);
    }
}
