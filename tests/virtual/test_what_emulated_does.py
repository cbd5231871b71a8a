# SPDX-License-Identifier: Apache-2.0
"""Virtual time runs what the emulated testbed runs: every scenario, each option of `ccu run`."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from testsupport.virtual_time import CARRIER, RADIO, VirtualRun, constant

Virtual = Callable[..., VirtualRun]

SCENARIOS = sorted((Path(__file__).resolve().parents[2] / "rf-scenarios").glob("*.yaml"))
WAYS = ("dl", "ul")
MMWAVE = {**CARRIER, "carrier_ghz": 28, "numerology": 3, "prb": 32}
UDP = {"transport": "udp", "duration_s": 2, "rate_bps": 100e3, "length_bytes": 500}


def each_way(flow: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**flow, "direction": way} for way in WAYS]


def tcp(seconds: float = 2, **more: Any) -> dict[str, Any]:
    return {"cc": "cubic", "direction": "dl", "duration_s": seconds, **more}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_a_scenario_of_the_library_carries_both_transports_both_ways(
    virtual: Virtual, scenario: Path
) -> None:
    plan = {"flows": [*each_way(tcp()), *each_way(UDP)]}
    content = yaml.safe_load(scenario.read_text())
    range_ghz = content.get("radio", {}).get("carrier_ghz", {"min": 0})
    carrier = MMWAVE if range_ghz["min"] >= 24 else CARRIER
    run = virtual(plan, scenario=content, radio=carrier)
    for number in range(4):
        flow = run.flow(number)
        assert 0 < flow["received_bytes"] <= flow["sent_bytes"]
    last = run.mac()[-1]
    for number, way in enumerate(WAYS):
        payload = run.flow(number)["received_bytes"] + run.flow(2 + number)["received_bytes"]
        assert int(last[f"mac_{way}_sdu_bytes"]) >= payload


@pytest.mark.parametrize("ecn", [False, True])
@pytest.mark.parametrize("aqm", ["codel", "pie", "dualpi2"])
def test_queue_management_keeps_the_queue_short(virtual: Virtual, aqm: str, ecn: bool) -> None:
    queues = {
        "long": {way: {"packets": 2000} for way in WAYS},
        "short": {way: {"packets": 2000, "aqm": {aqm: {"ecn": ecn}}} for way in WAYS},
    }
    plan = {"flows": [tcp(6)], "sysctls": {"net.ipv4.tcp_ecn": str(int(ecn))}}
    runs = {name: virtual(plan, name=name, queue=queue) for name, queue in queues.items()}
    last = {name: run.mac()[-1] for name, run in runs.items()}
    acted = "mac_dl_queue_mark_count" if ecn else "mac_dl_queue_drop_count"
    assert int(last["short"][acted]) > 0
    rtt_us = {}
    for name, run in runs.items():
        (flow,) = json.loads((run.folder / "flows.json").read_text())["flows"]
        rtt_us[name] = flow["sender"][-1]["tcp"]["rtt_us"]
    assert rtt_us["short"] < rtt_us["long"] / 2


@pytest.mark.parametrize("key", ["loss_ratio", "bit_error_ratio"])
def test_the_path_damages_packets(virtual: Virtual, key: str) -> None:
    value = {"loss_ratio": 0.02, "bit_error_ratio": 2e-6}[key]
    path = {way: {"delay_ms": 5, key: value} for way in WAYS}
    udp = {**UDP, "direction": "dl", "rate_bps": 5e6, "duration_s": 10, "length_bytes": 1250}
    flow = virtual({"flows": [udp]}, path=path).flow()
    lost = 1 - flow["received_datagrams"] / flow["sent_datagrams"]
    expected = {"loss_ratio": 0.02, "bit_error_ratio": 1 - (1 - 2e-6) ** (8 * 1278)}[key]
    sigma = (expected / flow["sent_datagrams"]) ** 0.5
    assert lost == pytest.approx(expected, abs=4 * sigma)


def test_a_line_of_the_path_with_cross_traffic_leaves_the_rest(virtual: Virtual) -> None:
    line = {"delay_ms": 5, "rate_mbps": 8, "queue": {"packets": 100}}
    free = dict.fromkeys(WAYS, line)
    busy = {**line, "cross_traffic": {"rate_mbps": 4}}
    rates = []
    for name, path in (("free", free), ("busy", {**free, "dl": busy})):
        flow = virtual({"flows": [tcp(5)]}, name=name, path=path).flow()
        rates.append(flow["received_bytes"] * 8e-6 / flow["receiving_s"])
    assert 6.5 < rates[0] <= 8
    assert rates[1] < 0.75 * rates[0]


@pytest.mark.parametrize("mss_bytes", [536, 1460, 8960, 14000])
def test_segments_have_the_size_that_the_path_allows(virtual: Virtual, mss_bytes: int) -> None:
    run = virtual(
        {"flows": each_way(tcp(3))},
        mtu_bytes=mss_bytes + 40,
        scenario=constant(100, 100),
        queue={way: {"bytes": 500_000} for way in WAYS},
    )
    for number, way in enumerate(WAYS):
        report = json.loads((run.folder / "flows.json").read_text())["flows"][number]
        assert report["segment_bytes"] == mss_bytes - 12  # timestamps
        flow = run.flow(number)
        assert flow["received_bytes"] * 8e-6 / flow["receiving_s"] > 70, way


def test_ipv6(virtual: Virtual) -> None:
    plan = {"flows": [*each_way(tcp()), {**UDP, "direction": "dl"}], "server_address": "fd00::1"}
    devices = {"core": {"name": "n6"}, "ue": [{"name": "ue1", "addresses": ["fd00::2"]}]}
    run = virtual(plan, devices=devices)
    for number in range(3):
        assert run.flow(number)["received_bytes"] > 10_000


def test_sockets_every_millisecond_and_the_mac_in_each_slot(virtual: Virtual) -> None:
    sockets = {"interval_ms": 1, "files": {"server": "sockets-server.pcap"}}
    run = virtual(
        {"flows": [tcp()], "sockets": sockets},
        scenario=RADIO,
        radio=CARRIER,
        samples={"interval_ms": 0.5},
    )
    times = [int(row["utc_ns"]) for row in run.mac()]
    steps = {later - earlier for earlier, later in pairwise(times)}
    assert steps == {500_000}
    samples = (run.folder / "sockets-server.pcap").read_bytes().count(b"\x03\x00\x02\x00")
    assert samples >= 2000  # NLMSG_DONE, multipart, at each millisecond of the flow
