// SPDX-License-Identifier: Apache-2.0
//! The number of layers is the one that carries the most, as of its report.

use crate::common::{MS, SECOND, config, flat, link, saturate, scenario};
use nr_link_model::radio::bler::{CodeBlocks, sinr_for};
use nr_link_model::radio::{Mcs, McsTable};
use nr_link_model::{Direction, Link, MacSample, Port, ResolvedConfig, UeId};

/// TS 38.214 table 5.2.2.1-2: modulation order and code rate × 1024 of CQI 1 to 15.
const CQI_TABLE_1: [(u8, u16); 15] = [
    (2, 78),
    (2, 120),
    (2, 193),
    (2, 308),
    (2, 449),
    (2, 602),
    (4, 378),
    (4, 490),
    (4, 616),
    (6, 466),
    (6, 567),
    (6, 666),
    (6, 772),
    (6, 873),
    (6, 948),
];

/// Makes a configuration with one sample per slot, to observe when reports come into force.
fn with(layers: &str, more: &str) -> ResolvedConfig {
    let layers = format!("layers: {layers}\n  {more}");
    config(&[
        ("layers: {dl: 1, ul: 1}", &layers),
        ("interval_ms: 10", "interval_ms: 0.5"),
    ])
}

fn samples(config: &ResolvedConfig, sinr_db: f64) -> Vec<MacSample> {
    let mut link: Link<u64> = link(config, &flat(sinr_db));
    link.advance(SECOND / 10);
    link.samples().collect()
}

/// Returns the ranks of both directions and the CQI that are in force at the end.
fn settled(config: &ResolvedConfig, sinr_db: f64) -> (u8, u8, u8) {
    let samples = samples(config, sinr_db);
    let radio = samples.last().and_then(|sample| sample.radio.as_ref());
    let radio = radio.expect("a channel");
    let in_force = "a report is in force";
    (
        radio.ri.expect(in_force),
        radio.ul_ri.expect(in_force),
        radio.cqi.expect(in_force),
    )
}

/// Returns the highest scheme that fails at most one time in ten on a flat channel, and its index.
fn supported(schemes: &[Mcs], sinr_db: f64) -> Option<(usize, Mcs)> {
    let blocks = CodeBlocks {
        count: 1,
        bits: 8448,
    };
    let bears = |(_, mcs): &(usize, Mcs)| sinr_for(*mcs, blocks, 0.1) <= sinr_db;
    let mut highest = schemes.iter().copied().enumerate().rev();
    highest.find(bears)
}

#[test]
fn the_rank_is_the_one_that_carries_the_most_at_every_sinr() {
    let config = with("{dl: 4, ul: 1}", "rank: adaptive");
    let mut ranks = Vec::new();
    let schemes = McsTable::Qam64.schemes();
    let cqis = CQI_TABLE_1.map(|(bits_per_symbol, rate)| Mcs {
        bits_per_symbol,
        rate_by_2048: 2 * rate,
    });
    for half_db in -16..=70 {
        let sinr_db = f64::from(half_db) / 2.0 + 0.13; // at no threshold
        let (mut expected, mut most) = ((1, 0), 0.0);
        for layers in 1..=4u8 {
            let each_db = sinr_db - 10.0 * f64::from(layers).log10();
            let cqi = supported(&cqis, each_db).map_or(0, |(place, _)| place as u8 + 1);
            let efficiency = supported(&schemes, each_db).map_or(0.0, |(_, mcs)| {
                f64::from(mcs.bits_per_symbol) * f64::from(mcs.rate_by_2048) / 2048.0
            });
            // Data elements of a PRB: 13 symbols less two of DM-RS, half or completely used.
            let elements = if layers > 2 { 132.0 } else { 144.0 };
            let carried = f64::from(layers) * efficiency * elements;
            if carried > most || layers == 1 {
                (expected, most) = ((layers, cqi), carried);
            }
        }
        let (rank, _, cqi) = settled(&config, sinr_db);
        assert_eq!((rank, cqi), expected, "{sinr_db} dB");
        ranks.push(rank);
    }
    assert_eq!((ranks.first(), ranks.last()), (Some(&1), Some(&4)));
}

#[test]
fn layers_with_too_much_interference_are_not_used() {
    let rank = |isolation_db: &str, sinr_db| {
        let more = format!("layer_isolation_db: {isolation_db}");
        settled(&with("{dl: 4, ul: 1}", &more), sinr_db).0
    };
    // With isolation κ, each of L layers has the SINR κ/(L − 1) at a high SNR. At 30 dB one layer
    // carries 5.6 bits per symbol; four with an isolation of 12 dB carry 2.4 each, but two with one
    // of 5 dB only 1.9.
    let ranks = ["60", "12", "5", "0"].map(|isolation_db| rank(isolation_db, 30.0));
    assert_eq!(ranks, [4, 4, 1, 1]);
}

#[test]
fn the_uplink_rank_follows_the_power_headroom() {
    let rank = |pcmax_dbm: &str| {
        let more = format!("uplink: {{pcmax_dbm: {pcmax_dbm}, target_snr_db: 30}}");
        settled(&with("{dl: 1, ul: 4}", &more), 30.0).1
    };
    let ranks = ["-15", "0", "40"].map(rank);
    assert_eq!((ranks[0], ranks[2]), (1, 4));
    assert!(ranks.is_sorted(), "{ranks:?}");
}

#[test]
fn a_fixed_number_of_layers_is_used_at_every_sinr() {
    let config = with("{dl: 3, ul: 2}", "rank: fixed");
    for sinr_db in [-5.0, 10.0, 40.0] {
        let (dl, ul, _) = settled(&config, sinr_db);
        assert_eq!((dl, ul), (3, 2), "{sinr_db} dB");
    }
}

#[test]
fn a_rank_is_used_one_csi_delay_after_its_measurement() {
    // At 0.1 s the SINR rises, within a tick of 20 ms, from below the threshold of one layer to
    // that of several.
    let jump = scenario(
        "{ss_pbch_block_power_dbm: 0, level: {rsrp_dbm: -60}, \
         noise: {sinr_db: [[0, -20], [0.1, -20], [0.1001, 40], [30, 40]]}}",
    );
    let config = with("{dl: 4, ul: 1}", "csi: {period_slots: 16, delay_slots: 7}");
    let mut link: Link<u64> = link(&config, &jump);
    link.advance(SECOND / 5);
    let ranks: Vec<_> = link
        .samples()
        .map(|sample| sample.radio.and_then(|radio| radio.ri))
        .collect();
    // Slot 200 starts at 0.1 s. Slots 208 and 224 measure; their reports are in force seven slots
    // later.
    let rise = ranks
        .windows(2)
        .position(|pair| pair[0] < pair[1] && pair[0].is_some());
    assert_eq!(rise, Some(230));
    // Before the first report there is no rank.
    assert_eq!((ranks[6], ranks[7]), (None, Some(1)));
}

/// Returns the bytes of blocks that arrived in two seconds with a full queue.
fn carried(config: &ResolvedConfig, sinr_db: f64, from: Port) -> f64 {
    let mut link: Link<u64> = link(config, &flat(sinr_db));
    saturate(&mut link, from, 2 * SECOND);
    let direction = match from {
        Port::Core { .. } => Direction::Downlink,
        Port::Ue(_) => Direction::Uplink,
    };
    link.totals(UeId(0), direction).bytes as f64
}

#[test]
fn the_adaptive_rank_carries_as_much_as_the_best_fixed_rank() {
    let both = |layers, rank: &str| {
        let layers = format!("{{dl: {layers}, ul: {layers}}}");
        let more = format!("{rank}\n  uplink: {{pcmax_dbm: 40, target_snr_db: 60}}");
        let mut config = with(&layers, &more);
        config.sample_interval = 10 * MS;
        config
    };
    for from in [Port::Core { ue: UeId(0) }, Port::Ue(UeId(0))] {
        for sinr_db in [0.0, 8.0, 16.0] {
            let fixed =
                [1, 2, 4].map(|layers| carried(&both(layers, "rank: fixed"), sinr_db, from));
            let adaptive = carried(&both(4, "rank: adaptive"), sinr_db, from);
            let best = fixed.into_iter().fold(0.0, f64::max);
            // CQIs have steps of up to 2 dB, and the outer loop uses MCSs between two.
            assert!(
                adaptive > 0.93 * best,
                "{from:?}, {sinr_db} dB: {adaptive} of {fixed:?}"
            );
        }
    }
}
