# SPDX-License-Identifier: Apache-2.0
"""Retransmissions by cause, spurious ones, ACK blocks, delay budgets: on captures made here."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddu.analyze import analysis_of
from ddu.flows.observe import ObservedFlow
from testsupport.synthetic_run import ACK, MS, T0, SyntheticRun, observed_flows, steady, tcp

MSS = 1448


def observed(run: SyntheticRun, directory: Path) -> ObservedFlow:
    path = run.write(directory / "run")
    (flow,) = observed_flows(path)
    return flow


def burst(run: SyntheticRun, lost: set[int], count: int = 10) -> None:
    """A packet each ms, 10 ms to the receiver, all answered by the test itself."""
    for index in range(count):
        arrives = None if index in lost else (index + 10) * MS
        run.data(index * MS, index * MSS, MSS, 100 + index, arrives)


def counts(flow: ObservedFlow) -> tuple[float, float, float]:
    """Fast, by timeout, spurious."""
    causes = flow.causes
    events = (causes.fast, causes.timeout, flow.fates.spurious)
    return tuple(float(event.count.sum()) for event in events)  # type: ignore[return-value]


def test_three_duplicate_acks_make_it_fast_and_two_do_not(tmp_path: Path) -> None:
    for duplicates, expected in ((3, (1, 0, 0)), (2, (0, 1, 0))):
        run = SyntheticRun()
        run.handshake()
        burst(run, lost={3})
        for index in range(duplicates + 1):
            run.ack((13 + index) * MS, 3 * MSS, 102, (23 + index) * MS)
        run.data(30 * MS, 3 * MSS, MSS, 130, 40 * MS)
        assert counts(observed(run, tmp_path / str(duplicates))) == expected


def with_sack(run: SyntheticRun, at: int, number: int, block: tuple[int, int]) -> None:
    """An ACK with one SACK block, `at` the receiver and 10 ms later at the sender."""
    source, sink = run.ends(0)
    base = run.isn + 1
    packet = bytearray(tcp(sink, source, 1, base + number, 0, ACK, (9, 102)))
    packet[32] = 11 << 4  # 12 bytes more of options
    packet[2:4] = (len(packet) + 12).to_bytes(2, "big")
    edges = b"".join(((base + edge) % 2**32).to_bytes(4, "big") for edge in block)
    whole = bytes(packet) + bytes([1, 1, 5, 10]) + edges
    run.receiver.add(T0 + at, whole)
    run.sender.add(T0 + at + 10 * MS, whole)


def test_a_sack_block_above_makes_it_fast_and_one_at_the_end_cannot(tmp_path: Path) -> None:
    run = SyntheticRun()
    run.handshake()
    burst(run, lost={3, 9})
    with_sack(run, 14 * MS, 3 * MSS, (4 * MSS, 9 * MSS))
    run.data(25 * MS, 3 * MSS, MSS, 130, 35 * MS)  # known to be lost
    run.data(250 * MS, 9 * MSS, MSS, 131, 260 * MS)  # nothing came after it: the timer
    assert counts(observed(run, tmp_path)) == (1, 1, 0)


def test_a_repetition_that_is_lost_again_needs_news_sent_after_it(tmp_path: Path) -> None:
    run = SyntheticRun()
    run.handshake()
    burst(run, lost={3})
    with_sack(run, 14 * MS, 3 * MSS, (4 * MSS, 10 * MSS))
    run.data(25 * MS, 3 * MSS, MSS, 130, None)
    run.data(300 * MS, 3 * MSS, MSS, 131, 310 * MS)
    assert counts(observed(run, tmp_path)) == (1, 1, 0)


def test_duplicates_from_before_a_copy_do_not_report_its_loss(tmp_path: Path) -> None:
    """An outage: the retransmission that they caused is lost, and the timer's that follow."""
    run = SyntheticRun()
    run.handshake()
    for index in range(10):
        arrives = None if index == 3 else (index + 10) * MS
        run.data(index * MS, index * MSS, MSS, 100 + index, arrives)
    for index in range(7):
        run.ack((13 + index) * MS, 3 * MSS, 102, (23 + index) * MS)
    for at_ms, arrives in ((26, None), (326, None), (926, None), (2126, 2136 * MS)):
        run.data(at_ms * MS, 3 * MSS, MSS, 100 + at_ms, arrives)
    (flow,) = observed_flows(run.write(tmp_path / "run"))
    assert [one.count.sum() for one in (flow.causes.fast, flow.causes.timeout)] == [1, 3]


def test_a_second_copy_of_what_arrived_is_spurious(tmp_path: Path) -> None:
    run = SyntheticRun()
    run.handshake()
    burst(run, lost={3})
    run.data(30 * MS, 3 * MSS, MSS, 130, 40 * MS)
    run.data(31 * MS, 5 * MSS, MSS, 131, 41 * MS)
    flow = observed(run, tmp_path)
    assert counts(flow) == (0, 2, 1)
    assert flow.fates.spurious.utc_ns.tolist() == [T0 + 31 * MS]
    assert flow.fates.lost.utc_ns.tolist() == [T0 + 3 * MS]


def test_a_copy_that_is_lost_after_one_that_arrived_is_no_loss_of_the_first(tmp_path: Path) -> None:
    """Two copies, one arrival: the earlier is the lost one, and the later not in vain."""
    run = SyntheticRun()
    run.handshake()
    burst(run, lost={3})
    run.data(30 * MS, 3 * MSS, MSS, 130, 40 * MS)
    assert counts(observed(run, tmp_path))[2] == 0


def test_ack_blocks_end_where_payload_is_sent(tmp_path: Path) -> None:
    run = SyntheticRun()
    run.handshake()
    for index in range(12):
        run.data(index * MS, index * MSS, MSS, 100 + index, (index + 10) * MS)
    # Blocks: two ACKs of 2 packets each; one of 3 between packets; then the rest.
    run.ack(12 * MS, 2 * MSS, 101, 20 * MS)
    run.ack(13 * MS, 4 * MSS, 103, 21 * MS)
    run.data(22 * MS, 12 * MSS, MSS, 122, 32 * MS)
    run.ack(17 * MS, 7 * MSS, 106, 23 * MS)
    run.data(24 * MS, 13 * MSS, MSS, 124, 34 * MS)
    for index in range(7):
        run.ack((28 + index) * MS, (8 + index) * MSS, 107, (38 + index) * MS)
    blocks = observed(run, tmp_path).ack_blocks
    assert blocks.packets.tolist() == [4, 3, 7]
    assert blocks.utc_ns.tolist() == [T0 + at * MS for at in (20, 23, 38)]


def test_delay_budgets_cost_and_desired_delay(tmp_path: Path) -> None:
    summary = analysis_of(steady().write(tmp_path / "run")).summary
    (flow,) = summary["flows"]
    assert flow["within_20ms_ratio"] == 1.0
    assert flow["self_inflicted_delay_ms"] == pytest.approx(0.0)
    # 100 packets of 1500 B one way; 100 ACKs of 52 B the other.
    assert flow["on_wire_ip_bytes"] == 100 * 1500 + 100 * 52
    assert flow["on_wire_to_goodput_ratio"] == pytest.approx(155_200 / 144_800)
    assert flow["retransmissions_per_packet_ratio"] == 0
    assert flow["retransmissions_per_loss_ratio"] is None
    # All RTTs are 20 ms, the yardstick is 1.5 times that.
    assert (flow["dtt_ms"], flow["dtt_source"]) == (30.0, "1.5 times the least RTT")
    assert flow["d3_ratio"] == pytest.approx(1 / 1.5)


def test_lost_packets_are_within_no_budget(tmp_path: Path) -> None:
    run = SyntheticRun()
    run.handshake()
    burst(run, lost={2, 5})
    run.data(60 * MS, 2 * MSS, MSS, 160, 70 * MS)
    run.data(61 * MS, 5 * MSS, MSS, 161, 71 * MS)
    (flow,) = analysis_of(run.write(tmp_path / "run")).summary["flows"]
    assert flow["within_20ms_ratio"] == pytest.approx(0.8)


def test_the_distribution_of_delays_is_a_table(tmp_path: Path) -> None:
    cdf = analysis_of(steady().write(tmp_path / "run")).tables["delay_cdf"]
    for metric, delay_ms in (("rtt", 20.0), ("owd", 10.0)):
        rows = cdf[cdf["metric"] == metric]
        assert rows["share"].is_monotonic_increasing
        assert rows["delay_ms"].tolist() == pytest.approx([delay_ms] * len(rows))
