// SPDX-License-Identifier: Apache-2.0
use super::*;

/// Losses at 5 GHz which the tests of ns-3's `ThreeGppPropagationLossModel` expect, an independent
/// implementation: environment, height of the gNB, distance on the ground, loss with and without
/// line of sight.
const CALIBRATED: [(Environment, f64, f64, f64, f64); 16] = [
    (Environment::Rma, 35.0, 10.0, 77.3784, 77.3784),
    (Environment::Rma, 35.0, 100.0, 87.2965, 95.7718),
    (Environment::Rma, 35.0, 1000.0, 108.5577, 133.5223),
    (Environment::Rma, 35.0, 10_000.0, 140.3896, f64::NAN),
    (Environment::Rma, 35.0, 5000.0, f64::NAN, 160.5169),
    (Environment::Uma, 25.0, 10.0, 72.9380, 82.5131),
    (Environment::Uma, 25.0, 100.0, 86.2362, 106.1356),
    (Environment::Uma, 25.0, 1000.0, 109.7252, 144.7641),
    (Environment::Uma, 25.0, 5000.0, 137.6794, 172.0753),
    (Environment::Umi, 10.0, 10.0, 69.8591, 76.7563),
    (Environment::Umi, 10.0, 100.0, 88.4122, 107.9432),
    (Environment::Umi, 10.0, 1000.0, 119.3114, 143.1886),
    (Environment::Umi, 10.0, 5000.0, 147.2696, 167.8617),
    (Environment::Inh, 3.0, 1.0, 50.8072, 50.8072),
    (Environment::Inh, 3.0, 50.0, 75.7750, 99.7824),
    (Environment::Inh, 3.0, 100.0, 80.9802, 111.3062),
];

#[test]
fn agrees_with_an_independent_implementation() {
    for (environment, gnb_m, ground_m, los_db, nlos_db) in CALIBRATED {
        let path = PathLoss {
            environment,
            carrier_hz: 5.0e9,
            gnb_m,
            ue_m: 1.5,
        };
        for (ours, theirs) in [
            (path.los_db(ground_m), los_db),
            (path.nlos_db(ground_m), nlos_db),
        ] {
            let close = (ours - theirs).abs() < 0.05 || theirs.is_nan();
            assert!(
                close,
                "{environment:?} at {ground_m} m: {ours} dB, not {theirs} dB"
            );
        }
    }
}

#[test]
fn the_probability_of_line_of_sight_falls_with_distance() {
    for environment in [
        Environment::Umi,
        Environment::Uma,
        Environment::Rma,
        Environment::Inh,
    ] {
        let path = PathLoss {
            environment,
            carrier_hz: 3.5e9,
            gnb_m: 10.0,
            ue_m: 1.5,
        };
        let shares: Vec<f64> = (1..150)
            .map(|m| path.los_probability(f64::from(m)))
            .collect();
        assert_eq!(shares[0], 1.0);
        assert!(
            shares
                .windows(2)
                .all(|pair| pair[1] <= pair[0] && pair[1] > 0.0)
        );
    }
}

/// Expected values calculated from table 7.4.2-1.
#[test]
fn the_probability_of_line_of_sight_is_that_of_the_report() {
    let probability = |environment, ground_m| {
        PathLoss {
            environment,
            carrier_hz: 3.5e9,
            gnb_m: 10.0,
            ue_m: 1.5,
        }
        .los_probability(ground_m)
    };
    let cases = [
        (Environment::Umi, 36.0, 0.683_94), // 1/2 + 1/(2e)
        (Environment::Uma, 63.0, 0.548_48), // 2/7 + 5/(7e)
        (Environment::Rma, 1010.0, 0.367_88),
        (Environment::Inh, 5.9, 0.367_88),
        (Environment::Inh, 39.1, 0.117_72),
    ];
    for (environment, ground_m, expected) in cases {
        let found = probability(environment, ground_m);
        assert!(
            (found - expected).abs() < 1e-4,
            "{environment:?} at {ground_m} m: {found}"
        );
    }
}

#[test]
fn rejects_geometry_outside_the_range_of_the_report() {
    let path = PathLoss {
        environment: Environment::Rma,
        carrier_hz: 39.0e9,
        gnb_m: 35.0,
        ue_m: 1.5,
    };
    assert!(
        path.check(100.0, true)
            .unwrap_err()
            .rule
            .starts_with("carrier, GHz: 39 is not between 0.5 and 30")
    );
    let path = PathLoss {
        carrier_hz: 3.5e9,
        ..path
    };
    assert!(path.check(100.0, true).is_ok());
    assert!(
        path.check(5.0, true)
            .unwrap_err()
            .rule
            .starts_with("distance from the gNB")
    );
    assert!(path.check(7000.0, true).is_ok());
    let rule = path.check(7000.0, false).unwrap_err().rule;
    assert!(rule.contains("7000 is not between 10 and 5000"), "{rule}");
}
