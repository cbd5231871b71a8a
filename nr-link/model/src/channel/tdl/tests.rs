// SPDX-License-Identifier: Apache-2.0
use super::*;

/// A second transcription, from the tables of the Sionna simulator: delays, then powers. In D and E
/// the first two entries of each are the specular and the diffuse part of the first tap.
fn second_transcription(profile: TdlProfile) -> (Vec<f64>, Vec<f64>) {
    let columns = match profile {
        TdlProfile::A => [
            "0 .3819 .4025 .5868 .461 .5375 .6708 .575 .7618 1.5375 1.8978 2.2242 2.1718 2.4942 \
             2.5119 3.0582 4.081 4.4579 4.5695 4.7966 5.0066 5.3043 9.6586",
            "-13.4 0 -2.2 -4 -6 -8.2 -9.9 -10.5 -7.5 -15.9 -6.6 -16.7 -12.4 -15.2 -10.8 -11.3 -12.7 \
             -16.2 -18.3 -18.9 -16.6 -19.9 -29.7",
        ],
        TdlProfile::B => [
            "0 .1072 .2155 .2095 .287 .2986 .3752 .5055 .3681 .3697 .57 .5283 1.1021 1.2756 1.5474 \
             1.7842 2.0169 2.8294 3.0219 3.6187 4.1067 4.279 4.7834",
            "0 -2.2 -4 -3.2 -9.8 -1.2 -3.4 -5.2 -7.6 -3 -8.9 -9 -4.8 -5.7 -7.5 -1.9 -7.6 -12.2 -9.8 \
             -11.4 -14.9 -9.2 -11.3",
        ],
        TdlProfile::C => [
            "0 .2099 .2219 .2329 .2176 .6366 .6448 .656 .6584 .7935 .8213 .9336 1.2285 1.3083 2.1704 \
             2.7105 4.2589 4.6003 5.4902 5.6077 6.3065 6.6374 7.0427 8.6523",
            "-4.4 -1.2 -3.5 -5.2 -2.5 0 -2.2 -3.9 -7.4 -7.1 -10.7 -11.1 -5.1 -6.8 -8.7 -13.2 -13.9 \
             -13.9 -15.8 -17.1 -16 -15.7 -21.6 -22.8",
        ],
        TdlProfile::D => [
            "0 0 .035 .612 1.363 1.405 1.804 2.596 1.775 4.042 7.937 9.424 9.708 12.525",
            "-.2 -13.5 -18.8 -21 -22.8 -17.9 -20.1 -21.9 -22.9 -27.8 -23.6 -24.8 -30 -27.7",
        ],
        TdlProfile::E => [
            "0 0 .5133 .544 .563 .544 .7112 1.9092 1.9293 1.9589 2.6426 3.7136 5.4524 12.0034 20.6519",
            "-.03 -22.03 -15.8 -18.1 -19.8 -22.9 -22.4 -18.6 -20.8 -22.6 -22.3 -25.6 -20.2 -29.8 -29.2",
        ],
    };
    let [delays, powers] = columns.map(|column| {
        column
            .split_whitespace()
            .map(|cell| cell.parse().unwrap())
            .collect()
    });
    (delays, powers)
}

const PROFILES: [TdlProfile; 5] = [
    TdlProfile::A,
    TdlProfile::B,
    TdlProfile::C,
    TdlProfile::D,
    TdlProfile::E,
];

#[test]
fn both_transcriptions_agree() {
    for profile in PROFILES {
        let Table {
            specular_db,
            diffuse,
        } = table(profile);
        let specular = specular_db.map(|power_db| (0.0, power_db));
        let ours: (Vec<f64>, Vec<f64>) = specular.iter().chain(diffuse).copied().unzip();
        assert_eq!(ours, second_transcription(profile), "{profile:?}");
    }
}

/// Checks that a profile has the configured RMS delay spread: clause 7.7.3 scales normalised
/// delays.
#[test]
fn rms_delay_spread_is_the_configured_one() {
    for profile in PROFILES {
        let tdl: Tdl = serde_json::from_str(&format!(
            "{{\"profile\": \"{profile:?}\", \"delay_spread_ns\": 300}}"
        ))
        .unwrap();
        let paths: Vec<(f64, f64)> = rays(&tdl)
            .map(|ray| (ray.delay_s * 1e9, ray.specular_power + ray.diffuse_power))
            .collect();
        let moment = |n: i32| {
            paths
                .iter()
                .map(|(delay, power)| power * delay.powi(n))
                .sum::<f64>()
        };
        let spread_ns = (moment(2) / moment(0) - (moment(1) / moment(0)).powi(2)).sqrt();
        assert!(
            (spread_ns / 300.0 - 1.0).abs() < 0.02,
            "{profile:?}: {spread_ns} ns"
        );
    }
}
