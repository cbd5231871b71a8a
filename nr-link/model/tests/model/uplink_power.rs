// SPDX-License-Identifier: Apache-2.0
//! The uplink of a UE whose power does not suffice for the whole carrier, compared with a
//! calculated link budget.

use crate::common::{SECOND, config, link, saturate, scenario};
use nr_link_model::radio::McsTable;
use nr_link_model::radio::bler::{CodeBlocks, sinr_for};
use nr_link_model::radio::tbs::{Allocation, transport_block_bits};
use nr_link_model::{Direction, Link, Port, UeId};

const PCMAX_DBM: f64 = 23.0;
const NOISE_FIGURE_DB: f64 = 5.0;
const SECONDS: u64 = 3;

/// Calculates the most PRBs on which the power suffices for the lowest MCS, and the bits of its
/// block on them.
fn link_budget(path_loss_db: f64) -> (u16, u32) {
    let lowest = McsTable::Qam64.schemes()[0];
    let noise_dbm_per_re = -174.0 + 10.0 * 30e3f64.log10() + NOISE_FIGURE_DB;
    let borne = |prb: u16| {
        let of_re_db = 10.0 * (f64::from(prb) * 12.0).log10();
        let snr_db = PCMAX_DBM - of_re_db - path_loss_db - noise_dbm_per_re;
        let bits = bits(prb);
        (snr_db >= sinr_for(lowest, CodeBlocks::of(bits, lowest), 0.1)).then_some((prb, bits))
    };
    (1..=273).rev().find_map(borne).expect("some PRBs")
}

/// Returns the bits of a block: 14 symbols less two of DM-RS on half of the subcarriers.
fn bits(prb: u16) -> u32 {
    let allocation = Allocation {
        prb,
        re_per_prb: 14 * 12 - 2 * 6,
        layers: 1,
    };
    transport_block_bits(McsTable::Qam64.schemes()[0], allocation)
}

#[test]
fn a_ue_at_the_edge_gets_as_many_prbs_as_its_power_supports() {
    for path_loss_db in [122.0, 126.0, 130.0] {
        let (prb, bits) = link_budget(path_loss_db);
        assert!((10..200).contains(&prb), "{path_loss_db} dB: {prb}");
        let edge = scenario(&format!(
            "{{ss_pbch_block_power_dbm: 20, level: {{path_loss_db: {path_loss_db}}}, \
             noise: {{figure_db: 7}}, noise_ul: {{figure_db: {NOISE_FIGURE_DB}}}}}"
        ));
        let mut link: Link<u64> = link(&config(&[("prb: 106", "prb: 273")]), &edge);
        saturate(&mut link, Port::Ue(UeId(0)), SECONDS * SECOND);
        let totals = link.totals(UeId(0), Direction::Uplink);
        let sent: u64 = totals.rounds.iter().sum();
        let mean_prb = totals.prb as f64 / sent as f64;
        // The outer loop adjusts the width until one block in ten fails, which takes less than a
        // decibel.
        assert!(
            (0.8..1.25).contains(&(mean_prb / f64::from(prb))),
            "{path_loss_db} dB: {mean_prb} PRB, not {prb}"
        );
        let failed = totals.rounds[1] as f64 / totals.rounds[0] as f64;
        assert!(
            (0.05..0.15).contains(&failed),
            "{path_loss_db} dB: {failed}"
        );
        // Two slots of half a millisecond in ten; one transmission in eleven is in vain.
        let carried = totals.bytes as f64 / SECONDS as f64;
        let expected = f64::from(bits) / 8.0 * 400.0 * 10.0 / 11.0;
        assert!(
            (0.8..1.2).contains(&(carried / expected)),
            "{path_loss_db} dB: {carried} bytes a second, not {expected}"
        );
    }
}

#[test]
fn fading_and_blockage_affect_the_uplink_at_once_and_power_follows_rsrp() {
    const TARGET_SNR_DB: f64 = 20.0; // docs/link-config.md
    const NOISE_DBM_PER_RE: f64 = -100.0;
    let channel = scenario(&format!(
        "{{ss_pbch_block_power_dbm: 0, level: {{rsrp_dbm: -50}}, noise: {{floor_dbm_per_re: {NOISE_DBM_PER_RE}}}, \
         mobility: {{speed_mps: 1}}, fading: {{taps: [{{delay_ns: 0, power_db: 0}}]}}, \
         blockage: [{{from_s: 2, to_s: 4, loss_db: 8}}]}}"
    ));
    let mut link: Link<u64> = link(&config(&[]), &channel);
    link.advance(6 * SECOND);
    let samples: Vec<_> = link.samples().collect();
    let mut lag_db: f64 = 0.0;
    for sample in samples.iter().filter(|sample| sample.start >= SECOND) {
        let radio = sample.radio.as_ref().expect("radio");
        let measured = [radio.sinr_db, radio.ul_snr_db, radio.rsrp_dbm];
        let [Some(sinr_db), Some(ul_snr_db), Some(rsrp_dbm)] = measured else {
            continue;
        };
        // The UE transmits the power with which the filtered RSRP would meet the target; the SINR
        // shows the power received.
        let received_dbm = sinr_db + NOISE_DBM_PER_RE;
        let expected_db = TARGET_SNR_DB + received_dbm - rsrp_dbm;
        assert!(
            (ul_snr_db - expected_db).abs() < 0.01,
            "at {} ns: {ul_snr_db} dB, not {expected_db}",
            sample.start
        );
        lag_db = lag_db.max((received_dbm - rsrp_dbm).abs());
    }
    assert!(lag_db > 8.0, "RSRP was never {lag_db} dB behind");
}
