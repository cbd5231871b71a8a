# SPDX-License-Identifier: Apache-2.0
"""Sender programs in real time, on hosts that are addresses of this machine, and their captures."""

from __future__ import annotations

import time
from pathlib import Path

import dpkt
import pytest

from ccu import traffic
from ccu.host import resources
from ccu.host.supervisor import Supervisor
from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Experiment
from ccu.testbeds import Site
from ccu.traffic.program.driver import PROGRAM, arrived

IPV4 = b"\x08\x00"
"""Its number in the header before it."""
EXAMPLE = Path(__file__).parents[2] / "examples/udp_aimd.py"


class Loopback:
    """The part of a testbed that the traffic asks for."""

    hosts = {"server": {"address": "127.0.0.2"}, "ue": {"address": "127.0.0.3"}}  # noqa: RUF012

    def ue_host(self, _ue: int) -> str:
        return "ue"

    def command(self, _host: str, arguments: list[str]) -> list[str]:
        return arguments


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(resources, "FOLDER", tmp_path / "records")
    plans = [{"cc": f"program:{EXAMPLE}"}]
    experiment = Experiment.model_validate({"flows": plans, "duration_s": 1})
    raw = tmp_path / "raw"
    (raw / "logs").mkdir(parents=True)
    owned = resources.begin_record("abc123")
    return Site(experiment, raw, raw, Supervisor(owned, raw / "logs"), owned)


def test_both_ends_run_for_the_flows_time(site: Site) -> None:
    (flow,) = traffic.plan(site.experiment)
    testbed = Loopback()
    PROGRAM.listen(site, testbed, [flow])
    PROGRAM.connect(site, testbed, flow)
    assert flow.client
    assert flow.receiver
    assert not flow.receiver.ended
    limit_s = time.monotonic() + 300
    while not PROGRAM.finished(flow) and time.monotonic() < limit_s:
        site.supervisor.check()
        time.sleep(0.05)
    assert [one.popen.returncode for one in (flow.client, flow.receiver)] == [0, 0]
    logs = [(site.raw / f"logs/program-f0-{end}.log").read_text() for end in ("sender", "receiver")]
    assert logs == ["", ""]


def packet(source: int, port: int, payload: int, address: str = "10.45.0.2") -> dpkt.ip.IP:
    udp = dpkt.udp.UDP(sport=source, dport=port, data=bytes(payload))
    udp.ulen = len(udp)
    to = bytes(map(int, address.split(".")))
    ip = dpkt.ip.IP(src=bytes([10, 45, 0, 1]), dst=to, p=dpkt.ip.IP_PROTO_UDP, data=udp)
    ip.len = len(ip)
    return ip


@pytest.mark.parametrize(
    ("link_type", "header"),
    [
        (1, bytes(12) + IPV4),
        (12, b""),
        (101, b""),
        (113, bytes(14) + IPV4),
        (276, IPV4 + bytes(18)),
    ],
)
@pytest.mark.parametrize("nano", [True, False])
def test_what_arrived_is_counted_by_the_port_it_came_from(
    tmp_path: Path, link_type: int, header: bytes, nano: bool
) -> None:
    file = tmp_path / "receiver.pcap"
    packets = [
        packet(4000, 5201, 1200),
        packet(4000, 5201, 100),
        packet(4001, 5201, 7),
        packet(4000, 5202, 50),
        packet(4000, 5201, 50, address="10.45.0.3"),
    ]
    with file.open("wb") as output:
        writer = dpkt.pcap.Writer(output, linktype=link_type, nano=nano)
        for at_s, one in enumerate(packets, 10):
            writer.writepkt(header + bytes(one)[:100], at_s)  # as a capture cuts it
    by_port = arrived(file, "10.45.0.2", 5201)
    assert {port: one.payload_bytes for port, one in by_port.items()} == {4000: 1300, 4001: 7}
    assert {port: one.lasted_s for port, one in by_port.items()} == {4000: 1, 4001: 0}


@pytest.mark.parametrize(("last_s", "counted_s"), [(1, 1), (3, 3), (0, 1)])
def test_payload_after_the_flows_time_counts_with_the_time_that_it_took(
    site: Site, last_s: int, counted_s: float
) -> None:
    """A program that ignores SIGTERM sends for 2 s more, all of which counted as if in 1 s."""
    (flow,) = traffic.plan(site.experiment)
    flow.capture = site.raw / "receiver.pcap"
    with flow.capture.open("wb") as output:
        writer = dpkt.pcap.Writer(output, linktype=101)
        for at_s in (0, last_s):
            writer.writepkt(bytes(packet(4000, 5201, 1000, address="127.0.0.3")), 1000 + at_s)
    PROGRAM.read_result(flow, Loopback(), site.raw)
    assert (flow.counted_bytes, flow.counted_s) == (2000, counted_s)


def test_a_capture_without_it_names_the_program(site: Site) -> None:
    (flow,) = traffic.plan(site.experiment)
    flow.capture = site.raw / "receiver.pcap"
    with flow.capture.open("wb") as output:
        dpkt.pcap.Writer(output, linktype=101, nano=True)
    with pytest.raises(RunFailed, match=r"sent nothing to 127\.0\.0\.3"):
        PROGRAM.read_result(flow, Loopback(), site.raw)
