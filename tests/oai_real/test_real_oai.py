# SPDX-License-Identifier: Apache-2.0
"""Runs in wall time over the real OpenAirInterface, with images of the user; see docs/oai.md.

Nothing is asserted about the speed of this machine: what is compared are counters of independent
programs, and states.
"""

from __future__ import annotations

import csv
import os
import re
import signal
from pathlib import Path

import pytest

from ddu.api import analyze
from testsupport.oai import real_runs
from testsupport.oai.captures import captured_bytes, captured_lengths
from testsupport.oai.real_runs import (
    PATIENCE_S,
    arguments,
    ccu,
    kill_container,
    left,
    service_of,
    started,
)
from testsupport.runs import json_of
from testsupport.waiting import until

WALL_TIME = ("--no-lockstep",)


def performed(output: Path, version: str, core: str, *more: str) -> Path:
    """Perform a run; return its directory."""
    words = (*WALL_TIME, "--cc", "cubic", *arguments(version, core, *more))
    return real_runs.performed(output, *words)


@pytest.mark.parametrize("prb", ["24", "106"])
@pytest.mark.parametrize("direction", ["dl", "ul"])
def test_a_run_is_counted_alike_by_mac_and_captures(
    oai_version: str, core: str, prb: str, direction: str, tmp_path: Path
) -> None:
    more = ("--prb", prb, f"--{direction}", "--duration", "20s", "--scenario", "static")
    run = performed(tmp_path, oai_version, core, *more)
    said = json_of(run / "run.json")
    assert said["status"] == "finished"
    # A run may be degraded, but by the machine's speed only.
    slow = re.compile(r"rfsim ran at|followed its scenario late")
    assert [one for one in said["verdict_reasons"] if not slow.search(one)] == []
    analyze(run, report=False)
    (flow,) = said["flows"]
    lengths = captured_lengths(run / "raw/receiver.pcap", flow["receiver"]["address"])
    arrived = sum(lengths)
    with (run / "tables/mac.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    counted = sum(float(row[f"mac_{direction}_bytes"] or 0) for row in rows)
    assert arrived > 1e5
    # Headers of MAC, RLC, PDCP and SDAP, padding, and data that the capture saw before or after.
    assert 1.0 <= counted / arrived < 1.1
    if core == "none":
        return
    # The bearer's counter is of RLC PDUs: SDAP and PDCP have 1 and 3 bytes for each packet, RLC
    # in acknowledged mode 5 for each segment of one, and nearly every block has one segment.
    log = (run / "raw/oai/nrMAC_stats.log").read_text()
    counters = re.findall(r"LCID 4: TX +(\d+) RX +(\d+)", log)
    blocks = re.findall(rf"{direction}sch_rounds (\d+)/", log)
    on_bearer = int(counters[-1][direction == "ul"])
    expected = arrived + 4 * len(lengths) + 5 * int(blocks[-1])
    assert on_bearer == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("prb", ["24", "106"])
def test_the_testbed_comes_and_goes(oai_version: str, core: str, prb: str) -> None:
    chosen = arguments(oai_version, core, "--prb", prb)
    for _ in range(int(os.environ.get("OAI_ROUNDS", "2"))):
        up = ccu("testbed", "up", "rfsim", *chosen)
        assert up.returncode == 0, up.stdout + up.stderr
        assert "oaitun_ue1" in ccu("testbed", "status").stdout
        down = ccu("testbed", "down")
        assert down.returncode == 0, down.stdout + down.stderr
        assert left() == []


def test_each_of_two_ues_has_its_own_address_and_counters(
    oai_version: str, core: str, tmp_path: Path
) -> None:
    if core == "none":
        pytest.skip("without a core the gNB has one UE")
    more = ("--ues", "2", "--prb", "24", "--duration", "10s", "--scenario", "static")
    run = performed(tmp_path, oai_version, core, *more)
    first, second = json_of(run / "run.json")["flows"]
    assert first["receiver"]["address"] != second["receiver"]["address"]
    analyze(run, report=False)
    with (run / "tables/mac.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for flow, capture in ((first, "receiver"), (second, "receiver-ue2")):
        arrived = captured_bytes(run / f"raw/{capture}.pcap", flow["receiver"]["address"])
        own = [row for row in rows if row["ue"] == str(flow["ue"])]
        counted = sum(float(row["mac_dl_bytes"] or 0) for row in own)
        assert arrived > 1e5
        assert 1.0 <= counted / arrived < 1.1


def test_the_channel_follows_its_scenario(oai_version: str, core: str, tmp_path: Path) -> None:
    more = ("--prb", "24", "--duration", "20s", "--scenario", "rome-moderate")
    run = performed(tmp_path, oai_version, core, *more)
    for direction in ("dl", "ul"):
        with (run / f"raw/oai/channel-{direction}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len({row["noise_db"] for row in rows}) > 3


def test_a_killed_run_is_cleaned(oai_version: str, core: str, tmp_path: Path) -> None:
    process = started(tmp_path, *WALL_TIME, *arguments(oai_version, core))
    until(lambda: list(tmp_path.glob("*/raw/iperf3-f0-client.json")), process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    assert left()
    assert ccu("clean").returncode == 0
    assert left() == []


@pytest.mark.parametrize("killed", ["gnb", "ue1", "amf"])
def test_a_modem_or_amf_that_dies_fails_the_run(
    oai_version: str, core: str, killed: str, tmp_path: Path
) -> None:
    if core == "none" and killed == "amf":
        pytest.skip("without a core there is no AMF")
    process = started(tmp_path, *WALL_TIME, *arguments(oai_version, core))
    until(lambda: list(tmp_path.glob("*/raw/iperf3-f0-client.json")), process)
    service = service_of(killed, core)
    kill_container(service)
    printed, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, printed
    assert re.search(rf"oai-{service} (ended|killed)|channel control", printed)
    assert left() == []
