# SPDX-License-Identifier: Apache-2.0
"""Two hosts' clocks out of their captures: made wrong on purpose, and to be found."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddu.align.clocks.bounds import Bounds, ack_instants, hull
from ddu.align.clocks.clock import Clock
from ddu.align.clocks.estimate import ContradictoryBoundsError, estimate
from ddu.analyze import analysis_of, clocks_of
from ddu.api import analyze
from ddu.errors import UnreadableInput
from ddu.readers.packets.segments import Acks
from ddu.readers.recording import read_recording
from ddu.run.manifest import read_manifest
from testsupport.synthetic_run import MS, T0, SyntheticRun, steady

UNKNOWN = {"time": {"offset_ns": None, "offset_uncertainty_ns": None}}
MSS = 1448


def two_ways(
    forth_ms: float = 10, back_ms: float = 10, jitter_ms: float = 5, seed: int = 1
) -> SyntheticRun:
    """20 s of a packet each 20 ms, each answered, least delays as given and random ones above."""
    draw = np.random.default_rng(seed)
    run = SyntheticRun()
    run.handshake()
    for index in range(1000):
        sent = index * 20 * MS
        arrives = sent + int((forth_ms + draw.exponential(jitter_ms)) * MS)
        run.data(sent, index * MSS, MSS, 100 + index, arrives)
        back = int((back_ms + draw.exponential(jitter_ms)) * MS)
        run.ack(arrives, (index + 1) * MSS, 100 + index, arrives + back)
    return run


def by_wrong_clock(run: SyntheticRun, offset_ns: int, skew: float) -> SyntheticRun:
    """Return the run as a UE's host with such a clock would have written it."""
    run.receiver.records = [
        (utc_ns + offset_ns + round((utc_ns - T0) * skew), packet)
        for utc_ns, packet in run.receiver.records
    ]
    return run


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(-5_000_000_000, 5_000_000_000),
    st.integers(-200, 200),
    st.sampled_from([(10, 10), (5, 15), (30, 2)]),
)
def test_shifted_and_skewed_captures_come_back(
    tmp_path_factory: pytest.TempPathFactory, offset_ns: int, ppm: int, least_ms: tuple[int, int]
) -> None:
    run = by_wrong_clock(two_ways(*least_ms), offset_ns, ppm * 1e-6)
    path = run.write(tmp_path_factory.mktemp("clock") / "run", **UNKNOWN)
    clocks = clocks_of(read_recording(path, read_manifest(path), "native"))
    clock, alignment = clocks.of("ue"), clocks.alignment["clocks"]
    true_ns = T0 + MS * np.array([0, 5_000, 10_000, 19_000], dtype=np.int64)
    seen_ns = true_ns + offset_ns + np.rint((true_ns - T0) * ppm * 1e-6).astype(np.int64)
    error_ns = np.abs(clock.corrected(seen_ns) - true_ns)
    assert (error_ns <= alignment["uncertainty_ns"]).all()
    if least_ms == (10, 10):
        assert (error_ns < 1 * MS).all()
    low, high = alignment["skew_interval_ppm"]
    assert low <= ppm / (1 + ppm * 1e-6) + 0.01
    assert ppm / (1 + ppm * 1e-6) - 0.01 <= high
    assert alignment["skew_ppm"] == pytest.approx(ppm, abs=60)


def test_the_interval_is_as_wide_as_the_least_round_trip(tmp_path: Path) -> None:
    path = two_ways(jitter_ms=1).write(tmp_path / "run", **UNKNOWN)
    alignment = clocks_of(read_recording(path, read_manifest(path), "native")).alignment["clocks"]
    # Half of 20 ms in the middle; a line may tilt, so that it is more at the ends.
    assert 10 * MS <= alignment["uncertainty_ns"] <= 35 * MS


def test_metrics_are_those_of_true_clocks(tmp_path: Path) -> None:
    true = analysis_of(steady(500).write(tmp_path / "true"))
    wrong = by_wrong_clock(steady(500), 3_000_000_123, 100e-6).write(tmp_path / "wrong", **UNKNOWN)
    analysis = analyze(wrong)
    assert analysis["alignment"]["clocks"]["corrected"] == "ue"
    assert analysis["flows"][0]["owd_ms"]["p50"] == pytest.approx(10.0, abs=1.0)
    assert analysis["throughput_bps"] == pytest.approx(true.summary["throughput_bps"], rel=1e-3)
    for name in ("aligned", "transport"):
        metadata = pq.read_schema(wrong / "tables" / f"{name}.parquet").metadata
        assert "uncertainty_ns" in json.loads(metadata[b"ddu.alignment"])


def test_a_stated_offset_is_taken_as_it_is(tmp_path: Path) -> None:
    run = by_wrong_clock(steady(), 7 * MS, 0.0)
    time = {"time": {"offset_ns": 7 * MS, "offset_uncertainty_ns": 1000}}
    summary = analysis_of(run.write(tmp_path / "run", **time)).summary
    assert summary["flows"][0]["owd_ms"]["p50"] == pytest.approx(10.0)
    assert "clocks" not in summary["alignment"]


def acks(*rows: tuple[int, int, int]) -> Acks:
    """Return ACKs by instant, number, and distance of the highest SACK block."""
    utc_ns, number, sacked_bytes = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Acks(utc_ns, number, sacked_bytes.astype(np.uint32), np.ones(len(rows), dtype=bool))


# The first ACK 200 left at 20 and came at 30, its duplicate left at 35 and came at 45.
FIRST, AGAIN = (20, 200, 0), (35, 200, 9)
CAME, CAME_AGAIN = (30, 200, 0), (45, 200, 9)
NEXT, NEXT_CAME = (40, 300, 0), (50, 300, 0)


@pytest.mark.parametrize(
    ("sent", "received", "expected"),
    [
        pytest.param([FIRST, AGAIN], [CAME, CAME_AGAIN], [(20, 30)], id="all are there"),
        pytest.param([AGAIN], [CAME, CAME_AGAIN], [], id="the first not captured"),
        pytest.param([(35, 200, 0)], [CAME, (45, 200, 0)], [], id="and without SACK"),
        pytest.param([AGAIN], [CAME], [], id="and the duplicate lost in the network"),
        pytest.param([FIRST, AGAIN], [CAME_AGAIN], [], id="the first lost in the network"),
        pytest.param([FIRST], [NEXT_CAME], [(20, 50)], id="a later one"),
        pytest.param([AGAIN, NEXT], [NEXT_CAME], [(35, 50), (40, 50)], id="after a duplicate"),
        pytest.param([], [CAME], [], id="nothing captured"),
    ],
)
def test_an_ack_that_arrived_before_its_number_was_captured_sets_no_bound(
    sent: list[tuple[int, int, int]],
    received: list[tuple[int, int, int]],
    expected: list[tuple[int, int]],
) -> None:
    left, came = ack_instants(acks(*sent), acks(*received))
    assert list(zip(left.tolist(), came.tolist(), strict=True)) == expected


def test_an_ack_that_one_capture_lost_does_not_move_the_clock(tmp_path: Path) -> None:
    """Its duplicate, 15 ms later, had left after the ACK arrived: the interval missed the truth."""
    run = two_ways(jitter_ms=0.1)
    for second in range(1, 20):
        number, lost = second * 50 * MSS, (second * 50 - 1) * 20 * MS
        first = min(
            at for at, packet in run.receiver.records if at > T0 + lost and len(packet) < 99
        )
        run.receiver.records = [one for one in run.receiver.records if one[0] != first]
        run.ack(first - T0 + 15 * MS, number, 99, first - T0 + 25 * MS)
    path = run.write(tmp_path / "run", **UNKNOWN)
    clocks = clocks_of(read_recording(path, read_manifest(path), "native"))
    true_ns = T0 + MS * np.array([1_000, 10_000, 19_000], dtype=np.int64)
    error_ns = np.abs(clocks.of("ue").corrected(true_ns) - true_ns)
    assert (error_ns <= clocks.alignment["clocks"]["uncertainty_ns"]).all()


def test_a_day_apart_is_refused_in_words(tmp_path: Path) -> None:
    run = by_wrong_clock(steady(), 86_400 * 10**9, 0.0)
    with pytest.raises(UnreadableInput, match=r"24\.0 h apart\. One of the captures has a wrong"):
        analysis_of(run.write(tmp_path / "run", **UNKNOWN))


def test_a_clock_that_was_set_is_refused_in_words(tmp_path: Path) -> None:
    run = two_ways(jitter_ms=0.1)
    run.receiver.records = [
        (utc_ns + (2_000 * MS if utc_ns > T0 + 10_000 * MS else 0), packet)
        for utc_ns, packet in run.receiver.records
    ]
    with pytest.raises(UnreadableInput, match="contradict each other"):
        analysis_of(run.write(tmp_path / "run", **UNKNOWN))


def test_one_direction_alone_tells_nothing(tmp_path: Path) -> None:
    run = SyntheticRun()
    for index in range(20):
        run.data(index * MS, index * MSS, MSS, index, (index + 10) * MS)
    with pytest.raises(UnreadableInput, match="no packet from ue to server"):
        analysis_of(run.write(tmp_path / "run", **UNKNOWN))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-50, 50)), min_size=1, max_size=20))
def test_the_hull_is_below_all_points_and_of_them(points: list[tuple[int, int]]) -> None:
    rows = np.array(sorted(dict(points).items()), dtype=np.float64)
    for lower, sign in ((True, 1), (False, -1)):
        vertices = rows[hull(rows, lower)]
        on_hull = np.interp(rows[:, 0], vertices[:, 0], vertices[:, 1])
        assert (sign * (rows[:, 1] - on_hull) >= -1e-9).all()


@settings(deadline=None)
@given(
    st.integers(-(10**12), 10**12),
    st.floats(-2e-4, 2e-4),
    st.lists(st.tuples(st.integers(0, 10**11), st.integers(10**3, 10**9)), min_size=2, max_size=30),
)
def test_the_interval_covers_the_truth_whatever_the_delays(
    theta_ns: int, skew: float, packets: list[tuple[int, int]]
) -> None:
    at = np.array([T0 + when for when, _ in packets], dtype=np.int64)
    truth = theta_ns + np.rint((at - T0) * skew).astype(np.int64)
    delay = np.array([delay for _, delay in packets], dtype=np.int64)
    half = len(packets) // 2
    upper = Bounds(at[:half], (truth + delay)[:half])
    lower = Bounds(at[half:], (truth - delay)[half:])
    estimated = estimate(upper, lower)
    first_clock = np.array([at.min(), at.max()])
    second_clock = first_clock + theta_ns + np.rint((first_clock - T0) * skew).astype(np.int64)
    error_ns = np.abs(estimated.clock.corrected(second_clock) - first_clock)
    # Rounding, and the interval's being of this clock's offset and not of the other's instants.
    assert (error_ns <= estimated.uncertainty_ns * 1.002 + 10).all()
    assert estimated.skew_low - 1e-9 <= skew <= estimated.skew_high + 1e-9


def test_bounds_that_no_line_fits() -> None:
    at = np.array([T0, T0 + 10**10], dtype=np.int64)
    with pytest.raises(ContradictoryBoundsError):
        estimate(Bounds(at, np.array([0, 0])), Bounds(at, np.array([10**6, 10**6])))


def test_a_clock_without_skew_is_subtracted() -> None:
    instants = np.array([T0, T0 + 1], dtype=np.int64)
    assert Clock(5).corrected(instants).tolist() == [T0 - 5, T0 - 4]
    assert Clock(5, 1e-3, T0).corrected(instants + 10**9).tolist()[0] == T0 + 10**9 - 5 - 10**6
