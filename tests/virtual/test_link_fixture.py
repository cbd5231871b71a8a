# SPDX-License-Identifier: Apache-2.0
"""Runs of the pytest plugin's fixture: what its keys ask for, and mistakes that it names."""

from __future__ import annotations

import sys
from pathlib import Path

import dpkt
import pytest

from ccu.testing import session
from ddu.console.problems import RefusedError

SERVER = """
import socket
with socket.create_server(("", 5000)) as server:
    client, _ = server.accept()
    while client.recv(65536):
        pass
"""
CLIENT = """
import os, socket, sys
with socket.create_connection((os.environ["NR_LINK_SERVER"], 5000)) as server:
    server.sendall(bytes(300_000))
sys.stdout.buffer.write(b"\\xff sent")
"""


def test_an_upload(kernel: Path, tmp_path: Path) -> None:
    client, server = [sys.executable, "-c", CLIENT], [sys.executable, "-c", SERVER]
    keys = {"aqm": "codel", "ecn": True, "duration": "10s"}
    ran = session.run(tmp_path / "dl", client, server, "dl", tmp_path, keys)
    assert ran.output == "\ufffd sent"
    with pytest.raises(RefusedError, match=r'direction: the data does not go dl.*direction="ul"'):
        _ = ran.summary
    ran = session.run(tmp_path / "ul", client, server, "ul", tmp_path, keys)
    assert ran.summary["rtt_ms"]["p50"] > 19
    with (tmp_path / "ul/captures/ue.pcap").open("rb") as file:
        capture = dpkt.pcap.UniversalReader(file)
        segments = [dpkt.ip.IP(packet).data for _, packet in capture]
    opening = next(one for one in segments if isinstance(one, dpkt.tcp.TCP))
    asks = dpkt.tcp.TH_SYN | dpkt.tcp.TH_ECE | dpkt.tcp.TH_CWR
    assert opening.flags & asks == asks
