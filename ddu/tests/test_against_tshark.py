# SPDX-License-Identifier: Apache-2.0
"""RTT, retransmissions and bytes in flight against tshark's analysis of the same capture.

docs/metrics.md explains what is different by definition; beyond that nothing may be.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from ddu.flows.observe import ObservedFlow
from ddu.readers.packets.capture import read_packets
from testsupport.gigabit import write_run
from testsupport.synthetic_run import observed_flows

pytestmark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")

Row = dict[str, str]
FIELDS = (
    "frame.time_epoch",
    "tcp.stream",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.bytes_in_flight",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
)


def analysed_by_tshark(file: Path) -> dict[int, list[Row]]:
    """Packets by stream, each with what tshark says of it."""
    wanted = [part for field in FIELDS for part in ("-e", field)]
    command = ["tshark", "-n", "-r", file, "-T", "fields", "-E", "separator=|", *wanted]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    streams: dict[int, list[Row]] = defaultdict(list)
    for line in said.splitlines():
        row = dict(zip(FIELDS, line.split("|"), strict=True))
        streams[int(row["tcp.stream"])].append(row)
    return streams


def utc_ns(row: Row) -> int:
    seconds, ns = row["frame.time_epoch"].split(".")
    return int(seconds) * 1_000_000_000 + int(ns)


@pytest.fixture(scope="module", params=[(1, 0.0), (1, 0.02), (3, 0.003)], ids=str)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[ObservedFlow, list[Row]]]:
    """Our flows of a generated run, each with tshark's packets of it."""
    flows, loss = request.param
    run = tmp_path_factory.mktemp("tshark") / "run"
    write_run(run, seconds=2.0, gbps=0.02, flows=flows, loss=loss)
    streams = analysed_by_tshark(run / "raw" / "sender.pcap")
    ours = observed_flows(run)
    return list(zip(ours, (streams[index] for index in sorted(streams)), strict=True))


def test_every_rtt_by_sequence_is_tsharks(both: list[tuple[ObservedFlow, list[Row]]]) -> None:
    for flow, rows in both:
        theirs = {utc_ns(r): float(r["tcp.analysis.ack_rtt"]) * 1e3 for r in rows if r[FIELDS[2]]}
        samples = flow.rtt_by_sequence
        ours = dict(zip(samples.utc_ns.tolist(), samples.value_ms.tolist(), strict=True))
        assert ours.keys() == theirs.keys()
        assert len(ours) > 100
        assert all(abs(ours[at] - theirs[at]) < 1e-3 for at in ours)


def test_every_retransmission_is_one_that_tshark_marks(
    both: list[tuple[ObservedFlow, list[Row]]],
) -> None:
    """It calls those out of order that come too soon after the packet before."""
    for flow, rows in both:
        theirs = [utc_ns(row) for row in rows if any(row[field] for field in FIELDS[4:])]
        assert flow.retransmissions.utc_ns.tolist() == theirs


def test_bytes_in_flight_are_tsharks_and_what_is_sacked(
    both: list[tuple[ObservedFlow, list[Row]]],
) -> None:
    for flow, rows in both:
        theirs = {utc_ns(r): int(r["tcp.analysis.bytes_in_flight"]) for r in rows if r[FIELDS[3]]}
        sent = flow.sent
        reached = np.maximum.accumulate(sent.end)
        acked = np.concatenate([[0], np.maximum.accumulate(flow.acks.ack)])
        before = np.searchsorted(flow.acks.utc_ns, sent.utc_ns, side="left")
        # The generator sacks all behind one hole of one segment.
        sacked = np.maximum(flow.acks.sacked_bytes.astype(np.int64) - 1448, 0)
        latest = np.concatenate([[0], sacked])[before]
        ours = (reached - acked[before] - latest).tolist()
        assert dict(zip(sent.utc_ns.tolist(), ours, strict=True)) == theirs


def test_the_generated_captures_are_sound(tmp_path: Path) -> None:
    """The benchmarks' captures have SACK, wrapped sequence numbers, and no packet too few."""
    packets = write_run(tmp_path / "run", seconds=0.5, gbps=0.05, flows=2, loss=0.02)
    captures = [
        read_packets(tmp_path / "run" / "raw" / f"{role}.pcap") for role in ("sender", "receiver")
    ]
    assert sum(capture.packets.num_rows for capture in captures) == packets
    table = captures[0].packets
    assert table["sack"].null_count < table.num_rows
    sequence = table["tcp_seq"].to_numpy()
    assert sequence.min() < 10_000_000 < 2**31 < sequence.max()
