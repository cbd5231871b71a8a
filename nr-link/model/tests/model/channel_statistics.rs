// SPDX-License-Identifier: Apache-2.0
//! The channel's random processes have the statistics of their theory, and `rome-moderate` those of
//! its source.

use std::f64::consts::TAU;
use std::path::Path;

use nr_link_model::channel::{Channel, Observation};
use nr_link_model::radio::Grid;
use nr_link_model::scenario::Scenario;
use proptest::prelude::*;

const GRID: Grid = Grid {
    carrier_hz: 3.6e9,
    scs_hz: 30e3,
    prb: 106,
};
const WAVELENGTH_M: f64 = 299_792_458.0 / 3.6e9;
const SECOND: u64 = 1_000_000_000;

fn scenario(radio: &str) -> Scenario {
    let text = format!(
        "schema: rf-scenario/1\nname: x\nsummary: x\nsources: [x]\nlicense: CC0-1.0\nduration_s: 100\n\
         radio:\n  ss_pbch_block_power_dbm: 0\n  noise: {{floor_dbm_per_re: -80}}\n{radio}"
    );
    Scenario::parse(&text, Path::new("x.yaml")).unwrap()
}

fn shipped(name: &str) -> Scenario {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rf-scenarios");
    Scenario::load(&folder.join(name)).unwrap()
}

fn observations(channel: &Channel, times: impl Iterator<Item = u64>) -> Vec<Observation> {
    times
        .map(|t| {
            let mut seen = Observation::default();
            channel.observe(t, &mut seen);
            seen
        })
        .collect()
}

/// Returns the power of the first group relative to its mean, at each multiple of `step_m` of
/// distance.
fn envelope(radio: &str, seed: u64, step_m: f64, count: usize) -> Vec<f64> {
    let channel = Channel::new(&scenario(radio), &GRID, seed).unwrap();
    let times = (0..count).map(|n| (n as f64 * step_m * 1e8).round() as u64); // at 10 m/s
    let powers = observations(&channel, times).into_iter();
    powers
        .map(|seen| 10f64.powf((f64::from(seen.sinr_db[0]) - 30.0) / 10.0))
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn covariance(values: &[f64], lag: usize) -> f64 {
    let middle = mean(values);
    let products = values
        .iter()
        .zip(&values[lag..])
        .map(|(a, b)| (a - middle) * (b - middle));
    products.sum::<f64>() / (values.len() - lag) as f64
}

fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// Computes Bessel's J0 from its integral, which the code under test does not use.
fn bessel_j0(x: f64) -> f64 {
    let turns = (0..1000).map(|n| (x * (TAU * (f64::from(n) + 0.5) / 1000.0).sin()).cos());
    turns.sum::<f64>() / 1000.0
}

const RAYLEIGH: &str = "  level: {rsrp_dbm: -50}\n  mobility: {speed_mps: 10}\n  fading:\n    taps: [{delay_ns: 0, power_db: 0}]\n";

#[test]
fn a_tap_without_specular_part_is_rayleigh() {
    let powers: Vec<f64> = (0..20)
        .flat_map(|seed| envelope(RAYLEIGH, seed, 0.37, 2000))
        .collect();
    assert!((mean(&powers) - 1.0).abs() < 0.02, "mean {}", mean(&powers));
    for share in [0.02, 0.1, 0.5, 0.9, 0.99] {
        let expected = -f64::ln(1.0 - share); // power of a Rayleigh envelope is exponential
        let found = percentile(&powers, share);
        assert!(
            (found / expected - 1.0).abs() < 0.08,
            "{share}: {found}, not {expected}"
        );
    }
}

/// The covariance of the power of a Rayleigh envelope is J0²(2πΔ/λ) (Clarke 1968). For 16 waves of
/// equal strength it differs by at most 1/16, where their correlation is largest.
#[test]
fn fading_has_the_correlation_of_clarkes_model() {
    let step_m = WAVELENGTH_M / 16.0;
    let drawn: Vec<Vec<f64>> = (0..40)
        .map(|seed| envelope(RAYLEIGH, seed, step_m, 4000))
        .collect();
    for lag in 0..40 {
        let found = mean(
            &drawn
                .iter()
                .map(|powers| covariance(powers, lag))
                .collect::<Vec<_>>(),
        );
        let expected = bessel_j0(TAU * lag as f64 / 16.0).powi(2) - 1.0 / 32.0;
        assert!(
            (found - expected).abs() < 0.05,
            "λ·{lag}/16: {found}, not {expected}"
        );
    }
}

/// Rice: the variance of the power over its squared mean is (2K + 1)/(K + 1)².
#[test]
fn a_specular_part_reduces_the_variance_of_the_envelope() {
    for (k_db, k) in [(0.0, 1.0), (7.0, 5.011_87), (13.3, 21.379_6)] {
        let radio = RAYLEIGH.replace("power_db: 0", &format!("power_db: 0, k_factor_db: {k_db}"));
        let powers: Vec<f64> = (0..20)
            .flat_map(|seed| envelope(&radio, seed, 0.37, 2000))
            .collect();
        let expected = (2.0 * k + 1.0) / (k + 1.0_f64).powi(2);
        let found = covariance(&powers, 0) / mean(&powers).powi(2);
        assert!(
            (found / expected - 1.0).abs() < 0.08,
            "K {k_db} dB: {found}, not {expected}"
        );
    }
}

/// Two equal taps at a distance of τ: the covariance of the power over frequency is cos²(π·Δf·τ).
#[test]
fn delays_cause_frequency_selective_fading() {
    let delay_s = 200e-9;
    let radio = RAYLEIGH
        .replace("[{", "[{delay_ns: 200, power_db: 0}, {")
        .replace(
            "[{delay_ns: 200, power_db: 0}, {delay_ns: 0, power_db: 0}]",
            "[{delay_ns: 0, power_db: 0}, {delay_ns: 200, power_db: 0}]",
        );
    let mut products = [0.0; 14];
    for seed in 0..20 {
        let channel = Channel::new(&scenario(&radio), &GRID, seed).unwrap();
        for seen in observations(&channel, (0..1000).map(|n| n * SECOND / 10 + n)) {
            assert_eq!(seen.sinr_db.len(), products.len());
            let power = |db: f32| 10f64.powf((f64::from(db) - 30.0) / 10.0);
            let first = power(seen.sinr_db[0]);
            for (product, db) in products.iter_mut().zip(&seen.sinr_db) {
                *product += first * power(*db) / 20_000.0;
            }
        }
    }
    let width_hz = 106.0 * 12.0 * 30e3 / 14.0;
    for (group, product) in products.iter().enumerate() {
        let expected = (std::f64::consts::PI * width_hz * group as f64 * delay_s)
            .cos()
            .powi(2);
        assert!(
            (product - 1.0 - expected).abs() < 0.12,
            "group {group}: {product} - 1, not {expected}"
        );
    }
}

/// Gudmundson (1991): the configured standard deviation, and the correlation e^(−Δ/d).
#[test]
fn shadowing_has_the_configured_deviation_and_correlation() {
    let radio = "  level: {rsrp_dbm: -50}\n  mobility: {speed_mps: 10}\n  shadowing: {std_db: 6, decorrelation_m: 10}\n";
    let drawn: Vec<Vec<f64>> = (0..40)
        .map(|seed| {
            let channel = Channel::new(&scenario(radio), &GRID, seed).unwrap();
            let seen = observations(&channel, (0..1000).map(|n| n * SECOND / 10));
            seen.iter()
                .map(|seen| f64::from(seen.sinr_db[0]) - 30.0)
                .collect()
        })
        .collect();
    for lag in [0, 2, 5, 10, 20, 40] {
        let product = |values: &Vec<f64>| {
            values
                .iter()
                .zip(&values[lag..])
                .map(|(a, b)| a * b)
                .sum::<f64>()
                / (1000 - lag) as f64
        };
        let found = mean(&drawn.iter().map(product).collect::<Vec<_>>()) / 36.0;
        let expected = (-(lag as f64) / 10.0).exp();
        assert!(
            (found - expected).abs() < 0.06,
            "{lag} m: {found}, not {expected}"
        );
    }
}

#[test]
fn rsrp_and_path_loss_follow_the_level() {
    let channel = Channel::new(
        &scenario("  level: {rsrp_dbm: [[0, -50], [50, -54]]}\n"),
        &GRID,
        1,
    )
    .unwrap();
    for seen in observations(&channel, (1..99).map(|n| n * SECOND)) {
        assert_eq!(seen.path_loss_db, -seen.rsrp_dbm);
    }
    let at = |t| observations(&channel, std::iter::once(t)).remove(0);
    // The filter lags by its mean age, 200 ms / ln 2, behind a slope of 0.08 dB/s.
    assert!((at(25 * SECOND).rsrp_dbm + 52.0).abs() < 0.05);
    assert!((at(75 * SECOND).rsrp_dbm + 52.0).abs() < 0.05); // on the way back to the loop's start
}

#[test]
fn noise_and_evm_limit_the_sinr() {
    let sinr = |radio: &str| {
        let channel = Channel::new(&scenario(radio), &GRID, 1).unwrap();
        f64::from(observations(&channel, 0..1)[0].sinr_db[0])
    };
    assert!((sinr("  level: {rsrp_dbm: -70}\n") - 10.0).abs() < 1e-4);
    assert!((sinr("  level: {path_loss_db: 70}\n") - 10.0).abs() < 1e-4);
    // 1/(10^-4 + 10^-3) of a link at 40 dB whose transmitter has 3.1623 % EVM
    assert!((sinr("  level: {rsrp_dbm: -40}\n  tx_evm_percent: 3.1623\n") - 29.586).abs() < 1e-3);
}

const STREET: &str = "  shadowing: {std_db: 0, decorrelation_m: 1}\n  level: {tr38901: {environment: umi, \
     gnb: {height_m: 10, antenna_gain_dbi: 8}, ue_height_m: 1.5, line_of_sight: ";

/// Calculated: 50 m on the ground are 50.717 m between the antennas, and the losses 32.4 +
/// 21·log10(50.717) + 20·log10(3.6) = 79.335 dB with line of sight and 22.4 + 35.3·log10(50.717) +
/// 21.3·log10(3.6) = 94.442 dB without. The antennas add 8 dB, and the noise floor is at -80 dBm.
#[test]
fn a_route_has_the_path_loss_of_its_positions() {
    let route = "  mobility: {route: [{t_s: 0, x_m: 30, y_m: 40}, {t_s: 50, x_m: 330, y_m: 40}, {t_s: 100, x_m: 30, y_m: 40}]}\n";
    for (line_of_sight, loss_db) in [("always", 79.335), ("never", 94.442)] {
        let radio = format!("{STREET}{line_of_sight}}}}}\n{route}");
        let channel = Channel::new(&scenario(&radio), &GRID, 1).unwrap();
        let sinr: Vec<f64> = observations(&channel, (0..=100).map(|n| n * SECOND))
            .iter()
            .map(|seen| f64::from(seen.sinr_db[0]))
            .collect();
        assert!(
            (sinr[0] - (80.0 + 8.0 - loss_db)).abs() < 0.01,
            "{line_of_sight}: {}",
            sinr[0]
        );
        assert!((1..50).all(|n| sinr[n] > sinr[n + 1] && (sinr[n] - sinr[100 - n]).abs() < 0.01));
    }
}

/// TR 38.901 table 7.4.2-1: at 60 m in UMi, 18/60 + e^(-60/36)·(1 - 18/60) = 0.4322.
#[test]
fn line_of_sight_has_the_reports_probability() {
    let radio = format!("{STREET}probable, distance_m: 60}}}}\n  mobility: {{speed_mps: 30}}\n");
    let seen_share = |seed| {
        let channel = Channel::new(&scenario(&radio), &GRID, seed).unwrap();
        let sinr = observations(&channel, (0..1000).map(|n| n * SECOND / 10));
        let seen = sinr.iter().filter(|seen| seen.sinr_db[0] > 0.0).count(); // 7.0 dB or -9.5 dB
        seen as f64 / 1000.0
    };
    let share = mean(&(0..20).map(seen_share).collect::<Vec<_>>());
    assert!((share - 0.4322).abs() < 0.05, "{share}");
}

#[test]
fn blockage_reduces_the_signal_for_its_duration() {
    let radio =
        "  level: {rsrp_dbm: -50}\n  blockage: [{from_s: 10, to_s: 14, loss_db: 20, ramp_s: 1}]\n";
    let channel = Channel::new(&scenario(radio), &GRID, 1).unwrap();
    let sinr: Vec<f32> = observations(&channel, (19..30).map(|n| n * SECOND / 2))
        .iter()
        .map(|seen| seen.sinr_db[0])
        .collect();
    assert_eq!(
        sinr,
        [30., 30., 20., 10., 10., 10., 10., 10., 20., 30., 30.]
    );
}

#[test]
fn a_stopped_scenario_has_noise_and_no_signal() {
    let mut stopping = scenario("  level: {rsrp_dbm: -50}\n");
    stopping.at_end = nr_link_model::scenario::AtEnd::Stop;
    let channel = Channel::new(&stopping, &GRID, 1).unwrap();
    let seen = observations(&channel, [99 * SECOND, 100 * SECOND].into_iter());
    assert!((seen[0].rsrp_dbm + 50.0).abs() < 1e-4);
    assert_eq!((seen[1].rsrp_dbm, seen[1].sinr_db[0]), (-156.0, -60.0));
    assert_eq!(seen[0].sinr_db.len(), seen[1].sinr_db.len());
    assert_eq!(channel.noise_ul_dbm_per_re(1000 * SECOND), -80.0);
}

#[test]
fn a_channel_rejects_invalid_scenarios() {
    let refused = |radio: &str, carrier_hz| {
        Channel::new(&scenario(radio), &Grid { carrier_hz, ..GRID }, 1)
            .unwrap_err()
            .to_string()
    };
    let rural = "  level: {tr38901: {environment: rma, gnb: {height_m: 35}, ue_height_m: 1.5, distance_m: 500}}\n";
    assert!(refused(rural, 39e9).contains("carrier, GHz: 39 is not between 0.5 and 30"));
    let rough = "  level: {rsrp_dbm: -50}\n  mobility: {speed_mps: 30}\n  shadowing: {std_db: 3, decorrelation_m: 1e-9}\n";
    assert!(
        refused(rough, 3.6e9).contains("shadowing decorrelates every 0.000000001 m over 3000 m")
    );
    let fast = "  level: {rsrp_dbm: -50}\n  mobility: {speed_mps: 3e8}\n";
    assert!(refused(fast, 3.6e9).contains("the UE moves 30000000000 m until the scenario ends"));
    let narrow = "  carrier_ghz: {min: 24.25, max: 52.6}\n  level: {rsrp_dbm: -50}\n";
    assert!(refused(narrow, 3.6e9).contains("24.25 to 52.6 GHz, not of 3.6 GHz"));
}

/// Hercules, section 4.1, about the first 100 s: RSRP "generally varies from -60 dBm to -45 dBm",
/// SNR "most often between 18 dB and 38 dB". "Generally" and "most often" are taken as at least 90
/// % of the time, SNR as that of the whole carrier.
#[test]
fn rome_moderate_is_within_the_ranges_of_hercules() {
    let rome = shipped("rome-moderate.yaml");
    for (prb, seed) in (1..=4).flat_map(|seed| [(24, seed), (106, seed)]) {
        let channel = Channel::new(&rome, &Grid { prb, ..GRID }, seed).unwrap();
        let seen = observations(&channel, (0..10_000).map(|n| n * SECOND / 100));
        let rsrp: Vec<f64> = seen.iter().map(|seen| seen.rsrp_dbm).collect();
        let snr: Vec<f64> = seen.iter().map(wideband).collect();
        for (values, low, high) in [(&rsrp, -60.0, -45.0), (&snr, 18.0, 38.0)] {
            let within = values
                .iter()
                .filter(|value| (low..=high).contains(*value))
                .count();
            assert!(
                within > 9_000,
                "seed {seed}, {prb} PRB: {within} of 10000 in {low} to {high}"
            );
            let spread = percentile(values, 0.99) - percentile(values, 0.01);
            assert!(
                spread > 0.4 * (high - low),
                "seed {seed}, {prb} PRB: only {spread} dB wide"
            );
        }
    }
}

fn wideband(seen: &Observation) -> f64 {
    let ratios = seen
        .sinr_db
        .iter()
        .map(|db| 10f64.powf(f64::from(*db) / 10.0));
    10.0 * (ratios.sum::<f64>() / seen.sinr_db.len() as f64).log10()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn an_observation_depends_on_seed_and_time_only(seed: u64, t in 0..2_000 * SECOND) {
        let rome = shipped("rome-moderate.yaml");
        let at = |seed, t| observations(&Channel::new(&rome, &GRID, seed).unwrap(), std::iter::once(t)).remove(0);
        let seen = at(seed, t);
        prop_assert_eq!(&seen, &at(seed, t));
        prop_assert_ne!(&seen, &at(seed ^ 1, t));
        let later = at(seed, t + 600 * SECOND);
        prop_assert!((later.rsrp_dbm - seen.rsrp_dbm).abs() < 1e-3);
        let apart = later.sinr_db.iter().zip(&seen.sinr_db).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        prop_assert!(apart < 1e-2, "{} dB apart a loop later", apart);
    }
}
