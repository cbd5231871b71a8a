# SPDX-License-Identifier: Apache-2.0
"""A run over a real OpenAirInterface (2026.w11, 24 PRB, 0.43 of real time), read whole."""

from __future__ import annotations

import csv
import json
import re
import socket
import tarfile
from pathlib import Path
from typing import Any

import dpkt
import pytest

from ddu.api import analyze
from testsupport.shared_data import shared

# Per packet: PDCP with 18-bit numbers 3, RLC AM with 18-bit numbers 3, MAC with 16-bit length 3
# (TS 38.323 6.2.2, 38.322 6.2.2, 38.321 6.1.2), SDAP 1.
_HEADERS_BYTES = 10


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    with tarfile.open(shared("oai-real-24prb-run.tar.xz")) as archive:
        archive.extractall(folder, filter="data")
    (made,) = folder.iterdir()
    # Its tables were made by an older ddu.
    for old in (made / "tables").iterdir():
        old.unlink()
    analyze(made, report=False)
    return made


def rows(run: Path, table: str) -> list[dict[str, Any]]:
    with (run / "tables" / table).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_mac_counters_are_read_from_the_first_to_the_last(run: Path) -> None:
    text = (run / "raw/oai/nrMAC_stats.log").read_text()
    sent = [int(count) for count in re.findall(r"MAC: +TX +(\d+)", text)]
    rounds = [int(count) for count in re.findall(r"dlsch_rounds (\d+)/", text)]
    samples = rows(run, "mac.csv")
    # Before the first row lies one interval without a beginning.
    counted = sum(float(row["mac_dl_bytes"] or 0) for row in samples)
    assert counted in {sent[-1] - first for first in sent[:20]}
    assert sum(float(row["mac_dl_rounds_1_count"] or 0) for row in samples) <= rounds[-1]


def test_the_radio_carried_what_the_receiver_captured(run: Path) -> None:
    flow = json.loads((run / "run.json").read_text())["flows"][0]
    packets = size = 0
    with (run / "raw/receiver.pcap").open("rb") as file:
        for _, packet in dpkt.pcap.Reader(file):
            if packet[0] >> 4 != 4:  # IPv6 solicits routers.
                continue
            ip = dpkt.ip.IP(packet)
            if socket.inet_ntoa(ip.dst) == flow["receiver"]["address"]:
                packets, size = packets + 1, size + ip.len
    carried = sum(float(row["mac_dl_lcid_4_bytes"] or 0) for row in rows(run, "mac.csv"))
    assert carried == pytest.approx(size + packets * _HEADERS_BYTES, rel=0.005)


def test_every_log_of_the_modems_has_its_table(run: Path) -> None:
    for table in (
        "oai_l1.csv",
        "oai_rrc.csv",
        "oai_ue.csv",
        "oai_o1.csv",
        "sockets.csv",
        "flows.csv",
    ):
        assert rows(run, table), table
