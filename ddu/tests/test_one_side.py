# SPDX-License-Identifier: Apache-2.0
"""A run of which only one side was captured: what that side shows is reported, the rest is null."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ddu.analyze import analysis_of
from ddu.api import analyze
from ddu.console.problems import RefusedError
from testsupport.synthetic_run import MS, SERVER, T0, UE, SyntheticRun, one_sided, steady, udp

OF_SENDER = {
    "tcp_sending_rate_bps", "tcp_rtt_ms", "tcp_rtt_p95_ms", "tcp_rtt_seq_ms", "tcp_rtt_count",
    "tcp_inflight_bytes", "tcp_retransmissions_count", "tcp_fast_retransmissions_count",
    "tcp_timeout_retransmissions_count", "tcp_lost_before_link_count", "tcp_ack_blocks_per_s",
    "tcp_packets_per_ack_block",
}  # fmt: skip
OF_RECEIVER = {"tcp_throughput_bps", "tcp_throughput_ip_bps", "tcp_goodput_bps"}
OF_BOTH = {
    "tcp_owd_ms", "tcp_self_inflicted_delay_ms", "tcp_spurious_retransmissions_count",
    "tcp_lost_in_link_count", "tcp_reordered_count",
}  # fmt: skip


def lossy() -> SyntheticRun:
    """Packet 40 is lost and sent again 30 ms later."""
    run = steady()
    lost = (T0 + 40 * MS, T0 + 50 * MS)
    run.receiver.records = [r for r in run.receiver.records if r[0] != lost[1] or len(r[1]) == 52]
    run.data(75 * MS, 40 * 1448, 1448, 175, 85 * MS)
    return run


def known(aligned: pd.DataFrame) -> set[str]:
    return {name for name in aligned if aligned[name].notna().any()}


@pytest.mark.parametrize("make", [steady, lossy])
def test_the_senders_side_tells_the_same_as_with_both(tmp_path: Path, make: Any) -> None:
    both = analysis_of(make().write(tmp_path / "both"))
    alone = analysis_of(one_sided(make(), tmp_path / "alone", "sender"))
    table, wanted = alone.tables["aligned"], both.tables["aligned"]
    for name in sorted(OF_SENDER):
        # The last packets may be later in the receiver's capture: it has a bin or two more.
        pd.testing.assert_series_equal(table[name], wanted[name].iloc[: len(table)])
    assert not known(table) & (OF_BOTH | {"tcp_throughput_ip_bps"})
    assert {"tcp_throughput_bps", "tcp_goodput_bps"} <= known(table)
    (flow,) = alone.summary["flows"]
    assert flow["arrivals_source"] == "acknowledgements"
    assert flow["received_payload_bytes"] == 100 * 1448
    assert alone.summary["retransmissions_count"] == both.summary["retransmissions_count"]
    for key in ("lost_in_link_count", "spurious_retransmissions_count", "jain_throughput"):
        assert alone.summary[key] is None
    for key in ("within_20ms_ratio", "on_wire_ip_bytes", "lost_in_link_count"):
        assert flow[key] is None
    assert flow["owd_ms"]["mean"] is None
    (sentence,) = alone.summary["not_captured"]
    assert "Only the sender's side (server)" in sentence


@pytest.mark.parametrize("make", [steady, lossy])
def test_the_receivers_side_tells_the_same_as_with_both(tmp_path: Path, make: Any) -> None:
    both = analysis_of(make().write(tmp_path / "both"))
    alone = analysis_of(one_sided(make(), tmp_path / "alone", "receiver"))
    table = alone.tables["aligned"]
    assert known(table) >= OF_RECEIVER
    assert not known(table) & (OF_SENDER | OF_BOTH)
    for name in sorted(OF_RECEIVER):
        assert table[name].sum() == pytest.approx(both.tables["aligned"][name].sum())
    (flow,), (wanted,) = alone.summary["flows"], both.summary["flows"]
    assert flow["arrivals_source"] == "receiver's capture"
    assert flow["received_payload_bytes"] == wanted["received_payload_bytes"]
    for key in ("retransmissions_count", "ack_blocks_per_s", "d3_ratio", "lost_in_link_count"):
        assert flow[key] is None
    assert alone.summary["rtt_ms"]["mean"] is None
    (sentence,) = alone.summary["not_captured"]
    assert "Only the receiver's side (ue)" in sentence


def test_acknowledged_bytes_come_when_the_acks_do(tmp_path: Path) -> None:
    run = one_sided(steady(100), tmp_path / "run", "sender")
    goodput = analysis_of(run, bin_ns=10 * MS).tables["aligned"]["tcp_goodput_bps"]
    # Sent from 0 to 99 ms; each ACK is back 20 ms later, a packet a ms from then on.
    assert list(goodput) == [0, 0] + [10 * 1448 * 8 / 0.01] * 10


@pytest.mark.parametrize("role", ["sender", "receiver"])
def test_the_report_says_it_in_words(tmp_path: Path, role: str) -> None:
    run = one_sided(lossy(), tmp_path / "run", role)
    summary = analyze(run)
    page = (run / "report.html").read_text()
    for sentence in summary["not_captured"]:
        assert sentence.replace("'", "&#39;") in page
    assert summary["verdict"] == "valid"  # nothing went wrong: it was not captured


def test_with_both_sides_nothing_is_left_open(tmp_path: Path) -> None:
    assert analysis_of(steady().write(tmp_path / "run")).summary["not_captured"] == []


def test_udp_of_the_senders_side_has_no_arrivals(tmp_path: Path) -> None:
    run = SyntheticRun()
    for index in range(50):
        packet = udp((SERVER, 40001), (UE, 5201), 1000 + index)
        run.sender.add(T0 + index * MS, packet)
    summary = analysis_of(one_sided(run, tmp_path / "run", "sender")).summary
    (flow,) = summary["flows"]
    assert flow["arrivals_source"] is None
    assert summary["throughput_bps"] is None
    assert summary["goodput_bps"] is None
    assert "UDP has no acknowledgements" in summary["not_captured"][0]


def test_a_clock_that_nobody_measured_is_told(tmp_path: Path) -> None:
    time = {"offset_ns": None, "offset_uncertainty_ns": None}
    run = one_sided(steady(), tmp_path / "run", "receiver", time=time)
    assert "does not show how far apart" in analysis_of(run).summary["not_captured"][1]


def test_without_any_capture_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"has no capture, .* repeat it without --no-capture"):
        analyze(steady().write(tmp_path / "run", captures=[]))
