# SPDX-License-Identifier: Apache-2.0
"""Transport metrics of captures whose every packet is known."""

from __future__ import annotations

from pathlib import Path

import dpkt
import numpy as np
import pytest

from ddu.analyze import Analysis, analysis_of
from ddu.flows.observe import observe
from ddu.readers.packets.implementations import Reader
from ddu.readers.recording import read_recording
from ddu.run.manifest import read_manifest
from testsupport.synthetic_run import MS, SYN, T0, SyntheticRun, observed_flows, steady, tcp


def analysed(run: SyntheticRun, directory: Path) -> Analysis:
    return analysis_of(run.write(directory / "run"))


def test_rates_are_per_second_and_integrate_to_the_bytes(tmp_path: Path) -> None:
    aligned = analysed(steady(), tmp_path).tables["aligned"]
    # 20 packets in a bin of 20 ms: 1448 B of payload and 1500 B with headers, each ms.
    assert aligned["tcp_throughput_bps"].iloc[2] == pytest.approx(1448 * 8 * 1000)
    assert aligned["tcp_sending_rate_bps"].iloc[2] == pytest.approx(1500 * 8 * 1000)
    for rate in ("tcp_throughput_bps", "tcp_goodput_bps"):
        assert aligned[rate].sum() * 0.020 / 8 == pytest.approx(100 * 1448)


def test_time_starts_at_the_first_payload_packet_not_at_the_handshake(tmp_path: Path) -> None:
    aligned = analysed(steady(), tmp_path).tables["aligned"]
    assert aligned["t_s"].iloc[0] == 0
    assert aligned["utc_ns"].iloc[0] == 1_795_257_315_000_000_000


def test_delays_are_those_of_the_path(tmp_path: Path) -> None:
    analysis = analysed(steady(), tmp_path)
    assert analysis.summary["rtt_ms"]["p99"] == pytest.approx(20.0)
    assert analysis.tables["aligned"]["tcp_owd_ms"].dropna().to_numpy() == pytest.approx(10.0)
    assert analysis.tables["aligned"]["tcp_rtt_seq_ms"].dropna().to_numpy() == pytest.approx(20.0)


def test_a_packet_that_the_senders_capture_lacks_has_no_delay(tmp_path: Path) -> None:
    """The next packet there was sent 100 ms later, after this one had arrived."""
    run = SyntheticRun()
    run.handshake()
    for index, sent in enumerate((0, 1 * MS, 100 * MS)):
        run.data(sent, index * 1000, 1000, 100 + index, sent + 25 * MS)
    run.sender.records = [one for one in run.sender.records if one[0] != T0 + 1 * MS]
    aligned = analysed(run, tmp_path).tables["aligned"]
    assert aligned["tcp_owd_ms"].dropna().to_numpy() == pytest.approx(25.0)


def test_rtt_of_a_bin_without_an_ack_is_null(tmp_path: Path) -> None:
    aligned = analysed(steady(), tmp_path).tables["aligned"]
    assert np.isnan(aligned["tcp_rtt_ms"].iloc[0])


def test_inflight_is_what_the_round_trip_holds(tmp_path: Path) -> None:
    aligned = analysed(steady(), tmp_path).tables["aligned"]
    # Before instant 60 ms: 60 packets sent, the ACKs of those sent before 40 ms are back.
    assert aligned["tcp_inflight_bytes"].iloc[2] == 20 * 1448


def with_losses() -> SyntheticRun:
    """Ten packets; 3 is lost and sent again, 5 never reached the link, 7 and 8 change places."""
    run = SyntheticRun()
    run.handshake()
    for index in range(10):
        sent = index * MS
        arrival = {3: None, 7: 18.5 * MS}.get(index, sent + 10 * MS)
        if index != 5:
            arrives = None if arrival is None else int(arrival)
            run.data(sent, index * 1448, 1448, 100 + index, arrives)
    run.data(30 * MS, 3 * 1448, 1448, 130, 40 * MS)
    run.data(31 * MS, 5 * 1448, 1448, 131, 41 * MS)
    run.ack(41 * MS, 10 * 1448, 131, 51 * MS)
    return run


def test_losses_are_counted_where_they_happen(tmp_path: Path) -> None:
    summary = analysed(with_losses(), tmp_path).summary
    assert summary["retransmissions_count"] == 2
    assert summary["lost_in_link_count"] == 1
    assert summary["lost_before_link_count"] == 1


def test_what_was_acknowledged_after_the_receivers_capture_ended_is_not_lost(
    tmp_path: Path,
) -> None:
    run = steady()
    until = T0 + 50 * MS
    run.receiver.records = [one for one in run.receiver.records if one[0] < until]
    (flow,) = observed_flows(run.write(tmp_path / "run"))
    assert flow.lost.count.sum() == 0


def test_payload_of_a_syn_begins_after_its_number(tmp_path: Path) -> None:
    """TCP Fast Open (RFC 7413)."""
    run = SyntheticRun()
    opening = tcp(*run.ends(0), run.isn, 0, 1000, SYN, (1, 0))
    run.sender.add(T0, opening)
    run.receiver.add(T0 + 10 * MS, opening)
    for index in range(10):
        begin, sent = 1000 + index * 1448, (20 + index) * MS
        run.data(sent, begin, 1448, 120 + index, sent + 10 * MS)
        run.ack(sent + 10 * MS, begin + 1448, 120 + index, sent + 20 * MS)
    directory = run.write(tmp_path / "run")
    readers: tuple[Reader, ...] = ("native", "dpkt")
    for reader in readers:
        recording = read_recording(directory, read_manifest(directory), reader)
        (flow,), _ = observe(recording.manifest.flows, recording.captures)
        assert flow.lost_before_link.count.sum() == flow.retransmissions.count.sum() == 0
        assert flow.delivered[1].sum() == 15_480


def test_reordering_is_not_loss(tmp_path: Path) -> None:
    aligned = analysed(with_losses(), tmp_path).tables["aligned"]
    assert aligned["tcp_reordered_count"].sum() == 1


def test_goodput_waits_for_what_is_missing(tmp_path: Path) -> None:
    aligned = analysed(with_losses(), tmp_path).tables["aligned"]
    goodput = aligned["tcp_goodput_bps"] * 0.020 / 8
    assert goodput.iloc[0] == pytest.approx(3 * 1448)
    assert goodput.iloc[2] == pytest.approx(7 * 1448)


def test_super_packets_count_as_their_segments(tmp_path: Path) -> None:
    run = SyntheticRun()
    run.data(0, 0, 10 * 1448, 100, None)
    for index in range(10):
        run.receiver.add(*_piece(index))
    run.ack(20 * MS, 10 * 1448, 100, 30 * MS)
    aligned = analysed(run, tmp_path).tables["aligned"]
    assert aligned["tcp_sending_rate_bps"].iloc[0] * 0.020 / 8 == pytest.approx(10 * 1500)
    assert aligned["tcp_lost_in_link_count"].sum() == 0
    # The pieces arrive 10, 11 … 19 ms after the one packet that sent them.
    assert aligned["tcp_owd_ms"].iloc[0] == pytest.approx(14.5)


def _piece(index: int) -> tuple[int, bytes]:
    other = SyntheticRun()
    other.data(0, index * 1448, 1448, 100, (10 + index) * MS)
    return other.receiver.records[0]


@pytest.mark.parametrize("make", [steady, with_losses])
def test_rtt_agrees_with_dpkt_to_the_microsecond(make: object, tmp_path: Path) -> None:
    run = make().write(tmp_path / "run")  # type: ignore[operator]
    (flow,) = observed_flows(run)
    oracle = _rtt_by_dpkt(run / "raw" / "sender.pcap")
    assert len(flow.rtt) == len(oracle) > 0
    ours = list(zip(flow.rtt.utc_ns, flow.rtt.value_ms, strict=True))
    for (at, value), (expected_at, expected) in zip(ours, oracle, strict=True):
        assert at == expected_at
        assert value == pytest.approx(expected, abs=0.001)


def _rtt_by_dpkt(file: Path) -> list[tuple[int, float]]:
    """docs/metrics.md's definition once more, packet by packet."""
    sent: dict[int, int] = {}
    answered: dict[int, tuple[int, float]] = {}
    with file.open("rb") as stream:
        for seconds, frame in dpkt.pcap.Reader(stream):
            utc_ns = int(seconds * 1_000_000_000)
            packet = dpkt.ip.IP(frame)
            options = dict(dpkt.tcp.parse_opts(packet.data.opts))
            value, echo = (int.from_bytes(options[8][i : i + 4], "big") for i in (0, 4))
            if packet.data.dport == 5201:
                if packet.len > 52:
                    sent.setdefault(value, utc_ns)
            elif echo in sent and echo not in answered:
                answered[echo] = (utc_ns, (utc_ns - sent[echo]) / 1e6)
    return sorted(answered.values())


def test_readers_agree(tmp_path: Path) -> None:
    run = with_losses().write(tmp_path / "run")
    native, dpkt_ = (analysis_of(run, reader=name).summary for name in ("native", "dpkt"))  # type: ignore[arg-type]
    assert native == dpkt_
