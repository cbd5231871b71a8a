# SPDX-License-Identifier: Apache-2.0
"""Metrics by their laws, on any flow that hypothesis thinks of, byte by byte in plain Python."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddu.flows.datagrams import datagrams
from ddu.flows.goodput import delivered_in_order
from ddu.flows.loss import end_ns, fates
from ddu.metrics.convergence import convergence
from ddu.metrics.fairness import friendliness
from ddu.readers.packets.segments import Acks, Segments
from ddu.schema.arrays import Int

Packet = tuple[int, int]
"""First byte and length."""

PACKETS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), min_size=1, max_size=12)


def segments(packets: list[Packet], digests: list[int] | None = None) -> Segments:
    def column(values: list[int], dtype: str) -> Int:
        return np.array(values, dtype=dtype)

    return Segments(
        utc_ns=column([100 * index for index in range(len(packets))], "i8"),
        seq=column([seq for seq, _ in packets], "i8"),
        payload_bytes=column([size for _, size in packets], "u4"),  # type: ignore[arg-type]
        segment_count=column([1] * len(packets), "u4"),  # type: ignore[arg-type]
        header_bytes=column([40] * len(packets), "u2"),  # type: ignore[arg-type]
        digest=column(digests or [], "u8"),  # type: ignore[arg-type]
    )


def no_acks() -> Acks:
    none = np.zeros(0, dtype=np.int64)
    return Acks(none, none, none.astype(np.uint32), none.astype(np.bool_))


@settings(deadline=None)
@given(PACKETS)
def test_goodput_is_what_can_be_read(packets: list[Packet]) -> None:
    instants, sizes = delivered_in_order(segments(packets), no_acks())
    read: dict[int, int] = defaultdict(int)
    held: set[int] = set()
    edge = 0
    for index, (seq, size) in enumerate(packets):
        held.update(range(seq, seq + size))
        before = edge
        while edge in held:
            edge += 1
        read[100 * index] += edge - before
    ours: dict[int, int] = defaultdict(int)
    for at, size in zip(instants.tolist(), sizes.tolist(), strict=True):
        ours[at] += size
    assert {at: n for at, n in ours.items() if n} == {at: n for at, n in read.items() if n}


@settings(deadline=None)
@given(PACKETS, st.sampled_from([0, 100, 300, 10**6]), st.data())
def test_fates_are_those_of_every_byte(
    packets: list[Packet], longest_ns: int, data: st.DataObject
) -> None:
    arrives = data.draw(st.lists(st.booleans(), min_size=len(packets), max_size=len(packets)))
    arrived = [packet for packet, there in zip(packets, arrives, strict=True) if there]
    sides = segments(packets), segments(arrived)
    fate = fates(*sides, 0, longest_ns, end_ns(*sides))
    reached = max((seq + size for seq, size in arrived), default=0)
    # From here on, a packet above all that arrived may have been under way at the end.
    open_from = 100 * (len(packets) - 1) - longest_ns
    sent = [
        (seq, size)
        for index, (seq, size) in enumerate(packets)
        if seq + size <= reached or 100 * index < open_from
    ]
    lost = spurious = 0
    for byte in range(max((seq + size for seq, size in sent), default=0)):
        copies = sum(seq <= byte < seq + size for seq, size in sent)
        arrivals = sum(seq <= byte < seq + size for seq, size in arrived)
        missing = max(copies - arrivals, 0)
        lost += missing
        spurious += max(copies - missing - 1, 0)
    assert int(fate.lost.size_bytes.sum()) == lost
    assert int(fate.spurious.size_bytes.sum()) == spurious


@settings(deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=15), st.data())
def test_datagrams_are_received_lost_or_under_way(forms: list[int], data: st.DataObject) -> None:
    kept = data.draw(st.sets(st.integers(0, len(forms) - 1)))
    order = data.draw(st.permutations(sorted(kept)))
    sent = segments([(0, 10)] * len(forms), [form + 1 for form in forms])
    received = segments([(0, 10)] * len(order), [forms[index] + 1 for index in order])
    counted = datagrams(sent, received, end_ns(sent, received))
    alone = [index for index in order if forms.count(forms[index]) == 1]
    delays = [(100 * order.index(index) - 100 * index) / 1e6 for index in alone]
    assert counted.delay.value_ms.tolist() == delays
    assert counted.late.tolist() == [
        any(before > index for before in alone[:place]) for place, index in enumerate(alone)
    ]
    assert counted.lost.count.sum() <= len(forms) - len(kept)
    if len(set(forms)) == len(forms):
        last = max(kept, default=-1)
        # From here on, a datagram may have been under way at the end.
        open_from = 100 * (len(forms) - 1) - int(max([*delays, 0.0]) * 1e6) if kept else 0
        gone = [
            index
            for index in range(len(forms))
            if index not in kept and (index < last or 100 * index < open_from)
        ]
        assert counted.lost.utc_ns.tolist() == [100 * index for index in gone]


def test_datagrams_of_an_outage_that_lasts_are_lost() -> None:
    """Ten arrive after ten intervals, then none of ninety; the last ten may be under way."""
    sent = segments([(0, 10)] * 100, list(range(1, 101)))
    received = segments([(0, 10)] * 10, list(range(1, 11)))
    received = replace(received, utc_ns=received.utc_ns + 1000)
    counted = datagrams(sent, received, end_ns(sent, received))
    assert counted.lost.utc_ns.tolist() == [100 * index for index in range(10, 89)]
    # All of them, where the captures show another connection's packets for as long again.
    assert datagrams(sent, received, 10_901).lost.count.sum() == 90


def aligned(cwnd_bytes: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"t_s": 0.1 * np.arange(len(cwnd_bytes)), "tcp_cwnd_bytes": cwnd_bytes})


def test_convergence_of_a_window_that_steps() -> None:
    """100 s at 10 kB, then 900 s at 100 kB; the windows of 30 s are averaged here."""
    cwnd = [10e3] * 1000 + [100e3] * 9000
    moving = pd.Series(cwnd).rolling(300).mean().dropna().to_numpy()
    mean = moving.mean()
    first = next(i for i, value in enumerate(moving) if 0.8 * mean <= value <= 1.2 * mean)
    convergence_of = convergence(aligned(cwnd), 0.0)
    assert convergence_of["convergence_window_s"] == pytest.approx(30.0)
    assert convergence_of["convergence_time_s"] == pytest.approx((first + 300) * 0.1)
    assert convergence_of["stability_bytes"] == pytest.approx(
        np.sqrt(((moving[first:] - mean) ** 2).mean()), rel=1e-9
    )
    assert 100 < convergence_of["convergence_time_s"] < 130  # type: ignore[operator]


def test_a_constant_window_has_converged_after_one_window() -> None:
    metrics = convergence(aligned([5e3] * 1000), 0.0)
    assert metrics["convergence_time_s"] == metrics["convergence_window_s"] == pytest.approx(10.0)
    assert metrics["stability_bytes"] == pytest.approx(0.0, abs=1e-6)


def test_without_samples_nothing_is_said() -> None:
    empty = aligned([np.nan] * 50)
    assert set(convergence(empty, 0.0).values()) == {None}
    assert set(convergence(empty.drop(columns="tcp_cwnd_bytes"), 0.0).values()) == {None}


def test_friendliness_is_between_congestion_controls() -> None:
    assert friendliness([5.0, 5.0], ["cubic", "cubic"]) is None
    assert friendliness([6.0, 4.0], ["cubic", "bbr"]) == pytest.approx(100 / (2 * 52))
    assert friendliness([8.0, 4.0, 6.0], ["cubic", "cubic", "bbr"]) == pytest.approx(1.0)
