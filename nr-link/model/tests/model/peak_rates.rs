// SPDX-License-Identifier: Apache-2.0
//! Peak rates are those of TS 38.306 clause 4.1.2, within the overheads that
//! `docs/nr-link-model.md` documents.

use std::path::Path;

use crate::common::{MS, link, packet, scenario};
use nr_link_model::radio::Numerology;
use nr_link_model::radio::bands::{FrequencyRange, widths};
use nr_link_model::{Direction, Link, Nanos, Port, ResolvedConfig, UeId};

const WARM_UP: Nanos = 20 * MS;
const MEASURED: Nanos = 40 * MS;

/// Block sizes have steps (TS 38.214 clause 5.1.3.2), and differ by up to 2 % from the formula.
const ROUNDING: f64 = 0.02;

/// The parameters of the standard's formula.
struct Case {
    carrier_ghz: f64,
    mu: u8,
    prb: u16,
    carriers: usize,
    layers: u8,
    duplex: &'static str,
}

const FDD: &str = "fdd";
/// A pattern of 10 slots: 7 are downlink, one has 6 downlink symbols, 2 are uplink.
const TDD: &str = "{tdd: {pattern: DDDDDDDSUU}}";

impl Case {
    fn config(&self) -> ResolvedConfig {
        let Self {
            carrier_ghz,
            mu,
            prb,
            layers,
            duplex,
            ..
        } = self;
        let secondary = match self.carriers {
            1 => "[]".to_owned(),
            count => format!("[{{count: {}}}]", count - 1),
        };
        let text = format!(
            "schema: nr-link/1\nseed: 1\nmtu_bytes: 15000\nradio:\n  carrier_ghz: {carrier_ghz}\n  \
             numerology: {mu}\n  prb: {prb}\n  secondary: {secondary}\n  duplex: {duplex}\n  \
             layers: {{dl: {layers}, ul: {layers}}}\n  mcs_table: 256qam\n  csi: {{period_slots: 4}}\n  \
             uplink: {{pcmax_dbm: 60, target_snr_db: 55}}\nscenario: s.yaml\n\
             path: {{dl: {{delay_ms: 0}}, ul: {{delay_ms: 0}}}}\n\
             queue: {{dl: {{packets: 100000}}, ul: {{packets: 100000}}}}\nsamples: {{interval_ms: 10}}\n\
             devices: {{core: {{name: n6}}, ue: [{{name: ue1}}]}}\n\
             output: {{mac: m, link: l, summary: s}}\n"
        );
        ResolvedConfig::parse(&text, Path::new("link.yaml")).expect("valid")
    }

    /// Measures the Mbit/s of transport blocks over `MEASURED`.
    fn measured_mbps(&self, direction: Direction) -> f64 {
        let scenario = scenario(
            "{ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -60}, noise: {sinr_db: 60}, \
             noise_ul: {floor_dbm_per_re: -130}}",
        );
        let mut link: Link<u64> = link(&self.config(), &scenario);
        let from = match direction {
            Direction::Downlink => Port::Core { ue: UeId(0) },
            Direction::Uplink => Port::Ue(UeId(0)),
        };
        // 5 % more than the peak rate in each millisecond.
        let bytes_per_ms = 1.05 * self.peak_mbps(0.0) * 1e3 / 8.0;
        let mut before = 0;
        for now in (0..WARM_UP + MEASURED).step_by(MS as usize) {
            link.advance(now);
            while link.dequeue().is_some() {}
            for _ in 0..(bytes_per_ms / 15_000.0).ceil() as usize {
                link.enqueue(from, packet(15_000, 0), now);
            }
            if now == WARM_UP {
                before = link.totals(UeId(0), direction).bytes;
            }
        }
        link.advance(WARM_UP + MEASURED);
        let bytes = link.totals(UeId(0), direction).bytes - before;
        bytes as f64 * 8e3 / MEASURED as f64
    }

    /// Computes the formula, Mbit/s, for 256QAM and the highest code rate.
    fn peak_mbps(&self, overhead: f64) -> f64 {
        let symbol_s = 1e-3 / (14.0 * f64::from(1u32 << self.mu));
        let subcarriers = f64::from(self.prb) * 12.0;
        let bits = f64::from(self.layers) * 8.0 * 948.0 / 1024.0;
        self.carriers as f64 * 1e-6 * bits * subcarriers / symbol_s * (1.0 - overhead)
    }

    /// Returns the documented ratio of resource elements that carry no data.
    fn stated_overhead(&self, direction: Direction) -> f64 {
        let dmrs_symbol = if self.layers > 2 { 12.0 } else { 6.0 };
        let whole = |symbols: f64| symbols * 12.0 - 2.0 * dmrs_symbol;
        let slots = match (self.duplex, direction) {
            (FDD, Direction::Downlink) => whole(13.0),
            (FDD, Direction::Uplink) => whole(14.0),
            (_, Direction::Downlink) => (7.0 * whole(13.0) + 5.0 * 12.0 - dmrs_symbol) / 10.0,
            (_, Direction::Uplink) => 2.0 * whole(14.0) / 10.0,
        };
        1.0 - slots / 168.0
    }

    fn check(&self) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let mbps = self.measured_mbps(direction);
            let stated = self.peak_mbps(self.stated_overhead(direction));
            let ratio = mbps / stated;
            assert!(
                (ratio - 1.0).abs() < ROUNDING,
                "{direction:?}, {} × {} PRB, µ = {}, {} layers, {}: {mbps} Mbit/s, {ratio} of the peak",
                self.carriers,
                self.prb,
                self.mu,
                self.layers,
                self.duplex
            );
        }
    }
}

#[test]
fn every_bandwidth_and_numerology_reaches_its_peak_rate() {
    let ranges = [(FrequencyRange::Fr1, 3.6), (FrequencyRange::Fr2, 28.0)];
    for (range, carrier_ghz) in ranges {
        for mu in 0..=3 {
            for &(_, prb) in widths(range, Numerology::new(mu).expect("0 to 3")) {
                let case = Case {
                    carrier_ghz,
                    mu,
                    prb,
                    carriers: 1,
                    layers: 1,
                    duplex: FDD,
                };
                case.check();
            }
        }
    }
}

#[test]
fn one_to_four_layers_reach_their_peak_rate_in_fdd_and_tdd() {
    for prb in [24, 106, 273] {
        for layers in 1..=4 {
            for duplex in [FDD, TDD] {
                let case = Case {
                    carrier_ghz: 3.6,
                    mu: 1,
                    prb,
                    carriers: 1,
                    layers,
                    duplex,
                };
                case.check();
                // The overheads of the standard are 14 % and 8 %, those of the model at least 14.3
                // % and 7.1 %.
                if duplex == FDD {
                    assert!(
                        case.measured_mbps(Direction::Downlink)
                            < (1.0 + ROUNDING) * case.peak_mbps(0.14)
                    );
                    assert!(
                        case.measured_mbps(Direction::Uplink)
                            < (1.0 + ROUNDING) * case.peak_mbps(0.071)
                    );
                }
            }
        }
    }
}

#[test]
fn eight_aggregated_carriers_of_400_mhz_reach_their_peak_rate() {
    for layers in [1, 2, 4] {
        for duplex in [FDD, TDD] {
            let case = Case {
                carrier_ghz: 28.0,
                mu: 3,
                prb: 264,
                carriers: 8,
                layers,
                duplex,
            };
            case.check();
        }
    }
}
