# SPDX-License-Identifier: Apache-2.0
"""Without generic receive offload, hosts acknowledge every second packet."""

from __future__ import annotations

from pathlib import Path

from testsupport.dpkt_packets import packets
from testsupport.runs import Runs

RUN = ("--cc", "cubic", "--prb", "106", "--scenario", "static", "--duration", "2s")


def acks_per_segment(run: Path) -> float:
    seen = [packet.payload_bytes for packet in packets(run / "raw/receiver.pcap")]
    return seen.count(0) / (len(seen) - seen.count(0))


def test_hosts_acknowledge_every_second_segment(experiments: Runs) -> None:
    # RFC 5681 section 4.2: an ACK for at least every second full segment.
    assert acks_per_segment(experiments(*RUN, "--no-gro")) >= 0.5
    assert acks_per_segment(experiments(*RUN)) < 0.5
