# SPDX-License-Identifier: Apache-2.0
"""The link's account of packets in real time, which knows no captures, joined with these."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ddu.flows.explained import explained_packets
from ddu.schema.arrays import Columns, Int
from testsupport.synthetic_run import MS, T0, SyntheticRun, observed_flows

MSS = 1448
RECEIVER_NS = 20_001


def account(run: SyntheticRun, seq: Int, entered_ns: Int, left_ns: Int) -> Columns:
    """Return what the link says of the segments that begin at `seq`."""

    def constant(value: int, dtype: str) -> Int:
        return np.full(len(seq), value, dtype=dtype)

    return {
        **dict.fromkeys(("sent_utc_ns", "received_utc_ns"), constant(0, "i8")),
        "entered_utc_ns": T0 + entered_ns, "left_utc_ns": T0 + left_ns,
        **dict.fromkeys(("sent_frame", "received_frame"), constant(0, "u4")),
        "ip_bytes": constant(1500, "u4"),
        "seq": ((seq + run.isn + 1) % 2**32).astype("u4"), "ack": constant(1, "u4"),
        "sport": constant(40001, "u2"), "dport": constant(5201, "u2"),
        "ue": constant(0, "u2"), "direction": constant(0, "u1"), "protocol": constant(6, "u1"),
        "delay_radio_ns": (left_ns - entered_ns).astype("u8"),
    }  # fmt: skip


@pytest.mark.parametrize(("every_ns", "lag_ns"), [(100_000, 50_000), (50_000, 30_000)])
def test_packets_nearer_than_the_clocks_agree_are_not_taken_for_others(
    tmp_path: Path, every_ns: int, lag_ns: int
) -> None:
    """Above 58 Mbit/s the packet captured just before a row of the link may be a later one."""
    run = SyntheticRun()
    run.handshake()
    number = np.arange(300)
    sent_ns = number * every_ns
    entered_ns = sent_ns + lag_ns
    left_ns = -(-(entered_ns + 9 * MS) // (5 * MS)) * 5 * MS
    for index in range(300):
        arrives = int(left_ns[index]) + RECEIVER_NS
        run.data(int(sent_ns[index]), index * MSS, MSS, 100 + index, arrives)
    (flow,) = observed_flows(run.write(tmp_path / "run"))
    # Of one packet more the captures know nothing: instants are no floats because of it.
    seq = np.append(number, 10_000) * MSS
    link = account(run, seq, np.append(entered_ns, MS), np.append(left_ns, 10 * MS))
    packets = explained_packets(link, [flow])
    assert packets["delay_sender_ns"].tolist() == [lag_ns] * 300
    assert packets["delay_receiver_ns"].tolist() == [RECEIVER_NS] * 300


@pytest.mark.parametrize("sizes", [[3 * MSS] * 20, [MSS] * 9 + [2 * MSS + 104], [44 * MSS] * 3])
def test_each_segment_of_a_super_packet_has_its_row(tmp_path: Path, sizes: list[int]) -> None:
    run = SyntheticRun()
    run.handshake()
    begins = np.cumsum([0, *sizes])
    seq: list[int] = []
    at_ns: list[int] = []
    for index, size in enumerate(sizes):
        run.data(index * MS, int(begins[index]), size, 100 + index, (index + 10) * MS)
        first = range(0, size, MSS)
        seq += [int(begins[index]) + one for one in first]
        at_ns += [index * MS] * len(first)
    (flow,) = observed_flows(run.write(tmp_path / "run"))
    entered_ns = np.array(at_ns) + 50_000
    link = account(run, np.array(seq), entered_ns, entered_ns + 9 * MS)
    assert len(explained_packets(link, [flow])) == len(seq)
