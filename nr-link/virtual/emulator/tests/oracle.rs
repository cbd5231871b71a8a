// SPDX-License-Identifier: Apache-2.0
//! The emulator against independent computations: convolution in exact integers, theory of noise and fading.

#![allow(clippy::disallowed_methods)] // tests compute independently

use std::f64::consts::{PI, TAU};
use std::path::Path;

use nr_link_channel_emulator::{
    Account, Air, Direction, Impulses, LEAD_SAMPLES, PowerControl, Receiver, Response, STEP,
    Sample, Scale, Start,
};
use nr_link_model::channel::{Channel, Observation};
use nr_link_model::radio::Grid;
use nr_link_model::scenario::Scenario;
use num_complex::Complex64;

const RATE_HZ: f64 = 15.36e6;
const GRID: Grid = Grid {
    carrier_hz: 3.6e9,
    scs_hz: 30e3,
    prb: 24,
};
const SCALE: Scale = Scale {
    rate_hz: RATE_HZ,
    occupied_hz: 24.0 * 0.36e6,
    element_power: 134_680.5,
    attach_gain_db: 20.0,
};

/// A channel whose taps do not change.
struct Constant {
    pairs: Vec<Vec<Complex64>>,
    antennas: (usize, usize),
    noise: f64,
}

impl Response for Constant {
    fn antennas(&self) -> (usize, usize) {
        self.antennas
    }

    fn longest(&self) -> usize {
        self.pairs[0].len() - 1
    }

    fn interval(&self) -> u64 {
        10 * STEP as u64
    }

    fn at(&self, _at: u64, _of: u64, seen: &mut Impulses) {
        seen.pairs.clone_from(&self.pairs);
        seen.noise = self.noise;
    }

    fn noise_time(&self, at: u64) -> Option<u64> {
        Some(at)
    }
}

fn constant(taps: &[(usize, f64, f64)]) -> Constant {
    let mut pair = vec![Complex64::ZERO; 40];
    for &(delay, re, im) in taps {
        pair[delay] = Complex64::new(re, im);
    }
    Constant {
        pairs: vec![pair],
        antennas: (1, 1),
        noise: 0.0,
    }
}

/// The convolution written a second time: exact, in units of 2^-12, then rounded half up.
fn convolved(sent: &[Sample], taps: &[(usize, f64, f64)]) -> Vec<Sample> {
    let of = |n: usize, delay: usize| match n.checked_sub(delay) {
        Some(at) => sent[at].map(i64::from),
        None => [0, 0],
    };
    (0..sent.len())
        .map(|n| {
            let (mut i, mut q) = (0, 0);
            for &(delay, re, im) in taps {
                let [x, y] = of(n, delay);
                let (a, b) = ((re * 4096.0) as i64, (im * 4096.0) as i64);
                i += a * x - b * y;
                q += b * x + a * y;
            }
            [i, q].map(|one| ((one + 2048) >> 12).clamp(-32_768, 32_767) as i16)
        })
        .collect()
}

/// Numbers that need no rounding before the sum: multiples of 1/256 of whole samples.
const TAPS: [(usize, f64, f64); 4] = [
    (0, 0.75, -0.25),
    (5, -0.375, 0.0),
    (12, 0.0, 0.125),
    (39, -0.0625, 0.03125),
];

fn chirp(count: usize) -> Vec<Sample> {
    (0..count)
        .map(|n| {
            let phase = PI * (n * n) as f64 / count as f64;
            [phase.cos(), phase.sin()].map(|part| (part * 9000.0).round() as i16)
        })
        .collect()
}

fn received<R: Response>(receiver: &mut Receiver<R>, first: u64, sent: &[Sample]) -> Vec<Sample> {
    let mut out = Vec::new();
    receiver.receive(first, sent, &mut out);
    out
}

/// Returns what arrives if samples come in blocks of these lengths, in turn.
fn in_blocks<R: Response>(
    response: R,
    sent: &[Sample],
    lengths: &[usize],
) -> (Vec<Sample>, Account) {
    let mut receiver = Receiver::new(response, 3);
    let (transmitting, _) = receiver.response().antennas();
    let (mut all, mut at) = (Vec::new(), 0);
    for length in lengths.iter().cycle() {
        if at == sent.len() {
            break;
        }
        let until = sent.len().min(at + length * transmitting);
        all.extend(received(
            &mut receiver,
            (at / transmitting) as u64,
            &sent[at..until],
        ));
        at = until;
    }
    (all, receiver.account())
}

#[test]
fn impulse_and_chirp_are_convolved_to_the_last_bit() {
    let mut impulse = vec![[0; 2]; 300];
    impulse[100] = [20_000, -12_345];
    for sent in [impulse, chirp(5000)] {
        let mut receiver = Receiver::new(constant(&TAPS), 1);
        assert_eq!(received(&mut receiver, 0, &sent), convolved(&sent, &TAPS));
    }
}

#[test]
fn what_16_bits_cannot_hold_is_limited_and_counted() {
    let sent = vec![[32_767, -32_768], [100, 0], [-30_000, 7]];
    let mut receiver = Receiver::new(constant(&[(0, 2.0, 0.0)]), 1);
    let got = received(&mut receiver, 0, &sent);
    assert_eq!(got, [[32_767, -32_768], [200, 0], [-32_768, 14]]);
    let account = receiver.account();
    assert_eq!((account.samples, account.saturated_samples), (3, 2));
    assert_eq!(account.limited_samples, 0);
    // Sums are held within what integers have.
    let mut receiver = Receiver::new(constant(&[(0, 1e6, 0.0)]), 1);
    let got = received(&mut receiver, 0, &sent);
    assert_eq!(got[1], [1600, 0]);
    assert_eq!(receiver.account().limited_samples, 3);
}

#[test]
fn each_receiving_antenna_has_the_sum_of_all_transmitting_ones() {
    let taps = [
        vec![(0, 0.5, 0.0)],
        vec![(3, 0.0, 0.25)],
        vec![(1, -0.25, 0.0)],
        vec![(7, 0.125, 0.5)],
    ];
    let response = Constant {
        pairs: taps
            .iter()
            .map(|one| constant(one).pairs[0].clone())
            .collect(),
        antennas: (2, 2),
        noise: 0.0,
    };
    // Multiples of 8: each product is a whole number.
    let sent: Vec<Sample> = (0..2000)
        .map(|n: i32| [(n * 37 % 999 * 8) as i16, (n * 11 % 777 * 8) as i16])
        .collect();
    let antenna = |which: usize| {
        sent.iter()
            .skip(which)
            .step_by(2)
            .copied()
            .collect::<Vec<_>>()
    };
    let (got, _) = in_blocks(response, &sent, &[1, 333, 64]);
    for receiving in 0..2 {
        let parts = [0, 1].map(|from| convolved(&antenna(from), &taps[receiving * 2 + from]));
        let wanted: Vec<Sample> = parts[0]
            .iter()
            .zip(&parts[1])
            .map(|(a, b)| [a[0] + b[0], a[1] + b[1]])
            .collect();
        let got: Vec<Sample> = got.iter().skip(receiving).step_by(2).copied().collect();
        assert_eq!(got, wanted);
    }
}

fn scenario(radio: &str) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: x\nsummary: x\nsources: [x]\nlicense: CC0-1.0\nduration_s: 100\n\
         radio:\n  ss_pbch_block_power_dbm: 0\n{radio}"
    );
    Scenario::parse(&text, Path::new("x.yaml")).unwrap()
}

const FADING: &str = "  level: {rsrp_dbm: -70}
  noise: {sinr_db: 15}
  mobility: {speed_mps: 30}
  fading: {taps: [{delay_ns: 0, power_db: 0}, {delay_ns: 210, power_db: -3}, {delay_ns: 777, power_db: -8}]}
";
const STATIC: &str = "  level: {rsrp_dbm: -74}\n  noise: {sinr_db: 12}\n";

fn air(radio: &str, seed: u64, antennas: usize, uplink: bool) -> Air {
    let pairs = (antennas * antennas) as u64;
    let channels = Channel::on_antennas(&scenario(radio), &GRID, seed, pairs).unwrap();
    let start = Start::never();
    start.begin(7680);
    let direction = match uplink {
        true => Direction::Uplink(None),
        false => Direction::Downlink,
    };
    Air::new(vec![channels], antennas, direction, SCALE, start)
}

#[test]
fn blocks_of_any_length_give_the_same_samples_and_the_same_seed_too() {
    let sent = chirp(24_000);
    let (whole, _) = in_blocks(air(FADING, 1, 1, false), &sent, &[24_000]);
    for lengths in [&[1, 7679][..], &[7480, 200], &[63, 1, 64, 129], &[1000]] {
        let (got, account) = in_blocks(air(FADING, 1, 1, false), &sent, lengths);
        assert!(got == whole, "{lengths:?}");
        assert_eq!(account.samples, 24_000);
    }
    let (other, _) = in_blocks(air(FADING, 2, 1, false), &sent, &[24_000]);
    assert!(
        other[..7680] == whole[..7680],
        "before the scenario there is no fading"
    );
    assert!(other[7680..] != whole[7680..]);
}

#[test]
fn both_directions_meet_the_same_taps() {
    // An impulse in each, sent to another antenna and back.
    let mut first = vec![[0; 2]; 20_000];
    first[2 * 9000] = [16_000, 0];
    let mut second = vec![[0; 2]; 20_000];
    second[2 * 9000 + 1] = [16_000, 0];
    let quiet = FADING.replace("sinr_db: 15", "sinr_db: 60");
    let (down, _) = in_blocks(air(&quiet, 1, 2, false), &first, &[4000]);
    let (up, _) = in_blocks(air(&quiet, 1, 2, true), &second, &[4000]);
    // From the gNB's first antenna to the UE's second, and back.
    let down: Vec<_> = down[2 * 9000..]
        .iter()
        .skip(1)
        .step_by(2)
        .take(40)
        .collect();
    let up: Vec<_> = up[2 * 9000..].iter().step_by(2).take(40).collect();
    let close = |(a, b): (&&Sample, &&Sample)| a[0].abs_diff(b[0]) < 4 && a[1].abs_diff(b[1]) < 4;
    assert!(down.iter().zip(&up).all(close), "{down:?} {up:?}");
    assert!(down.iter().any(|one| one[0].unsigned_abs() > 400));
}

#[test]
fn two_antennas_without_fading_carry_two_layers() {
    let quiet = STATIC.replace("sinr_db: 12", "sinr_db: 60");
    for uplink in [false, true] {
        // An impulse from each antenna: the columns of the channel's matrix, which are at right angles.
        let columns = [0, 1].map(|from| {
            let mut sent = vec![[0; 2]; 20_000];
            sent[2 * 9000 + from] = [16_000, 0];
            let (got, _) = in_blocks(air(&quiet, 1, 2, uplink), &sent, &[4000]);
            let of = |antenna: usize| {
                let heard = got
                    .iter()
                    .skip(antenna)
                    .step_by(2)
                    .map(|one| i64::from(one[0]));
                heard.max_by_key(|part| part.abs()).unwrap()
            };
            [of(0), of(1)]
        });
        let [[a, c], [b, d]] = columns;
        let (power, across) = (a * a + c * c, (a * b + c * d).abs());
        assert!(a > 1000 && across * 100 < power, "{columns:?}");
    }
}

#[test]
fn noise_has_its_power_and_its_distribution() {
    let silence = vec![[0; 2]; 600_000];
    for sinr_db in [0.0, 12.0, 30.0] {
        let radio = format!("  level: {{rsrp_dbm: -74}}\n  noise: {{sinr_db: {sinr_db}}}\n");
        let (got, _) = in_blocks(air(&radio, 5, 1, false), &silence, &[7680]);
        let noise = &got[7680..];
        let power: f64 = noise
            .iter()
            .flatten()
            .map(|&part| f64::from(part).powi(2))
            .sum();
        let power = power / noise.len() as f64;
        let wanted = SCALE.element_power / 10f64.powf(sinr_db / 10.0);
        let off_db = 10.0 * (power / wanted).log10();
        assert!(off_db.abs() < 0.05, "{sinr_db}: {off_db}");
        // Rounding to integers leaves no mean; the fourth moment of a Gaussian variable is 3.
        let parts = || {
            noise
                .iter()
                .flatten()
                .map(|&part| f64::from(part) / (power / 2.0).sqrt())
        };
        let count = 2.0 * noise.len() as f64;
        assert!((parts().sum::<f64>() / count).abs() < 0.005);
        let fourth = parts().map(|x| x.powi(4)).sum::<f64>() / count;
        assert!((fourth - 3.0).abs() < 0.05, "{fourth}");
        // White, and I and Q independent.
        for lag in 0..4 {
            let products = noise.iter().zip(&noise[lag..]).map(|(a, b)| {
                let (a, b) = (
                    Complex64::new(a[0].into(), a[1].into()),
                    Complex64::new(b[0].into(), b[1].into()),
                );
                (a * b.conj(), a * b)
            });
            let (with, without): (Vec<_>, Vec<_>) = products.unzip();
            let mean = |of: Vec<Complex64>| {
                of.iter().sum::<Complex64>().norm() / noise.len() as f64 / power
            };
            assert!(lag == 0 || mean(with) < 0.006);
            assert!(mean(without) < 0.006);
        }
    }
}

#[test]
fn a_tone_has_the_frequency_response_of_the_model_and_its_snr() {
    // 1.2 MHz above the centre; the model has groups of 4 PRB, whose centres are 1.44 MHz apart.
    let quiet = FADING
        .replace("sinr_db: 15", "sinr_db: 70")
        .replace("speed_mps: 30", "speed_mps: 3");
    let air = air(&quiet, 9, 1, false);
    let channel = Channel::new(&scenario(&quiet), &GRID, 9).unwrap();
    let mut receiver = Receiver::new(air, 1);
    let mut seen = Observation::default();
    for group in 0..6 {
        let tone_hz = (group as f64 - 2.5) * 1.44e6;
        let step = tone_hz / RATE_HZ;
        // The time since the scenario's begin, in samples; each group later than the last.
        let begins = 7680 + 500_000 * group as u64;
        let sent: Vec<Sample> = (0..4096)
            .map(|n| {
                [(TAU * step * n as f64).cos(), (TAU * step * n as f64).sin()]
                    .map(|x| (x * 16_000.0).round() as i16)
            })
            .collect();
        let got = received(&mut receiver, begins, &sent);
        let power = |from: &[Sample]| {
            let parts = from[200..]
                .iter()
                .flatten()
                .map(|&part| f64::from(part).powi(2));
            parts.sum::<f64>() / (from.len() - 200) as f64
        };
        let gain_db = 10.0 * (power(&got) / power(&sent)).log10();
        let t = (500_000.0 * group as f64 + 2100.0) / RATE_HZ * 1e9;
        channel.observe(t as u64, &mut seen);
        let wanted_db = f64::from(seen.sinr_db[group]) - 70.0;
        assert!(
            (gain_db - wanted_db).abs() < 0.1,
            "{group}: {gain_db} {wanted_db}"
        );
    }
}

#[test]
fn fading_has_the_doppler_spectrum_of_jakes() {
    // One tap at 30 m/s and 3.6 GHz: 360 Hz. Its autocorrelation is J0(2π f t).
    let doppler_hz = 30.0 * 3.6e9 / 299_792_458.0;
    let radio = "  level: {rsrp_dbm: -74}
  noise: {sinr_db: 70}
  mobility: {speed_mps: 30}
  fading: {taps: [{delay_ns: 0, power_db: 0}]}
";
    let mut response = [0.0; 8];
    let (seeds, instants) = (12, 1500);
    let lag_s = 0.25e-3;
    let mut seen = Impulses::default();
    for seed in 0..seeds {
        let air = air(radio, seed, 1, false);
        let gains: Vec<Complex64> = (0..instants)
            .map(|n| {
                let at = 7680 + (n as f64 * lag_s * RATE_HZ) as u64;
                air.at(at, at, &mut seen);
                seen.pairs[0][LEAD_SAMPLES]
            })
            .collect();
        for (lag, sum) in response.iter_mut().enumerate() {
            let products = gains
                .iter()
                .zip(&gains[lag..])
                .map(|(a, b)| (a * b.conj()).re);
            *sum += products.sum::<f64>() / ((instants - lag) as f64 * f64::from(seeds as u32));
        }
    }
    for (lag, correlation) in response.iter().enumerate() {
        let wanted = bessel(TAU * doppler_hz * lag_s * lag as f64);
        assert!(
            (correlation / response[0] - wanted).abs() < 0.08,
            "{lag}: {correlation} {wanted}"
        );
    }
    assert!((response[0] - 1.0).abs() < 0.1);
}

/// The Bessel function J0, by its integral.
fn bessel(x: f64) -> f64 {
    let steps = 1000;
    let sum: f64 = (0..steps)
        .map(|n| (x * (PI * (n as f64 + 0.5) / steps as f64).sin()).cos())
        .sum();
    sum / steps as f64
}

#[test]
fn what_a_transmitter_leaves_out_is_silence() {
    let taps = [(0, 0.5, 0.0), (30, 0.5, 0.0)];
    let mut receiver = Receiver::new(constant(&taps), 1);
    assert_eq!(received(&mut receiver, 0, &[[1000, 0]]), [[500, 0]]);
    // 9 samples are missing: the echo comes all the same.
    let got = received(&mut receiver, 10, &[[0; 2]; 30]);
    assert_eq!(got[20], [500, 0]);
    assert_eq!(got.iter().filter(|one| one[0] != 0).count(), 1);
    assert_eq!(receiver.account().missing_samples, 9);
    // After a restart nothing of before is heard.
    let got = received(&mut receiver, 5, &[[0; 2]; 40]);
    assert!(got.iter().all(|one| *one == [0; 2]));
}

#[test]
fn states_are_those_of_the_scenario() {
    let air = air(STATIC, 1, 1, false);
    assert!((air.energy_after(0.0, 10.0)).abs() < 1e-12);
    let state = air.states(7680 + 15_360).remove(0);
    assert!((state.radio_s - 0.001).abs() < 1e-9);
    assert!((state.rsrp_dbm + 74.0).abs() < 1e-3);
    assert!((state.snr_db - 12.0).abs() < 1e-3);
    assert!(state.gain_db.abs() < 1e-3); // The level is held, whatever the RSRP.
    let late = self::air(FADING, 1, 1, false).energy_after(500e-9, 100.0);
    // The third tap has -8 dB of the sum of 0, -3 and -8 dB.
    let powers = [0.0, -3.0, -8.0].map(|db: f64| 10f64.powf(db / 10.0));
    assert!(
        (late - powers[2] / powers.iter().sum::<f64>()).abs() < 0.05,
        "{late}"
    );
}

#[test]
fn noise_level_follows_the_account() {
    let sent = chirp(50_000);
    let mut receiver = Receiver::new(air(STATIC, 4, 1, false), 4);
    received(&mut receiver, 7680, &sent);
    let account = receiver.account();
    let mean = account.power / account.samples as f64;
    // The signal has 9000², and noise is 12 dB below the power of resource elements.
    let wanted = 8.1e7 + SCALE.element_power / 10f64.powf(1.2);
    assert!((mean / wanted - 1.0).abs() < 0.01, "{mean} {wanted}");
}

#[test]
fn the_uplink_has_the_power_that_is_left_to_each_ue() {
    // Path losses of 74 and 120 dB; the noise of the gNB, -120 dBm, is not that of the UE.
    let radio = |rsrp_dbm: i32| {
        format!(
            "  level: {{rsrp_dbm: {rsrp_dbm}}}\n  noise: {{sinr_db: 30}}\n  noise_ul: {{floor_dbm_per_re: -120}}\n"
        )
    };
    let ues = [-74, -120]
        .map(|rsrp_dbm| Channel::on_antennas(&scenario(&radio(rsrp_dbm)), &GRID, 1, 1).unwrap());
    let control = PowerControl {
        target_snr_db: 20.0,
        most_dbm: -2.0,
    };
    let start = Start::never();
    start.begin(7680);
    let direction = Direction::Uplink(Some(control));
    let air = Air::new(ues.to_vec(), 1, direction, SCALE, start);
    let states = air.states(7680);
    // The first is held at the target; the second has -2 dBm - 120 dB + 120 dBm.
    for (state, wanted_db) in states.iter().zip([20.0, -2.0]) {
        assert!((state.snr_db - wanted_db).abs() < 0.01, "{state:?}");
    }
    assert!((states[0].gain_db - states[1].gain_db - 22.0).abs() < 0.01);
    // The noise at the gNB, and what both UEs add to it.
    let power = |sent: &[Sample]| {
        let mut receiver = Receiver::new(air.clone(), 4);
        received(&mut receiver, 7680, sent);
        receiver.account().power / receiver.account().samples as f64
    };
    let silence = vec![[0; 2]; 400_000];
    let off_db = 10.0 * (power(&silence) / (SCALE.element_power / 100.0)).log10();
    assert!(off_db.abs() < 0.05, "{off_db}");
    let loud: Vec<Sample> = (0..400_000).map(|n| [0, 3000 * (n % 2) as i16]).collect();
    let gained = power(&loud) - power(&silence);
    let wanted = 9e6 / 10f64.powf(2.2);
    assert!((gained / wanted - 1.0).abs() < 0.05, "{gained} {wanted}");
}
