# SPDX-License-Identifier: Apache-2.0
"""The bound of docs/bound.md: whatever is sent through a link, and in whatever order the link
serves it, no more is delivered than the front has at that mean delay."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from ddu.flows.rtt import Samples
from ddu.metrics.declared.bound import METRICS, Delivered, Front, delivered, front_of
from ddu.metrics.declared.radio import METRICS as OF_RADIO
from ddu.metrics.views import RunView

INTERVAL_NS = 10_000_000
RUN: Any = None
"""The bound asks nothing of the run but its flows and its MAC."""
PATH_NS = 3_000_000


@dataclass
class Packet:
    """A packet that is sent at `sent_ns`; the link serves one with a lower `rank` first, and keeps
    each for a time after its last byte, as RLC does to hold the order."""

    sent_ns: int
    size: int
    rank: int
    kept_ns: int


MOMENTS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 10**6), st.integers(0, 10**8)),
        st.integers(0, 5000),
    ),
    min_size=1,
    max_size=60,
)
"""When capacity comes, ns after the last, and how many bytes of it."""
PACKETS = st.lists(
    st.builds(
        Packet,
        st.integers(0, 10**9),
        st.integers(20, 3000),
        st.integers(0, 5),
        st.one_of(st.just(0), st.integers(0, 10**8)),
    ),
    min_size=1,
    max_size=60,
)


def served(moments: list[tuple[int, int]], packets: list[Packet]) -> list[tuple[int, int]]:
    """Return size and delay of what a link delivers whose capacity comes at these moments."""
    left = {number: packet.size for number, packet in enumerate(packets)}
    delivered = []
    for now, capacity in moments:
        present = [number for number in left if packets[number].sent_ns <= now]
        for number in sorted(present, key=lambda number: packets[number].rank):
            taken = min(capacity, left[number])
            capacity -= taken
            left[number] -= taken
            if not left[number]:
                packet = packets[number]
                waited = now - packet.sent_ns + packet.kept_ns
                delivered.append((packet.size, waited + PATH_NS))
                del left[number]
    return delivered


def front(moments: list[tuple[int, int]], passed: Delivered) -> Front:
    count = moments[-1][0] // INTERVAL_NS + 1
    capacity = np.zeros(count, dtype=np.int64)
    for now, size in moments:
        capacity[now // INTERVAL_NS] += size
    begins = np.arange(count, dtype=np.int64) * INTERVAL_NS
    least_ns, least_bytes = int(passed.delay_ns.min()), int(passed.ip_bytes.min())
    return Front.over(capacity, begins, begins + INTERVAL_NS, least_ns, least_bytes)


@settings(max_examples=500, deadline=None)
@given(MOMENTS, PACKETS)
def test_no_schedule_is_above_the_front(gaps: list[tuple[int, int]], packets: list[Packet]) -> None:
    times = itertools.accumulate(gap for gap, _ in gaps)
    moments = [(now, size) for now, (_, size) in zip(times, gaps, strict=True)]
    through = served(moments, packets)
    if not through:
        return
    passed = Delivered(*np.array(through, dtype=np.int64).T)
    bound = front(moments, passed)
    assert passed.total_bytes <= bound.most_bytes(passed.mean_ns)
    assert bound.least_ns(passed.total_bytes) <= passed.mean_ns


def test_a_sender_that_knows_the_link_is_on_the_front() -> None:
    moments = [(number * INTERVAL_NS, 3000) for number in range(100)]
    packets = [Packet(now, 1500, 0, 0) for now, _ in moments for _ in range(2)]
    passed = Delivered(*np.array(served(moments, packets), dtype=np.int64).T)
    bound = front(moments, passed)
    assert passed.mean_ns == PATH_NS
    assert passed.total_bytes == bound.most_bytes(PATH_NS) == 300_000
    assert bound.most_bytes(PATH_NS - 1) == 0


def test_a_packet_after_an_outage_takes_as_long_as_its_capacity_took_to_come() -> None:
    """A packet in each of two intervals, an outage of ten, and a packet in two intervals."""
    size = np.array([1500, 1500, *[0] * 10, 750, 750], dtype=np.int64)
    begins = np.arange(len(size), dtype=np.int64) * INTERVAL_NS
    bound = Front.over(size, begins, begins + INTERVAL_NS, PATH_NS, 1500)
    # What is delivered in the first interval after the outage had its other half before: at the
    # latest 100 ms earlier. Two halves at the end may be one moment.
    assert bound.most_bytes(PATH_NS) == 3750
    assert bound.most_bytes(PATH_NS + 97_000_000 * 250 // 4000) == 4000
    assert bound.least_ns(4500) == (3750 * 3_000_000 + 750 * 100_000_000) / 4500


def flow(direction: str, at_ns: list[int], delay_ms: float, ip_bytes: int) -> Any:
    """A flow of packets with 100 bytes of headers that were sent once and received at `at_ns`."""
    received, size = np.array(at_ns), np.full(len(at_ns), ip_bytes, dtype=np.uint32)
    return SimpleNamespace(
        flow=SimpleNamespace(direction=direction),
        one_way_delay=Samples(received, np.full(len(at_ns), delay_ms)),
        owd_ip_bytes=size,
        has_arrivals=True,
        arrivals=(received, size - 100),
        first_utc_ns=0,
        last_utc_ns=at_ns[-1],
    )


def test_what_arrives_after_the_last_known_capacity_is_not_counted() -> None:
    mac = pd.DataFrame({"utc_ns": [0, 10], "duration_ns": [10, 5]})
    run = RunView(run=RUN, flows=[flow("dl", [10, 15, 16], 1.0, 200)], mac=mac)
    assert delivered(run, "dl").total_bytes == 400


def test_each_direction_has_its_own_bound() -> None:
    """0.1 s with 3,000 bytes each 10 ms downlink, of which a quarter is used, in two flows, and
    1,000 uplink, of which half is. A counter that is rounded has one byte more."""
    intervals = np.arange(10) * INTERVAL_NS
    capacity = {"mac_dl_capacity_sdu_bytes": 2999, "mac_ul_capacity_sdu_bytes": 999}
    mac = pd.DataFrame({"utc_ns": intervals, "duration_ns": INTERVAL_NS, **capacity})
    ends = (intervals + INTERVAL_NS).tolist()
    uplink = flow("ul", ends, 8, 500)
    flows = [flow("dl", ends[:3], 3, 1500), uplink, flow("dl", ends[3:5], 3, 1500)]
    run = RunView(run=RUN, flows=flows, mac=mac)
    values = {metric.name: metric.of_run(run) for metric in METRICS if metric.of_run}
    assert values == {
        "of_possible_ratio": {"dl": 0.25, "ul": 0.5},
        "possible_bps": {"dl": 5 * 1400 * 8 / 0.1 / 0.25, "ul": 10 * 400 * 8 / 0.1 / 0.5},
        "possible_owd_ms": {"dl": 3, "ul": 8},
    }
    one_way = RunView(run=RUN, flows=[uplink], mac=mac)
    values = {metric.name: metric.of_run(one_way) for metric in METRICS if metric.of_run}
    assert values["of_possible_ratio"] == {"dl": None, "ul": 0.5}


def radio(ue_2_bytes: int) -> RunView:
    """Two UEs over one radio for 0.1 s, of which the first has half of what it could have had."""
    intervals = np.arange(10) * INTERVAL_NS
    columns = {"duration_ns": INTERVAL_NS, "mac_dl_capacity_sdu_bytes": 3000, "mac_dl_prb_count": 9}
    ues = [
        pd.DataFrame({"utc_ns": intervals, "ue": ue, "mac_dl_sdu_bytes": size, **columns})
        for ue, size in enumerate([1500, ue_2_bytes])
    ]
    ends = (intervals + INTERVAL_NS).tolist()
    return RunView(run=RUN, flows=[flow("dl", ends, 3, 1500)], mac=pd.concat(ues))


def test_capacities_of_ues_that_share_a_radio_have_no_sum() -> None:
    """The rest that each could have had is the same for both."""
    utilisation = next(one for one in OF_RADIO if one.name == "utilisation_ratio")
    assert utilisation.of_run is not None
    alone, shared = radio(ue_2_bytes=0), radio(ue_2_bytes=900)
    assert utilisation.of_run(alone) == 0.5
    assert utilisation.of_run(shared) is None
    packets = delivered(alone, "dl")
    assert front_of(alone, "dl", packets) is not None
    assert front_of(shared, "dl", packets) is None
