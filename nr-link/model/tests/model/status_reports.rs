// SPDX-License-Identifier: Apache-2.0
//! Polling and status reports of RLC's acknowledged mode: nothing is lost, twice or out of order, the last packet of a
//! burst is recovered, and reports take resources.

use nr_link_model::{Direction, Link, Nanos, Port, UeId};

use crate::common::{MS, SECOND, config, flat, link, packet, saturate};

const DOWN: Port = Port::Core { ue: UeId(0) };
const UP: Port = Port::Ue(UeId(0));
const POLLING: &str =
    "polling: {poll_pdu: 16, poll_kbyte: 25, t_poll_retransmit_ms: 45, t_status_prohibit_ms: 10}";

/// Makes a link whose blocks fail so often that HARQ gives up several of a hundred.
fn lossy_link(polling: &str) -> Link<u64> {
    let lines = format!(
        "link_adaptation: {{fixed_mcs: 20}}\n  uplink: {{target_snr_db: 5.5}}\n  \
         rlc: {{mode: am, t_reassembly_ms: 15{polling}}}"
    );
    let adaptation = "link_adaptation: {olla: {bler_target: 0.1}}";
    link(&config(&[(adaptation, &lines)]), &flat(5.5))
}

fn polls() -> String {
    format!(", {POLLING}")
}

#[test]
fn all_packets_arrive_once_and_in_order() {
    for from in [DOWN, UP] {
        let mut link = lossy_link(&polls());
        let mut numbers: Vec<u64> = Vec::new();
        for number in 0..3000 {
            let now = number * MS;
            link.advance(now);
            link.enqueue(from, packet(1400, number), now);
            numbers.extend(std::iter::from_fn(|| link.dequeue()).map(|one| one.packet.payload));
        }
        link.advance(10 * SECOND);
        numbers.extend(std::iter::from_fn(|| link.dequeue()).map(|one| one.packet.payload));
        assert_eq!(numbers, (0..3000).collect::<Vec<_>>(), "{from:?}");
        let errors = |direction| link.totals(UeId(0), direction).errors;
        assert!(errors(Direction::Downlink) + errors(Direction::Uplink) > 20);
    }
}

#[test]
fn the_last_packet_of_a_burst_is_recovered_after_t_poll_retransmit() {
    let mut link = lossy_link(&polls());
    let sent = |number: u64| number * 500 * MS;
    for number in 0..400 {
        link.enqueue(DOWN, packet(1400, number), sent(number));
        link.advance(sent(number) + 400 * MS);
    }
    let delays: Vec<Nanos> = std::iter::from_fn(|| link.dequeue())
        .map(|one| one.due - sent(one.packet.payload) - 10 * MS)
        .collect();
    assert_eq!(delays.len(), 400);
    let late = delays.iter().filter(|&&delay| delay > 45 * MS);
    let errors = link.totals(UeId(0), Direction::Downlink).errors;
    assert!(errors > 5, "{errors}");
    // Each block given up costs one t-PollRetransmit or more, and only these do: HARQ takes less.
    assert!(late.count() as u64 >= errors / 2);
    assert!(
        delays
            .iter()
            .all(|&delay| !(36 * MS..45 * MS).contains(&delay))
    );
}

#[test]
fn reports_of_a_download_take_uplink_resources() {
    let blocks = |polling: &str| {
        let mut link = lossy_link(polling);
        saturate(&mut link, DOWN, SECOND);
        link.totals(UeId(0), Direction::Uplink)
    };
    let (with, without) = (blocks(&polls()), blocks(""));
    assert_eq!(without.rounds[0], 0);
    // t-StatusProhibit allows at most one report each 10 ms.
    assert!((40..=200).contains(&with.rounds[0]), "{with:?}");
    assert!(with.header_bytes > 250 && with.sdu_bytes == 0);
}
