// SPDX-License-Identifier: Apache-2.0
//! The delay that the MAC adds to a packet.

use std::path::Path;

use super::access::Access;
use super::source::UeRadio;
use super::{Link, Source};
use crate::channel::Channel;
use crate::config::{PathConfig, PerDirection, RadioConfig, ResolvedConfig, Uplink};
use crate::ids::UeId;
use crate::scenario::Scenario;
use crate::{Ecn, Nanos, Packet, Port};

/// The number of packets in each direction, spread evenly over the phases of one second.
const PROBES: u64 = 200;
/// The time between two packets, far longer than the delay of each.
const SPACING: Nanos = 80_000_000;
/// The shift of each packet against the TDD pattern, so that all phases of 10 ms occur.
const SHIFT: Nanos = 10_000_000 / PROBES;
/// More than a TCP acknowledgement, less than the grant that answers a scheduling request.
const PROBE_BYTES: u32 = 64;

/// A scenario without transmission errors.
const CLEAR: &str = "
schema: rf-scenario/1
name: clear
summary: Nothing fails.
sources: [chosen]
license: Apache-2.0
duration_s: 1
radio: {ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -50}, noise: {floor_dbm_per_re: -100}}
";

impl<T> Link<T> {
    /// Measures the mean delay that the MAC adds to a packet with an empty queue and a clear
    /// channel, ms: slot alignment, TDD, requests and grants, processing. It sends packets at all
    /// phases of the TDD pattern through a link of this configuration without its path, which takes
    /// some milliseconds, so call it once. 0 over a capacity trace, which has no MAC.
    pub fn mac_floor_ms(&self, config: &ResolvedConfig) -> PerDirection<f64> {
        match (&self.access, &config.radio) {
            (Access::Radio(_), Some(radio)) => floor_ms(clear_link(config, radio)),
            _ => PerDirection::default(),
        }
    }
}

/// Returns the mean delay of single packets, ms.
fn floor_ms(mut link: Link<()>) -> PerDirection<f64> {
    let mut delays = PerDirection { dl: 0, ul: 0 };
    for probe in 1..=PROBES {
        let sent = probe * (SPACING + SHIFT);
        link.advance(sent);
        for from in [Port::Core { ue: UeId(0) }, Port::Ue(UeId(0))] {
            let packet = Packet::new(PROBE_BYTES, Ecn::NotEct, ());
            link.enqueue(from, packet, sent);
        }
        link.advance(sent + SPACING);
        while let Some(delivery) = link.dequeue() {
            match delivery.to {
                Port::Ue(_) => delays.dl += delivery.due - sent,
                Port::Core { .. } => delays.ul += delivery.due - sent,
            }
        }
        link.samples();
    }
    let mean_ms = |sum: Nanos| sum as f64 / PROBES as f64 / 1e6;
    PerDirection {
        dl: mean_ms(delays.dl),
        ul: mean_ms(delays.ul),
    }
}

/// Makes a link of this configuration with one UE, without path and without transmission errors.
fn clear_link(config: &ResolvedConfig, radio: &RadioConfig) -> Link<()> {
    let mut config = config.clone();
    config.path = PerDirection {
        dl: PathConfig::default(),
        ul: PathConfig::default(),
    };
    config.ues.truncate(1);
    config.radio = Some(RadioConfig {
        uplink: Uplink {
            pcmax_dbm: 60.0,
            target_snr_db: 40.0,
            as_downlink: false,
            grants: radio.uplink.grants,
        },
        drx: None,
        rrc: None,
        ..radio.clone()
    });
    let scenario = Scenario::parse(CLEAR, Path::new("clear.yaml")).expect("the scenario is valid");
    let grids: Vec<_> = radio.grids().collect();
    let channels = Channel::on_carriers(&scenario, &grids, 0).expect("it needs no geometry");
    Link::new(&config, Source::Radio(vec![UeRadio::in_one_cell(channels)]))
        .expect("one channel for each carrier")
}
