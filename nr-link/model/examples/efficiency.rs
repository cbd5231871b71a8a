// SPDX-License-Identifier: Apache-2.0
//! The throughput of the radio over SINR, as CSV: one UE with a full queue on a flat channel, FDD,
//! 106 PRBs of 30 kHz, one layer, the outer loop at 10 % BLER. `draw_efficiency.py` plots it.
//!
//! Columns: the MCS table, `sinr_db`, `carried_bps_hz` (transport blocks that arrived, over the
//! bandwidth of the PRBs), `standard_bps_hz` (the spectral efficiency in the standard of the
//! highest MCS that fails at most one time in ten, times the ratio of elements that carry data).

use std::error::Error;
use std::path::Path;

use nr_link_model::radio::bler::{CodeBlocks, sinr_for};
use nr_link_model::radio::{McsTable, overhead};
use nr_link_model::scenario::Scenario;
use nr_link_model::{Direction, Ecn, Link, Nanos, Packet, Port, ResolvedConfig, Source, UeId};

const MS: Nanos = 1_000_000;
/// Time for the outer loop to settle.
const WARM_UP_MS: Nanos = 1000;
const MEASURED_MS: Nanos = 1000;
const WIDTH_HZ: f64 = 106.0 * 12.0 * 30e3;
const LARGEST: CodeBlocks = CodeBlocks {
    count: 1,
    bits: 8448,
};

fn main() -> Result<(), Box<dyn Error>> {
    println!("table,sinr_db,carried_bps_hz,standard_bps_hz");
    let tables = [
        (McsTable::Qam64, "64qam"),
        (McsTable::Qam256, "256qam"),
        (McsTable::Qam64LowSe, "64qam-low-se"),
    ];
    for (table, name) in tables {
        for sinr_db in -10..=35 {
            let carried = carried_bps_hz(name, sinr_db)?;
            let standard = standard_bps_hz(table, f64::from(sinr_db));
            println!("{name},{sinr_db},{carried:.4},{standard:.4}");
        }
    }
    Ok(())
}

fn carried_bps_hz(table: &str, sinr_db: i32) -> Result<f64, Box<dyn Error>> {
    let config = format!(
        "schema: nr-link/1\nseed: 1\nmtu_bytes: 1500\nradio:\n  carrier_ghz: 3.6\n  numerology: 1\n  \
         prb: 106\n  duplex: fdd\n  mcs_table: {table}\nscenario: s.yaml\n\
         path: {{dl: {{delay_ms: 0}}, ul: {{delay_ms: 0}}}}\n\
         queue: {{dl: {{packets: 400}}, ul: {{packets: 400}}}}\nsamples: {{interval_ms: 100}}\n\
         devices: {{core: {{name: n6}}, ue: [{{name: ue1}}]}}\noutput: {{mac: m, link: l, summary: s}}\n"
    );
    let config = ResolvedConfig::parse(&config, Path::new("link.yaml"))?;
    let scenario = format!(
        "schema: rf-scenario/1\nname: flat\nsummary: Flat.\nsources: [chosen]\nlicense: Apache-2.0\n\
         duration_s: 60\nradio: {{ss_pbch_block_power_dbm: 0, level: {{rsrp_dbm: -60}}, \
         noise: {{sinr_db: {sinr_db}}}}}\n"
    );
    let scenario = Scenario::parse(&scenario, Path::new("flat.yaml"))?;
    let source = Source::of(&scenario, &config).map_err(|error| error.to_string())?;
    let mut link: Link<()> = Link::new(&config, source)?;
    let mut before = 0;
    for ms in 0..WARM_UP_MS + MEASURED_MS {
        if ms == WARM_UP_MS {
            before = link.totals(UeId(0), Direction::Downlink).bytes;
        }
        for _ in 0..30 {
            let packet = Packet::new(1500, Ecn::NotEct, ());
            link.enqueue(Port::Core { ue: UeId(0) }, packet, ms * MS);
        }
        link.advance(ms * MS);
        while link.dequeue().is_some() {}
        link.samples();
    }
    let bytes = link.totals(UeId(0), Direction::Downlink).bytes - before;
    Ok(bytes as f64 * 8.0 * 1e3 / MEASURED_MS as f64 / WIDTH_HZ)
}

fn standard_bps_hz(table: McsTable, sinr_db: f64) -> f64 {
    let supports = |mcs: &nr_link_model::radio::Mcs| sinr_for(*mcs, LARGEST, 0.1) <= sinr_db;
    let highest = table.schemes().into_iter().rev().find(supports);
    // 14 symbols of 12 subcarriers; a symbol lasts 1/14 of half a millisecond.
    let data_symbols = f64::from(overhead::data_re_per_prb(
        14 - overhead::PDCCH_SYMBOLS,
        Direction::Downlink,
        1,
    )) / 12.0;
    highest.map_or(0.0, |mcs| {
        mcs.spectral_efficiency() * data_symbols / (0.5e-3 * 30e3)
    })
}
