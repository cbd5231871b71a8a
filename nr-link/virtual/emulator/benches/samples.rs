// SPDX-License-Identifier: Apache-2.0
//! Samples a second of one core, with the scenario's taps and noise.
//!
//! `cargo bench -p nr-link-channel-emulator` prints a JSON line for each case; nr-link/benchmarks/measure.py reads them.

#[path = "../../../benchmarks/processor_time.rs"]
mod processor_time;

use std::path::Path;

use nr_link_channel_emulator::{Air, Direction, Receiver, Sample, Scale, Start};
use nr_link_model::channel::Channel;
use nr_link_model::radio::Grid;
use nr_link_model::radio::decibel::to_ratio;
use nr_link_model::scenario::Scenario;
use processor_time::calls_per_s;
use serde_json::json;

const RATE_HZ: f64 = 61.44e6;
const SLOT: usize = 30_720;

fn scenario(fading: &str) -> Scenario {
    let text = format!(
        "
schema: rf-scenario/1
name: bench
summary: Fading taps.
sources: [chosen]
license: Apache-2.0
duration_s: 60
radio:
  ss_pbch_block_power_dbm: 0
  level: {{rsrp_dbm: -64}}
  noise: {{sinr_db: 20}}
  mobility: {{speed_mps: 3}}
  fading: {fading}
"
    );
    Scenario::parse(&text, Path::new("bench.yaml")).expect("it is one")
}

/// The loop that a programmer writes first: four complex taps, noise from a table, rounding and saturation, for one
/// direction of one antenna. It has neither fading nor a seed; the compiler may use AVX2.
#[derive(Debug)]
struct Plain {
    taps: [(usize, [f32; 2]); 4],
    noise: Vec<[f32; 2]>,
}

impl Plain {
    fn new() -> Self {
        let taps = [(0, 0.0), (5, -6.0), (12, -10.0), (20, -14.0)];
        let gain = |db: f64| (to_ratio(db).sqrt() / 2.0) as f32;
        Self {
            taps: taps.map(|(delay, db)| (delay, [gain(db), -gain(db) / 2.0])),
            noise: (0..1 << 16)
                .map(|n: usize| {
                    [
                        (n * 7919 % 53) as f32 - 26.0,
                        (n * 104_729 % 53) as f32 - 26.0,
                    ]
                })
                .collect(),
        }
    }

    fn receive(&self, line: &[Sample], out: &mut [Sample]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: this processor has AVX2.
            return unsafe { self.receive_with_avx2(line, out) };
        }
        self.receive_each(line, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn receive_with_avx2(&self, line: &[Sample], out: &mut [Sample]) {
        self.receive_each(line, out);
    }

    /// `line` has as many samples more than `out` as the longest delay.
    #[inline(always)]
    fn receive_each(&self, line: &[Sample], out: &mut [Sample]) {
        let longest = self.taps[3].0;
        for (n, (out, noise)) in out.iter_mut().zip(self.noise.iter().cycle()).enumerate() {
            let [mut i, mut q] = *noise;
            for (delay, [a, b]) in self.taps {
                let [x, y] = line[longest + n - delay].map(f32::from);
                i += a * x - b * y;
                q += b * x + a * y;
            }
            // Conversion saturates.
            *out = [i.round_ties_even() as i16, q.round_ties_even() as i16];
        }
    }
}

/// Returns samples a second of the processor's time: each call of `work` does a slot.
fn rate(work: impl FnMut()) -> f64 {
    calls_per_s(work) * SLOT as f64
}

fn main() {
    let plain = Plain::new();
    let line: Vec<Sample> = (0..SLOT + 20).map(sample).collect();
    let mut out = vec![[0; 2]; SLOT];
    let plain_rate = rate(|| plain.receive(std::hint::black_box(&line), &mut out));
    print(
        "a plain loop: four taps, noise from a table",
        plain_rate,
        plain_rate,
    );
    // At 61.44 MS/s these delays are whole samples.
    let whole = |n: u32| f64::from(n) / RATE_HZ * 1e9;
    let tap = |n, db| format!("{{delay_ns: {}, power_db: {db}}}", whole(n));
    let four = [(0, 0), (5, -6), (12, -10), (20, -14)].map(|(n, db)| tap(n, db));
    let cases = [
        (
            "four taps at samples, noise",
            format!("{{taps: [{}]}}", four.join(", ")),
            1,
            None,
        ),
        (
            "TDL-A, 100 ns, noise",
            "{tdl: {profile: A, delay_spread_ns: 100}}".to_owned(),
            1,
            None,
        ),
        (
            "four taps at samples, 2x2, noise",
            format!("{{taps: [{}]}}", four.join(", ")),
            2,
            None,
        ),
        (
            "four taps at samples, sum of two UEs, noise",
            format!("{{taps: [{}]}}", four.join(", ")),
            1,
            Some(2),
        ),
    ];
    for (name, fading, antennas, uplink_of) in cases {
        let grid = Grid {
            carrier_hz: 3.6e9,
            scs_hz: 30e3,
            prb: 106,
        };
        let pairs = (antennas * antennas) as u64;
        let channels =
            |seed| Channel::on_antennas(&scenario(&fading), &grid, seed, pairs).expect("a channel");
        let ues: Vec<_> = (1..=uplink_of.unwrap_or(1)).map(channels).collect();
        let direction = match uplink_of {
            Some(_) => Direction::Uplink(None),
            None => Direction::Downlink,
        };
        let scale = Scale {
            rate_hz: RATE_HZ,
            occupied_hz: 106.0 * 0.36e6,
            element_power: 134_680.0,
            attach_gain_db: 20.0,
        };
        let start = Start::never();
        start.begin(0);
        let senders = antennas * ues.len();
        let air = Air::new(ues, antennas, direction, scale, start);
        let mut receiver = Receiver::new(air, 1);
        let sent: Vec<Sample> = (0..SLOT * senders).map(sample).collect();
        let (mut out, mut first) = (Vec::new(), 0);
        let rate = rate(|| {
            receiver.receive(first, &sent, &mut out);
            first += SLOT as u64;
        });
        print(name, rate, plain_rate);
    }
}

fn sample(n: usize) -> Sample {
    [
        (n * 7919 % 801) as i16 - 400,
        (n * 104_729 % 801) as i16 - 400,
    ]
}

fn print(case: &str, rate: f64, plain_rate: f64) {
    let line = json!({
        "case": case,
        "msamples_per_s": rate / 1e6,
        "real_time": rate / RATE_HZ,
        "of_plain_loop": rate / plain_rate,
    });
    println!("{line}");
}
