// SPDX-License-Identifier: Apache-2.0
//! `urban-mmwave` gives a UDP sender the throughput of the paper's street: 824.8 Mbit/s of payload
//! behind a server of 1 Gbit/s (Poorzare and Calveras, IEEE Access 2021, section IV).

use std::path::Path;

use nr_link_model::channel::Channel;
use nr_link_model::scenario::Scenario;
use nr_link_model::{Ecn, Link, Packet, Port, ResolvedConfig, UeId};

const MS: u64 = 1_000_000;
const PAYLOAD_BYTES: u32 = 1400; // table 1
const UDP_IP_BYTES: u32 = 28;
/// Preamble, Ethernet header, checksum and gap: the 1 Gbit/s of the server are those of its port.
const ETHERNET_BYTES: u32 = 38;
const PAPER_MBPS: f64 = 824.825;

fn config() -> ResolvedConfig {
    let changes = [
        ("carrier_ghz: 3.6", "carrier_ghz: 28"),
        ("numerology: 1", "numerology: 3"),
        ("prb: 106", "prb: 264"),
        (
            "pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}",
            "pattern: DDDSU, special: {dl_symbols: 10, ul_symbols: 2}",
        ),
        ("mcs_table: 64qam", "mcs_table: 256qam"),
        ("dl: {packets: 3200}", "dl: {bytes: 20000000}"),
    ];
    let mut text = include_str!("../common/link.yaml").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?} is not in link.yaml");
        text = text.replacen(from, to, 1);
    }
    ResolvedConfig::parse(&text, Path::new("link.yaml")).unwrap()
}

/// Returns the Mbit/s of payload that the UE receives in the 60 s of the scenario.
fn saturation_mbps(scenario: &Scenario, config: &ResolvedConfig, seed: u64) -> f64 {
    let channel = Channel::new(
        scenario,
        &config.radio().unwrap().grids().next().unwrap(),
        seed,
    )
    .unwrap();
    let mut link = Link::new(config, vec![channel]).unwrap();
    let packet_bits = u64::from(8 * (PAYLOAD_BYTES + UDP_IP_BYTES + ETHERNET_BYTES));
    let (mut sent, mut arrived) = (0, 0);
    for ms in 0..60_000 {
        link.advance(ms * MS);
        while sent * packet_bits < ms * 1_000_000 {
            let packet = Packet::new(PAYLOAD_BYTES + UDP_IP_BYTES, Ecn::NotEct, 0u64);
            link.enqueue(Port::Core { ue: UeId(0) }, packet, ms * MS);
            sent += 1;
        }
        arrived += std::iter::from_fn(|| link.dequeue()).count();
    }
    arrived as f64 * f64::from(8 * PAYLOAD_BYTES) / 60e6
}

fn street_mbps(seed: u64) -> f64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rf-scenarios");
    let street = Scenario::load(&folder.join("urban-mmwave.yaml")).unwrap();
    saturation_mbps(&street, &config(), seed)
}

#[test]
fn udp_throughput_is_that_of_the_paper_within_5_per_cent() {
    let mbps = street_mbps(1);
    assert!((mbps / PAPER_MBPS - 1.0).abs() < 0.05, "{mbps} Mbit/s");
}

/// The blockage was fitted with seed 1; other seeds show whether the fit is general.
#[test]
#[ignore = "takes minutes: cargo test --release --test scenario_urban_mmwave -- --ignored --nocapture"]
fn so_it_is_on_average_over_ten_seeds() {
    let rates: Vec<f64> = (1..=10).map(street_mbps).collect();
    eprintln!("seeds 1 to 10: {rates:.1?} Mbit/s");
    let mean = rates.iter().sum::<f64>() / 10.0;
    assert!((mean / PAPER_MBPS - 1.0).abs() < 0.05, "{mean} Mbit/s");
}
