// SPDX-License-Identifier: Apache-2.0
//! The time at which RLC handles data that HARQ gave up.

use crate::common::{MS, config, flat, link, packet};
use nr_link_model::{Direction, Link, Nanos, Port, UeId};

/// Returns when a packet that no transmission delivers is given up, relative to its entry into the
/// buffer, in unacknowledged mode.
fn given_up_after(t_reassembly_ms: u64) -> Nanos {
    let rlc = format!("fixed_mcs: 28}}\n  rlc: {{mode: um, t_reassembly_ms: {t_reassembly_ms}}}");
    let config = config(&[
        ("olla: {bler_target: 0.1}}", &rlc),
        (
            "duplex: {tdd: {pattern: DDDDDDDSUU, special: {dl_symbols: 6, ul_symbols: 4}}}",
            "duplex: fdd",
        ),
        ("dl: {delay_ms: 10.0", "dl: {delay_ms: 0.0"),
    ]);
    // MCS 28 needs 19 dB; four transmissions add 6 dB to the channel's SINR.
    let mut link: Link<u64> = link(&config, &flat(-3.0));
    let sent = 100 * MS;
    link.advance(sent);
    link.enqueue(Port::Core { ue: UeId(0) }, packet(1500, 0), sent);
    let lost = |now: &Nanos| {
        link.advance(*now);
        link.totals(UeId(0), Direction::Downlink).rlc_losses > 0
    };
    let found = (sent..).step_by(MS as usize / 10).take(2000).find(lost);
    found.expect("the packet is given up") - sent
}

#[test]
fn t_reassembly_starts_when_the_block_is_missed_and_not_when_harq_gives_up() {
    // FDD at 30 kHz: three rounds of 4 slots (k1 of 2, the slot with PUCCH, 0.5 ms) until the last
    // transmission, and 4 more until its acknowledgement is known: 8 ms.
    let by_harq = given_up_after(1);
    assert!((7 * MS..10 * MS).contains(&by_harq), "{by_harq}");
    // TS 38.322 clause 5.2.2.2.3: the timer starts at the decoding of the first transmission, 1 ms
    // after the packet.
    for t_reassembly in [30, 60] {
        let after = given_up_after(t_reassembly);
        let from_missing = after - t_reassembly * MS;
        assert!((MS / 2..2 * MS).contains(&from_missing), "{after}");
    }
}
