# SPDX-License-Identifier: Apache-2.0
"""Without generic receive offload, hosts get each packet as it came."""

from __future__ import annotations

import pytest

from testsupport.dpkt_packets import packets
from testsupport.runs import Runs

SEGMENT = 1448
"""Payload of a full packet in bytes: an MTU of 1500, headers, timestamps."""
RUN = ("--cc", "cubic", "--prb", "106", "--scenario", "static", "--duration", "2s")


@pytest.mark.root
def test_hosts_get_each_segment(runs: Runs) -> None:
    def largest(*words: str) -> int:
        capture = runs(*RUN, *words) / "raw/receiver.pcap"
        return max(packet.payload_bytes for packet in packets(capture))

    assert largest("--no-gro") == SEGMENT
    assert largest() > SEGMENT
