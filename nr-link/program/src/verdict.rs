// SPDX-License-Identifier: Apache-2.0
//! The verdict on a run: results that the machine could not keep up with are not results of the
//! network. The limits come from what lateness was measured to change (docs/run-directory.md).

use nr_link_model::Nanos;

use crate::trust::{Counters, Lateness, tolerated_ns};

/// Ratio of slots that ran more than one slot late, above which a run is degraded and invalid.
const OVERRUN_RATIO: [f64; 2] = [0.01, 0.1];
/// Ratio of packets that the host dropped outside the link. TCP reacts to each of them, so the
/// first one counts.
const HOST_DROP_RATIO: [f64; 2] = [0.0, 0.0001];
/// 99th percentile of lateness in slots of at least 0.5 ms.
const LATENESS_P99_SLOTS: [f64; 2] = [1.0, 4.0];

/// The degree to which the results of a run are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The machine kept up with the link.
    Valid,
    /// The machine did not always keep up; the reasons name the affected results.
    Degraded,
    /// The results reflect the machine and not the link.
    Invalid,
}

impl Verdict {
    /// Returns the name in link-summary.json.
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Degraded => "degraded",
            Self::Invalid => "invalid",
        }
    }
}

/// Returns the verdict, and a sentence for each rule that the run broke.
pub fn assess(
    slots: u64,
    slot_ns: Nanos,
    lateness: Option<Lateness>,
    counted: Counters,
) -> (Verdict, Vec<String>) {
    let ratio = |part: u64, of: u64| part as f64 / of.max(1) as f64;
    let tolerated_ns = tolerated_ns(slot_ns);
    let p99_ns = lateness.map_or(0, |lateness| lateness.p99_ns);
    let packets = counted.delivered + counted.host_drops;
    let findings = [
        (
            grade(ratio(counted.overruns, slots), OVERRUN_RATIO),
            format!(
                "{} of {slots} slots ran more than {} late.",
                counted.overruns,
                if tolerated_ns == slot_ns {
                    "one slot"
                } else {
                    "500 µs"
                },
            ),
        ),
        (
            grade(ratio(counted.host_drops, packets), HOST_DROP_RATIO),
            format!(
                "The host dropped {} packets before or after the link.",
                counted.host_drops
            ),
        ),
        (
            grade(p99_ns as f64 / tolerated_ns as f64, LATENESS_P99_SLOTS),
            format!(
                "One slot in a hundred ran {} µs late or more; a slot lasts {} µs.",
                p99_ns / 1000,
                slot_ns / 1000
            ),
        ),
    ];
    let verdict = findings
        .iter()
        .map(|(verdict, _)| *verdict)
        .max()
        .unwrap_or(Verdict::Valid);
    let reasons = findings
        .into_iter()
        .filter(|(verdict, _)| *verdict != Verdict::Valid);
    (verdict, reasons.map(|(_, reason)| reason).collect())
}

fn grade(value: f64, [degraded, invalid]: [f64; 2]) -> Verdict {
    match value {
        value if value > invalid => Verdict::Invalid,
        value if value > degraded => Verdict::Degraded,
        _ => Verdict::Valid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(overruns: u64, host_drops: u64, p99_ns: u64) -> (Verdict, Vec<String>) {
        let lateness = Lateness {
            p50_ns: 1,
            p99_ns,
            max_ns: p99_ns,
        };
        assess(
            10_000,
            500_000,
            Some(lateness),
            Counters {
                overruns,
                host_drops,
                delivered: 100_000,
            },
        )
    }

    #[test]
    fn a_run_within_all_limits_is_valid_without_reasons() {
        assert_eq!(verdict(100, 0, 500_000), (Verdict::Valid, vec![]));
    }

    #[test]
    fn each_rule_degrades_and_then_invalidates() {
        for (degraded, invalid) in [
            (verdict(101, 0, 0), verdict(1001, 0, 0)),
            (verdict(0, 1, 0), verdict(0, 11, 0)),
            (verdict(0, 0, 500_001), verdict(0, 0, 2_000_001)),
        ] {
            assert_eq!((degraded.0, degraded.1.len()), (Verdict::Degraded, 1));
            assert_eq!((invalid.0, invalid.1.len()), (Verdict::Invalid, 1));
        }
    }
}
