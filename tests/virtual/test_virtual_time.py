# SPDX-License-Identifier: Apache-2.0
"""The promises of runs in virtual time: the same bytes each time, and Linux's TCP over the link."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scapy.layers.inet import IP, TCP
from scapy.utils import RawPcapReader

from testsupport.virtual_time import (
    CARRIER,
    PROGRAM,
    RADIO,
    VirtualRun,
    become,
    constant,
    give,
    prepare,
)

Virtual = Callable[..., VirtualRun]

CAPTURE = {"files": {"server": "sender.pcap", "ue": "receiver.pcap"}}
SOCKETS = {"interval_ms": 1, "files": {"server": "sockets-server.pcap"}}
OBSERVED = {"capture": CAPTURE, "sockets": SOCKETS, "cc_traces": {"reminis": "cc-reminis.csv"}}
WITHOUT_CACHE = 'mount --bind /dev/null /etc/ld.so.cache && exec "$@"'
# Ethernet's share does not count: the model's capacity is of IP packets.
PAYLOAD_OF_1500 = 1448 / 1500


def tcp(
    cc: str = "cubic", direction: str = "dl", seconds: float = 3, **more: Any
) -> dict[str, Any]:
    return {"cc": cc, "direction": direction, "duration_s": seconds, **more}


def mbps(flow: dict[str, Any]) -> float:
    return float(flow["received_bytes"]) * 8e-6 / float(flow["receiving_s"])


def test_the_same_run_in_another_folder_gives_the_same_bytes(virtual: Virtual) -> None:
    plan = {"flows": [tcp("reminis"), tcp("cubic", start_s=0.5)], **OBSERVED}
    first = virtual(plan, name="first", scenario=RADIO, radio=CARRIER)
    second = virtual(plan, name="a/folder/with/a/longer/name", scenario=RADIO, radio=CARRIER)
    assert first.account["flows"] == second.account["flows"]
    captures = {"sender.pcap", "receiver.pcap", "sockets-server.pcap"}
    assert first.digests().keys() == {*captures, "mac.csv", "cc-reminis.csv", "flows.json"}
    assert first.digests() == second.digests()


def test_when_files_were_read_changes_no_packet(virtual: Virtual) -> None:
    """An access time that is older than the change would be written, some virtual seconds later."""
    plan = {"flows": [tcp("reminis", seconds=20)], "capture": CAPTURE}
    guest = PROGRAM.with_name("nr-link-guest")
    digests = []
    for name in ("first", "changed", "read"):
        if name == "changed":
            guest.touch()
        digests.append(virtual(plan, name=name, scenario=RADIO, radio=CARRIER).digests())
    assert digests[0] == digests[1] == digests[2]


def test_how_the_host_finds_libraries_changes_no_packet(virtual: Virtual) -> None:
    """Without the loader's cache programs search folders, and read the clock at other times."""
    search = ("unshare", "--map-root-user", "--mount", "sh", "-c", WITHOUT_CACHE, "sh")
    if subprocess.run([*search, "true"], capture_output=True).returncode != 0:
        pytest.skip("needs a user namespace of its own, to hide /etc/ld.so.cache")
    plan = {"flows": [tcp("reminis"), tcp("cubic", start_s=0.5)], **OBSERVED}
    usual = virtual(plan, name="usual", scenario=RADIO, radio=CARRIER)
    searched = virtual(plan, name="searched", before=search, scenario=RADIO, radio=CARRIER)
    assert usual.digests() == searched.digests()


def test_another_seed_gives_other_bytes(virtual: Virtual) -> None:
    plan = {"flows": [tcp()], "capture": CAPTURE}
    first, second = (virtual({**plan, "seed": seed}, name=f"{seed}") for seed in (1, 2))
    assert first.digests()["sender.pcap"] != second.digests()["sender.pcap"]


def test_nobody_without_any_right_gets_the_same_bytes(virtual: Virtual, tmp_path: Path) -> None:
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv, to become nobody")
    plan = {"flows": [tcp()], **OBSERVED}
    own = virtual(plan, name="own")
    folder = tmp_path / "nobody"
    prepare(folder, plan)
    give(folder, 65534)
    drop = [*become(65534), "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    if subprocess.run([*drop, "test", "-x", str(PROGRAM)]).returncode != 0:
        pytest.skip("nobody cannot read this source tree")
    theirs = virtual(plan, name="nobody", before=tuple(drop))
    assert theirs.account["flows"] == own.account["flows"]
    assert theirs.digests() == own.digests()


@pytest.mark.parametrize("cc", ["cubic", "bbr", "reminis"])
def test_observers_change_no_packet(virtual: Virtual, cc: str) -> None:
    flows = {"flows": [tcp(cc), tcp("cubic", direction="ul")]}
    unseen = virtual(flows, name="unseen", scenario=RADIO, radio=CARRIER)
    seen = virtual({**flows, **OBSERVED}, name="seen", scenario=RADIO, radio=CARRIER)
    captured = virtual({**flows, "capture": CAPTURE}, name="c", scenario=RADIO, radio=CARRIER)
    assert unseen.account["flows"] == seen.account["flows"]
    assert unseen.digests()["mac.csv"] == seen.digests()["mac.csv"]
    for file in ("sender.pcap", "receiver.pcap"):
        assert captured.digests()[file] == seen.digests()[file]


def test_captures_that_are_not_whole_have_the_headers_of_tcp(virtual: Virtual) -> None:
    udp = {"transport": "udp", "direction": "dl", "duration_s": 0.3, "rate_bps": 5e6}
    flows = {"flows": [tcp(seconds=0.3), udp]}
    whole = virtual({**flows, "capture": {**CAPTURE, "bytes": 1500}}, name="whole")
    short = virtual({**flows, "capture": {**CAPTURE, "bytes": 100}}, name="short")
    for file in CAPTURE["files"].values():
        records = [list(RawPcapReader(str(run.folder / file))) for run in (whole, short)]
        transports = set()
        for (packet, _), (kept, about) in zip(*records, strict=True):
            header = IP(packet)
            transports.add(header.proto)
            of_tcp = 4 * (header.ihl + header[TCP].dataofs) if TCP in header else 100
            assert (kept, about.wirelen) == (packet[:of_tcp], len(packet))
        assert transports == {6, 17}


@pytest.mark.parametrize("direction", ["dl", "ul"])
@pytest.mark.parametrize("cc", ["cubic", "reno", "bbr", "vegas", "reminis"])
def test_a_flow_fills_the_link_and_no_more(virtual: Virtual, cc: str, direction: str) -> None:
    capacity_mbps = 20 * PAYLOAD_OF_1500
    run = virtual({"flows": [tcp(cc, direction, 10)]}, scenario=constant(20, 20))
    flow = run.flow()
    assert flow["cc_read_back"] == cc
    assert 0.85 * capacity_mbps < mbps(flow) <= capacity_mbps


def test_every_congestion_control_of_linux_is_there(virtual: Virtual) -> None:
    names = "reno cubic bbr bic cdg dctcp highspeed htcp hybla illinois lp nv scalable vegas veno"
    names += " westwood yeah reminis"
    flows = [tcp(cc, seconds=0.5, start_s=number) for number, cc in enumerate(names.split())]
    account = virtual({"flows": flows, "sysctls": {"net.ipv4.tcp_ecn": "1"}}).account
    assert [flow["cc_read_back"] for flow in account["flows"]] == names.split()


def test_a_volume_arrives_whole(virtual: Virtual) -> None:
    run = virtual({"flows": [tcp(seconds=1, volume_bytes=5_000_000)]})
    assert run.flow()["received_bytes"] == 5_000_000


def test_every_datagram_arrived_or_was_dropped(virtual: Virtual) -> None:
    udp = {"transport": "udp", "direction": "dl", "duration_s": 3, "rate_bps": 30e6}
    run = virtual({"flows": [udp]}, scenario=constant(20, 10))
    flow, last = run.flow(), run.mac()[-1]
    dropped = int(last["mac_dl_queue_drop_count"])
    assert flow["sent_datagrams"] == pytest.approx(3 * 30e6 / 8 / 1472, abs=2)
    assert dropped > 0
    assert flow["sent_datagrams"] == flow["received_datagrams"] + dropped
    assert int(last["mac_dl_sdu_count"]) == flow["received_datagrams"]


def test_datagrams_that_a_deep_queue_holds_for_minutes_do_not_keep_the_run(
    virtual: Virtual,
) -> None:
    udp = {"transport": "udp", "direction": "dl", "duration_s": 2, "rate_bps": 3e6}
    queue = {way: {"packets": 1000} for way in ("dl", "ul")}
    run = virtual({"flows": [udp]}, scenario=constant(0.05, 10), queue=queue)
    flow = run.flow()
    (report,) = json.loads((run.folder / "flows.json").read_text())["flows"]
    # 12 s at 50 kbit/s, of 120 s that the queue would take.
    assert 0 < flow["received_bytes"] <= 12 * 0.05e6 / 8
    assert report["datagrams"]["lost"] == flow["sent_datagrams"] - flow["received_datagrams"]


def test_ues_share_the_cell(virtual: Virtual) -> None:
    files = {"server": "sender.pcap", "ue": "receiver.pcap", "ue3": "receiver-ue3.pcap"}
    flows = [tcp(ue=ue, seconds=5) for ue in (1, 2, 3)]
    run = virtual(
        {"flows": flows, "capture": {"files": files}}, ues=3, scenario=RADIO, radio=CARRIER
    )
    rates = [mbps(run.flow(number)) for number in range(3)]
    assert min(rates) > 0.8 * max(rates)
    for name in files.values():
        assert (run.folder / name).stat().st_size > 10_000


def test_sixty_four_ues(virtual: Virtual) -> None:
    udp = {"transport": "udp", "direction": "dl", "duration_s": 1, "rate_bps": 100e3}
    flows = [{**udp, "ue": ue, "length_bytes": 500} for ue in range(1, 65)]
    run = virtual({"flows": flows}, ues=64, scenario=RADIO, radio=CARRIER)
    for number in range(64):
        flow = run.flow(number)
        assert flow["received_datagrams"] == flow["sent_datagrams"] > 20


def test_ecn_marks_reach_the_sender(virtual: Virtual) -> None:
    queue = {way: {"packets": 300, "aqm": {"codel": {"ecn": True}}} for way in ("dl", "ul")}
    plan = {"flows": [tcp(seconds=5)], "sysctls": {"net.ipv4.tcp_ecn": "1"}}
    run = virtual(plan, queue=queue)
    assert int(run.mac()[-1]["mac_dl_queue_mark_count"]) > 0
    assert run.flow()["retransmissions"] == 0


def test_a_program_of_the_user_talks_over_the_link(virtual: Virtual) -> None:
    if not shutil.which("iperf3"):
        pytest.skip("needs iperf3")
    server = {"host": "ue", "command": ["iperf3", "-s", "-1"]}
    client = {"host": "server", "start_s": 0.2, "output": "client.json"}
    client["command"] = ["iperf3", "-c", "10.45.0.2", "-n", "1M", "-J"]
    run = virtual({"programs": [server, client]})
    assert [program["code"] for program in run.account["programs"]] == [0, 0]
    assert '"bytes":\t1048576' in (run.folder / "client.json").read_text()


def test_a_program_that_never_rests_is_stopped(virtual: Virtual) -> None:
    loop = {"host": "ue", "command": ["sh", "-c", "while :; do :; done"]}
    run = virtual({"programs": [loop], "cpu_limit_s": 1})
    assert run.result.returncode == 1
    assert "more than 1 s of CPU" in run.result.stderr


def test_a_program_that_never_ends_is_stopped(virtual: Virtual) -> None:
    run = virtual({"programs": [{"host": "ue", "command": ["sleep", "1000"]}], "limit_s": 5})
    assert run.result.returncode == 1
    assert "these still run: program p0" in run.result.stderr
    unfinished = {"limit_s": 5.0, "flows": [], "programs": ["p0"]}
    assert json.loads(run.result.stdout)["unfinished"] == unfinished
    assert json.loads((run.folder / "virtual.json").read_text())["unfinished"] == unfinished


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({}, "flows: there is neither a flow nor a program"),
        ({"flows": [tcp(ue=2)]}, "flows[0].ue: 2 is not between 1 and 1"),
        ({"flows": [tcp(rate_bps=1e6)]}, "rate_bps: belongs to the other transport"),
        ({"flows": [{"direction": "dl", "duration_s": 1}]}, "cc: is missing"),
        ({"flows": [tcp()], "link": "nowhere.yaml"}, "nowhere.yaml"),
        ({"flows": [tcp()], "colour": "red"}, "colour"),
        ({"flows": [tcp()], "capture": {"files": {"gnb": "x"}}}, "Choose one of: server, ue"),
        ({"flows": [tcp()], "memory_mb": 1}, "memory_mb: 1 is not between"),
    ],
)
def test_bad_input_is_refused(virtual: Virtual, plan: dict[str, Any], said: str) -> None:
    run = virtual(plan)
    assert run.result.returncode == 2
    assert said in run.result.stderr
    assert not (run.folder / "mac.csv").exists()


def test_an_unknown_congestion_control_is_named_with_those_that_are_there(virtual: Virtual) -> None:
    run = virtual({"flows": [tcp("cubik")]})
    assert run.result.returncode == 1
    assert "congestion control cubik: the kernel does not have it" in run.result.stderr
    assert "reminis" in run.result.stderr


def test_without_a_kernel_it_says_how_to_build_one(tmp_path: Path) -> None:
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is not built (make build)")
    plan = prepare(tmp_path, {"flows": [tcp()]})
    nowhere = {**os.environ, "CCU_KERNEL": str(tmp_path / "nowhere")}
    said = subprocess.run(
        [PROGRAM, "virtual", "run", plan], capture_output=True, text=True, env=nowhere
    )
    assert said.returncode == 1
    assert "setup/virtual-kernel" in said.stderr
