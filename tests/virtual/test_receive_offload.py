# SPDX-License-Identifier: Apache-2.0
"""Without generic receive offload, hosts get each packet as it came: an ACK for every second."""

from __future__ import annotations

from pathlib import Path

import pytest

from testsupport.dpkt_packets import packets
from testsupport.runs import Runs

SEGMENT = 1448
"""Payload of a full packet in bytes: an MTU of 1500, headers, timestamps."""
RUN = ("--cc", "cubic", "--prb", "106", "--scenario", "static", "--duration", "2s")


def payloads(run: Path) -> list[int]:
    return [packet.payload_bytes for packet in packets(run / "raw/receiver.pcap")]


def acks_per_segment(run: Path) -> float:
    seen = payloads(run)
    return seen.count(0) / (len(seen) - seen.count(0))


def test_virtual_hosts_acknowledge_every_second_segment(experiments: Runs) -> None:
    # RFC 5681 section 4.2: an ACK for at least every second full segment.
    assert acks_per_segment(experiments(*RUN, "--no-gro")) >= 0.5
    assert acks_per_segment(experiments(*RUN)) < 0.5


@pytest.mark.root
def test_emulated_hosts_get_each_segment(runs: Runs) -> None:
    assert max(payloads(runs(*RUN, "--no-gro"))) == SEGMENT
    assert max(payloads(runs(*RUN))) > SEGMENT
