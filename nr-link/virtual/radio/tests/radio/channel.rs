// SPDX-License-Identifier: Apache-2.0
//! The scenario's channel on the samples of stand-ins.

use std::path::Path;
use std::sync::{Arc, Mutex};

use nr_link_virtual_plan::radio::{Answer, Channels, Request};

use crate::modems::{ADVANCE, Client, SLOT, Testbed, end, eventually, sent_sample};

pub const LINK: &str = "schema: nr-link/1
seed: 1
mtu_bytes: 1500
radio:
  carrier_ghz: 3.6
  numerology: 1
  prb: 24
  duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}
  layers: {dl: 1, ul: 1}
  mcs_table: 64qam
  link_adaptation: {olla: {bler_target: 0.1}}
scenario: scenario.yaml
path: {dl: {delay_ms: 0}, ul: {delay_ms: 0}}
queue: {dl: {packets: 100}, ul: {packets: 100}}
samples: {interval_ms: 100}
devices: {core: {name: core}, ue: [{name: ue1}]}
output: {mac: mac.csv, link: link.csv, summary: summary.json}
";
/// The level is held, and noise is far below the rounding. The second tap has -40 dB, and comes after the cyclic prefix.
pub const SCENARIO: &str = "schema: rf-scenario/1
name: x
summary: x
sources: [x]
license: CC0-1.0
duration_s: 100
radio:
  ss_pbch_block_power_dbm: 0
  level: {rsrp_dbm: -74}
  noise: {sinr_db: 80}
";
const LATE_TAP: &str = "  fading: {taps: [{delay_ns: 0, power_db: 0, k_factor_db: 60}, {delay_ns: 3000, power_db: -20}]}\n";
/// The emulator is late by so many samples.
const LATE: u64 = 9;

/// The channels that a modem has heard: the channel while it attaches, that of the scenario, or something else.
#[derive(Debug, Default)]
struct Heard {
    attaching_until: Option<u64>,
    scenario_from: Option<u64>,
    scenario_samples: u64,
    wrong_samples: u64,
}

impl Heard {
    fn hear(&mut self, n: u64, got: [i16; 2]) {
        let sent = sent_sample(n.checked_sub(LATE));
        let near = |gain: f64, allowed: f64| {
            let off = |at: usize| (f64::from(got[at]) - gain * f64::from(sent[at])).abs();
            off(0) <= allowed && off(1) <= allowed
        };
        match (near(10.0, 0.0), near(1.0, 0.52)) {
            (true, true) => {}
            (true, false) => self.attaching_until = Some(n),
            (false, true) => {
                self.scenario_from.get_or_insert(n);
                self.scenario_samples += 1;
            }
            (false, false) => self.wrong_samples += 1,
        }
    }
}

fn write(folder: &Path, scenario: &str) {
    std::fs::write(folder.join("link.yaml"), LINK).unwrap();
    std::fs::write(folder.join("scenario.yaml"), scenario).unwrap();
}

/// The ends' addresses are those of one test.
fn hold(first: u8) -> Request {
    Request::Hold {
        server: end(first),
        ues: vec![end(first + 1)],
        processes: vec![],
    }
}

#[test]
fn samples_meet_the_scenario_from_its_first_slot_on() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), SCENARIO);
    let heard = [(); 2].map(|()| Arc::new(Mutex::new(Heard::default())));
    let hearing = heard.each_ref().map(|heard| {
        let heard = Arc::clone(heard);
        move |n: u64, got: [i16; 2]| heard.lock().unwrap().hear(n, got)
    });
    let path = folder.path().display().to_string();
    let more = format!(" --channel {path}/link.yaml --channel-record {path}/channel.csv");
    let testbed = Testbed::start(folder, &more, hearing);
    let mut hosts = Client::connect(&testbed.socket);
    eventually(|| (hosts.state().connected_ues == 1).then_some(()));
    let Answer::Held {
        late_energy_ratio, ..
    } = hosts.ask(&hold(3))
    else {
        panic!("not held");
    };
    assert_eq!(late_energy_ratio, Some(0.0));
    hosts.ask(&Request::Begin { utc_ns: 1_000_000 });
    for _ in 0..60 {
        hosts.slot(&[], &[]);
    }
    for (heard, advance) in heard.iter().zip([0, ADVANCE]) {
        eventually(|| (heard.lock().unwrap().scenario_samples > 50 * SLOT).then_some(()));
        let heard = heard.lock().unwrap();
        assert_eq!(heard.wrong_samples, 0, "{heard:?}");
        let begins = heard.scenario_from.unwrap().div_ceil(SLOT) * SLOT;
        // The scenario begins with a slot; samples of few are the same in both channels.
        assert!(
            begins - heard.attaching_until.unwrap() < 20 + advance,
            "{heard:?}"
        );
        assert!(heard.attaching_until < heard.scenario_from);
    }
    let Channels { dl, ul } = hosts.state().channel.unwrap();
    for channel in dl.into_iter().chain([ul]) {
        assert!(channel.samples > 50 * SLOT);
        assert_eq!((channel.saturated_samples, channel.limited_samples), (0, 0));
        assert_eq!(channel.missing_samples, 0);
    }
    let record = std::fs::read_to_string(testbed.folder.path().join("channel.csv")).unwrap();
    let lines: Vec<_> = record.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "utc_ns,radio_s,ue,rsrp_dbm,sinr_db,gain_db,noise_db,ul_sinr_db,ul_gain_db,ul_noise_db,delay_ns_1,re_1,im_1",
            "1000000,0.0000,0,-74.00,80.00,0.00,,80.00,0.00,,0.0,1.00000,0.00000"
        ]
    );
    // Each 20 slots, of 60.
    assert_eq!(lines.len(), 4, "{record}");
    assert!(lines[2].starts_with("11000000,0.0100,0,"));
}

#[test]
fn energy_after_the_cyclic_prefix_is_stated() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &format!("{SCENARIO}{LATE_TAP}"));
    let more = format!(" --channel {}/link.yaml", folder.path().display());
    let silent = |_: u64, _: [i16; 2]| {};
    let testbed = Testbed::start(folder, &more, [silent, silent]);
    let mut hosts = Client::connect(&testbed.socket);
    eventually(|| (hosts.state().connected_ues == 1).then_some(()));
    let Answer::Held {
        late_energy_ratio: Some(ratio),
        ..
    } = hosts.ask(&hold(5))
    else {
        panic!("no share");
    };
    // A UE that stands still: one draw of a Rayleigh fading of -20 dB.
    assert!(ratio > 1e-5 && ratio < 0.1, "{ratio}");
}
