# SPDX-License-Identifier: Apache-2.0
"""Delays per packet: which sample counts how often, and Little's law over a queue."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddu.analyze import analysis_of
from ddu.flows.packet_delay import PacketDelays
from testsupport.synthetic_run import MS, SERVER, T0, UE, SyntheticRun, tcp, udp

SEGMENT_BYTES = 1448


def bursts(
    sizes: list[int], rtts_ms: list[int], echoed: list[bool], first_tsval: int = 100
) -> SyntheticRun:
    """Bursts of segments, 1 ms apart, each with a timestamp of its own that is echoed or not."""
    run = SyntheticRun()
    run.handshake()
    sent = 0
    for index, (size, rtt_ms, is_echoed) in enumerate(zip(sizes, rtts_ms, echoed, strict=True)):
        tsval = (first_tsval + index) % 2**32
        for _ in range(size):
            run.data(index * MS, sent * SEGMENT_BYTES, SEGMENT_BYTES, tsval, index * MS + 1)
            sent += 1
        if is_echoed:
            back = (index + rtt_ms) * MS
            run.ack(back - 1, sent * SEGMENT_BYTES, tsval, back)
    return run


def test_a_segment_counts_once_and_a_timestamp_once(tmp_path: Path) -> None:
    run = bursts([1, 9, 2], [10, 30, 50], [True, True, True])
    summary = analysis_of(run.write(tmp_path / "run")).summary
    assert summary["rtt_ms"]["mean"] == pytest.approx((10 + 30 + 50) / 3)
    assert summary["packet_rtt_ms"]["mean"] == pytest.approx((10 + 9 * 30 + 2 * 50) / 12)
    assert summary["packet_rtt_ms"]["p50"] == 30
    assert summary["packet_rtt_ms"]["p95"] == 50
    assert summary["flows"][0]["packet_rtt_ms"] == summary["packet_rtt_ms"]


def test_timestamps_may_wrap(tmp_path: Path) -> None:
    """RFC 7323, section 5.2: they are compared modulo 2³²."""
    run = bursts([1, 9, 2, 4], [10, 30, 50, 20], [True] * 4, first_tsval=2**32 - 2)
    summary = analysis_of(run.write(tmp_path / "run")).summary
    assert summary["packet_rtt_ms"]["mean"] == pytest.approx((10 + 9 * 30 + 2 * 50 + 4 * 20) / 16)


def test_a_segment_whose_timestamp_is_not_echoed_has_the_next_ones_rtt(tmp_path: Path) -> None:
    run = bursts([1, 4, 1, 7], [10, 99, 40, 99], [True, False, True, False])
    summary = analysis_of(run.write(tmp_path / "run")).summary
    assert summary["packet_rtt_ms"]["mean"] == pytest.approx((10 + 4 * 40 + 40) / 6)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), min_size=1, max_size=30))
def test_percentiles_are_those_of_the_packets_one_by_one(of: list[tuple[int, int]]) -> None:
    value, count = np.array(of, dtype=np.int64).T
    ours = PacketDelays(value.astype(float), count).distribution
    one_by_one = np.repeat(value, count)
    assert ours["mean"] == pytest.approx(one_by_one.mean())
    for name, percent in (("p50", 50), ("p95", 95), ("p99", 99)):
        assert ours[name] == np.percentile(one_by_one, percent, method="inverted_cdf")


def test_no_packet_has_no_delay() -> None:
    none = np.zeros(0)
    unknown = dict.fromkeys(["mean", "p50", "p95", "p99"])
    assert PacketDelays(none, none.astype(np.int64)).distribution == unknown


def test_the_mean_over_packets_is_below_path_plus_buffer_over_throughput(tmp_path: Path) -> None:
    """Little's law: a queue that holds at most B bytes and passes X bytes a second keeps a packet
    B/X on average. Here 20 packets a millisecond pass, then for 2 s one in 10 ms, and the buffer
    of 40 packets is full all the time: the mean over time breaks the law, that over packets not."""
    buffer_packets, path_ms = 40, 20
    departures_ms = [*np.arange(0, 100, 0.05), *np.arange(100, 2100, 10.0)]
    run = SyntheticRun()
    run.handshake()
    for index, departs_ms in enumerate(departures_ms):
        before = departures_ms[index - buffer_packets] if index >= buffer_packets else 0.0
        sent, arrives = int(before * MS), int((departs_ms + path_ms / 2) * MS)
        stamp = 100 + int(before)
        run.data(sent, index * SEGMENT_BYTES, SEGMENT_BYTES, stamp, arrives)
        run.ack(arrives, (index + 1) * SEGMENT_BYTES, stamp, arrives + path_ms // 2 * MS)
    summary = analysis_of(run.write(tmp_path / "run")).summary
    passed_s = (departures_ms[-1] - departures_ms[0]) / 1e3
    bound_ms = path_ms + buffer_packets / (len(departures_ms) / passed_s) * 1e3
    assert summary["packet_rtt_ms"]["mean"] <= bound_ms + 1  # a timestamp's tick
    assert summary["rtt_ms"]["mean"] > bound_ms
    assert summary["packet_owd_ms"]["mean"] <= bound_ms - path_ms / 2


def test_shares_within_a_delay_are_those_of_packets(tmp_path: Path) -> None:
    """A super-packet of ten segments takes 10 ms, two packets 60 ms, and one is lost."""
    run = SyntheticRun()
    run.handshake()
    run.data(0, 0, 10 * SEGMENT_BYTES, 100, 10 * MS)
    for number, arrives in ((10, 61), (11, None), (12, 63)):
        at = (number - 9) * MS
        run.data(at, number * SEGMENT_BYTES, SEGMENT_BYTES, 100, arrives and arrives * MS)
    flow = analysis_of(run.write(tmp_path / "run")).summary["flows"][0]
    assert flow["lost_in_link_count"] == 1
    assert flow["within_20ms_ratio"] == pytest.approx(10 / 13)
    assert flow["within_100ms_ratio"] == pytest.approx(12 / 13)


def test_what_an_outage_at_the_end_kept_is_lost(tmp_path: Path) -> None:
    """Nothing arrives from 2 ms on: what was sent longer before the end than the 10 ms that a
    packet takes is lost, two segments and the first copy of the third's."""
    run = SyntheticRun()
    run.handshake()
    for number, at, arrives in ((0, 0, 10), (1, 1, 11), (2, 2, None), (3, 3, None), (2, 30, None)):
        run.data(at * MS, number * SEGMENT_BYTES, SEGMENT_BYTES, 100, arrives and arrives * MS)
    summary = analysis_of(run.write(tmp_path / "run")).summary
    assert summary["flows"][0]["lost_in_link_count"] == 2


def test_what_an_outage_kept_is_lost_where_another_connection_shows_the_captures_went_on(
    tmp_path: Path,
) -> None:
    run = SyntheticRun()
    for number in range(20):
        packet = udp(*run.ends(0), 1000 + number)
        run.sender.add(T0 + number * MS, packet)
        if number < 10:
            run.receiver.add(T0 + (number + 15) * MS, packet)
    other = tcp((SERVER, 50999), (UE, 5201), 7, 7, 100)
    run.sender.add(T0 + 90 * MS, other)
    run.receiver.add(T0 + 91 * MS, other)
    summary = analysis_of(run.write(tmp_path / "run")).summary
    assert summary["flows"][0]["lost_in_link_count"] == 10


@pytest.mark.parametrize(("size", "lost"), [(1000, 1), (4000, None)])
def test_datagrams_that_offloads_join_have_no_fate(
    tmp_path: Path, size: int, lost: int | None
) -> None:
    run = SyntheticRun()
    for number, arrives in enumerate((10, None, 12)):
        packet = udp(*run.ends(0), size + number)
        run.sender.add(T0 + number * MS, packet)
        if arrives:
            run.receiver.add(T0 + arrives * MS, packet)
    summary = analysis_of(run.write(tmp_path / "run")).summary
    assert summary["flows"][0]["lost_in_link_count"] == lost
    assert (summary["flows"][0]["owd_ms"]["mean"] is None) == (lost is None)
    for of in (summary, summary["flows"][0]):
        assert (of["packet_owd_ms"]["mean"] is None) == (lost is None)
    assert [text.startswith("f0: The captures hold") for text in summary["not_captured"]] == (
        [] if lost else [True]
    )
