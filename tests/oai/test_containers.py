# SPDX-License-Identifier: Apache-2.0
"""Runs with `--testbed rfsim` over stand-ins, in Docker and LXC, with and without faults."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dpkt
import pandas as pd
import pytest

from ccu.testbeds.oai import oci_images, real_time
from testsupport.oai.captures import captured_bytes
from testsupport.oai.containers import ANY_ROLE, DockerApi, variables
from testsupport.oai.radio import Pids, Radio
from testsupport.oai.stand_in_runs import Ccu, Ran, analysed, received_bytes, remaining_resources
from testsupport.waiting import until

# Two containers in place of eight, for what happens between gNB and UE.
WITHOUT_CORE = ("--core", "none")
# A stand-in that never attaches needs a shorter timeout than a real UE.
# For UEs that never attach; enough for containers to start on a busy machine.
HASTY = "import ccu.testbeds.oai.stack as s; s._ATTACH_PATIENCE_S = 12"
NEVER_ATTACH = ("never-attaches", "no-address")
# As on a machine whose kernel gives containers real-time priority.
REAL_TIME = "import ccu.testbeds.oai.real_time as r; r.available = lambda: True"


@pytest.fixture(scope="module")
def docker_ccu(daemon: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ccu]:
    api = DockerApi(daemon.file)
    pids = Pids(api.services, api.pid)
    radio = Radio(pids, tmp_path_factory.mktemp("radio"))
    radio.start()
    yield Ccu(variables(daemon), tmp_path_factory.mktemp("runs"), daemon)
    radio.finish()


def check_records(raw: Path, amf: str) -> None:
    """Check that the logs are kept unchanged, and contain the traffic's counters."""
    assert "Frame.Slot" in (raw / "oai/gnb-stdout.log").read_text()
    assert "Initial sync successful" in (raw / "oai/ue1-stdout.log").read_text()
    assert (raw / "oai/nrMAC_stats.log").read_text().startswith("### ")
    assert (raw / "scenario.yaml").exists()
    assert "amf listens" in (raw / f"oai/{amf}-stdout.log").read_text()
    lines = (raw / "oai/o1-stats.jsonl").read_text().splitlines()
    assert len(lines) >= 3
    assert json.loads(lines[-1])["answer"]["O1-Operational"]["num-ues"] == 2
    for direction in ("dl", "ul"):
        with (raw / f"oai/channel-{direction}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert {row["ue"] for row in rows} == {"0", "1"}
        assert len(rows) > 20


def check_two_ues(ran: Ran, amf: str = "amf") -> None:
    """Check that each UE has an address, a flow, captures and MAC rows of its own."""
    run = analysed(ran)
    check_records(run / "raw", amf)
    flows = ran.manifest["flows"]
    assert [(flow["ue"], flow["receiver"]["host"]) for flow in flows] == [(0, "ue"), (1, "ue2")]
    assert [flow["receiver"]["address"] for flow in flows] == ["12.1.1.2", "12.1.1.3"]
    assert [flow["cc_read_back"] for flow in flows] == ["cubic", "reno"]
    assert {ran.manifest["hosts"][host]["interface"] for host in ("ue", "ue2")} == {"oaitun_ue1"}
    assert {one["host"]: one["file"] for one in ran.manifest["captures"]} == {
        "server": "raw/sender.pcap",
        "ue": "raw/receiver.pcap",
        "ue2": "raw/receiver-ue2.pcap",
    }
    table = pd.read_parquet(run / "tables" / "aligned.parquet")
    with (run / "tables" / "mac.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    counted = counters(run / "raw/oai/nrMAC_stats.log")
    for flow, rnti, capture in zip(flows, RNTIS, ("receiver", "receiver-ue2"), strict=True):
        # The stand-in's RNTI identifies the UE of a row, its own counter the bytes: neither depends
        # on the machine's load, nor on data that iperf3 left unread at its end.
        own = [row for row in rows if int(row["ue"]) == flow["ue"]]
        assert {int(row["mac_rnti"]) for row in own} == {rnti}
        carried = sum(int(float(row["mac_dl_bytes"] or 0)) for row in own)
        assert carried == counted[rnti][-1] - counted[rnti][0]
        arrived = captured_bytes(
            run / f"raw/{capture}.pcap", flow["receiver"]["address"], dpkt.ip.IP_PROTO_TCP
        )
        received = received_bytes(run, flow["id"])
        assert received > 0
        # The last reading may be older than the last packets.
        assert carried > 0.8 * max(arrived, received)
        beside = table[table["flow"] == flow["id"]]
        assert set(beside["mac_rnti"].dropna()) == {rnti}
        assert 0 < beside["mac_dl_bytes"].sum() <= 1.001 * carried


RNTIS = (0x4CBA, 0x4CBB)
"""The RNTIs of the stand-ins' UEs, in the order in which they attach (stand_in/gnb.py)."""


def counters(log: Path) -> dict[int, list[int]]:
    """Return by RNTI the bytes sent by the MAC in each reading of the gNB's file."""
    sent_bytes: dict[int, list[int]] = {}
    for rnti, sent in re.findall(r"UE (\w{4}): MAC: +TX +(\d+)", log.read_text()):
        sent_bytes.setdefault(int(rnti, 16), []).append(int(sent))
    return sent_bytes


TWO_UES = ("--ues", "2", "--duration", "4s")


def test_two_ues_in_docker(docker_ccu: Ccu) -> None:
    ran = docker_ccu.run(*TWO_UES, "--capture-n3", flows="cubic@0,reno@2")
    check_two_ues(ran)
    assert ran.directory is not None
    words = ["tcpdump", "-n", "-r", str(ran.directory / "raw/n3.pcap")]
    printed = subprocess.run(words, capture_output=True, text=True).stdout
    assert printed.count("192.168.71.140.2152 > 192.168.71.134.2152") >= 4
    assert remaining_resources(docker_ccu) == []


def test_the_first_generation_and_a_second_try(daemon: Any, docker_ccu: Ccu) -> None:
    variables = {"FAULT": "old-format", "ERA": "2023", "ABORTS_ONCE": "yes"}
    daemon.faulty("2023.w16", REAL_TIME="granted", **variables)
    ran = docker_ccu.run("--oai-version", "2023.w16", "--ul", changed=REAL_TIME)
    run = analysed(ran)
    (flow,) = ran.manifest["flows"]
    assert (flow["sender"]["host"], flow["sender"]["address"]) == ("ue", "12.1.1.2")
    assert received_bytes(run, "f0") > 1e5
    assert "dlsch_total_bytes" in (run / "raw/oai/nrMAC_stats.log").read_text()
    # The log of the container has both of its starts.
    printed = (run / "raw/oai/ue0-stdout.log").read_text()
    assert printed.count("STAND-IN for ue") == 2
    assert remaining_resources(docker_ccu) == []


@pytest.mark.parametrize(
    ("fault", "core", "words"),
    [
        ("dies", "none", ("oai-gnb ended", "the gNB dies")),
        ("loses-sync", "none", ("oai-ue1 ended", "the UE loses its cell")),
        ("telnet-refuses", "none", ("channel control", "telnet server 192.168.71.140:9090")),
        ("never-attaches", "none", ("UE 1 did not attach", "synch Failed")),
        (
            "no-address",
            "oai",
            ("UE 1 did not attach", "Establishment reject", "that its pool is not exhausted"),
        ),
    ],
)
def test_a_fault_is_reported_with_the_last_lines_of_its_log(
    daemon: Any, docker_ccu: Ccu, fault: str, core: str, words: tuple[str, ...]
) -> None:
    tag = daemon.faulty(f"fault-{fault}", FAULT=fault)
    words_of_run = ("--oai-version", tag, "--core", core, "--duration", "10s")
    ran = docker_ccu.run(*words_of_run, changed=HASTY if fault in NEVER_ATTACH else "")
    assert ran.code == 1, ran.printed
    assert ran.manifest["status"] == "failed"
    for word in words:
        assert word in ran.printed
    assert remaining_resources(docker_ccu) == []


@pytest.mark.parametrize(
    ("fault", "core", "cause", "printed"),
    [
        ("spoilt-once", "oai", "UE 1 did not attach", "RAR reception failed"),
        ("spoilt-once", "none", "UE 1 did not attach", "RAR reception failed"),
        ("dies-once", "open5gs", "UE 1 was lost, as the gNB ended,", "Lost socket"),
    ],
)
def test_a_gnb_that_gets_no_ue_is_started_again_with_its_ues(
    daemon: Any, docker_ccu: Ccu, fault: str, core: str, cause: str, printed: str
) -> None:
    tag = daemon.faulty(fault, FAULT=fault)
    ran = docker_ccu.run("--oai-version", tag, "--core", core, changed=HASTY)
    run = analysed(ran)
    assert received_bytes(run, "f0") > 1e5
    again = f"{cause} at first: gNB and UEs were started again"
    assert again in ran.manifest["verdict_reasons"]
    assert again in ran.printed
    assert printed in (run / "raw/oai/ue0-stdout.log").read_text()
    assert remaining_resources(docker_ccu) == []


def test_without_a_core_gnb_and_ue_run_alone(docker_ccu: Ccu) -> None:
    ran = docker_ccu.run(*WITHOUT_CORE, "--mac-pcap")
    run = analysed(ran)
    (flow,) = ran.manifest["flows"]
    assert (flow["sender"]["address"], flow["receiver"]["address"]) == ("10.0.1.1", "10.0.1.2")
    blocks = pd.read_parquet(run / "tables" / "mac_pdus.parquet")
    assert set(blocks["mac_rnti"]) == {RNTIS[0]}
    assert (blocks["t_s"] > 1).any()
    assert ran.manifest["hosts"]["server"]["interface"] == "oaitun_enb1"
    assert received_bytes(run, "f0") > 1e5
    assert not (run / "raw/oai/amf-stdout.log").exists()
    assert remaining_resources(docker_ccu) == []


def test_quic_runs_without_a_core(docker_ccu: Ccu) -> None:
    ran = docker_ccu.run(*WITHOUT_CORE, "--ul", flows="quic:newreno@0")
    run = analysed(ran)
    (flow,) = ran.manifest["flows"]
    assert flow["sender"]["host"] == "ue"
    assert flow["received_bytes"] > 1e5
    aligned = pd.read_parquet(run / "tables" / "aligned.parquet")
    assert aligned["quic_cwnd_bytes"].max() >= 12_000
    assert remaining_resources(docker_ccu) == []


def test_two_ues_with_open5gs_as_the_core(docker_ccu: Ccu) -> None:
    ran = docker_ccu.run("--core", "open5gs", *TWO_UES, "--capture-n3", flows="cubic@0,reno@2")
    check_two_ues(ran, amf="open5gs-amf")
    assert ran.directory is not None
    kept = {file.name for file in (ran.directory / "raw/oai").glob("*-stdout.log")}
    assert {"mongodb-stdout.log", "open5gs-amf-stdout.log", "open5gs-upf-stdout.log"} <= kept
    subscribers = (ran.directory / "raw/oai/config/subscribers.js").read_text()
    assert subscribers.count("imsi: ") == 2
    assert remaining_resources(docker_ccu) == []


def test_a_core_function_that_dies_fails_the_run(daemon: Any, docker_ccu: Ccu) -> None:
    chosen = {"OAI_CORE_VERSION": daemon.faulty_core("amf-dies", "amf", FAULT="dies")}
    ran = docker_ccu.run("--duration", "60s", environment=chosen)
    assert ran.code == 1, ran.printed
    assert ran.manifest["status"] == "failed"
    assert "oai-amf ended" in ran.printed
    assert "the amf dies" in ran.printed
    assert ran.directory is not None
    assert "the amf dies" in (ran.directory / "raw/oai/amf-stdout.log").read_text()
    assert remaining_resources(docker_ccu) == []


def test_priority_that_the_kernel_refuses_is_explained(docker_ccu: Ccu) -> None:
    if real_time.state() is not False:
        pytest.skip("needs a kernel that gives containers no real-time priority")
    ran = docker_ccu.run(*WITHOUT_CORE, changed=REAL_TIME)
    assert ran.code == 1, ran.printed
    assert "Error in pthread_create(): ret: 1" in ran.printed
    assert "ccu doctor --testbed rfsim" in ran.printed
    assert remaining_resources(docker_ccu) == []


SHORT_WINDOW = (
    "import ccu.testbeds.oai.configs as c; old = c.rendered; "
    "c.rendered = lambda plan: {k: v.replace('ra_ResponseWindow = 5', 'ra_ResponseWindow = 4') "
    "for k, v in old(plan).items()}"
)
NO_LIST = (
    "import ccu.testbeds.oai.configs as c; old = c.rendered; "
    "c.rendered = lambda plan: {k: v.replace('rfsimulator = ({ s', 'x = ({ y') "
    "if k == 'ue1.conf' else v for k, v in old(plan).items()}"
)


@pytest.mark.parametrize(
    ("change", "words"),
    [(SHORT_WINDOW, "exceeded RA window"), (NO_LIST, "connect() to 127.0.0.1:4043 failed")],
)
def test_the_stand_ins_refuse_what_the_real_modems_refuse(
    docker_ccu: Ccu, change: str, words: str
) -> None:
    ran = docker_ccu.run(*WITHOUT_CORE, changed=f"{HASTY}; {change}")
    assert ran.code == 1, ran.printed
    assert "UE 1 did not attach" in ran.printed
    assert words in ran.printed
    assert remaining_resources(docker_ccu) == []


@pytest.mark.parametrize("fault", ["truncated-log", "unknown-format"])
def test_an_unreadable_log_does_not_end_a_run(daemon: Any, docker_ccu: Ccu, fault: str) -> None:
    tag = daemon.faulty(f"fault-{fault}", FAULT=fault)
    ran = docker_ccu.run("--oai-version", tag, *WITHOUT_CORE)
    run = analysed(ran)
    assert any("counts no bytes" in reason for reason in ran.manifest["verdict_reasons"])
    assert (run / "raw/oai/nrMAC_stats.log").stat().st_size > 0
    if fault == "unknown-format":
        reasons = json.loads((run / "summary.json").read_text())["verdict_reasons"]
        assert any("no OAI MAC block" in reason for reason in reasons)


def test_a_gnb_that_writes_no_blocks_is_said(daemon: Any, docker_ccu: Ccu) -> None:
    tag = daemon.faulty("fault-no-blocks", FAULT="no-blocks")
    ran = docker_ccu.run("--oai-version", tag, *WITHOUT_CORE, "--mac-pcap")
    run = analysed(ran)
    reasons = ran.manifest["verdict_reasons"]
    assert "the gNB has written no transport blocks (--mac-pcap)" in reasons
    assert ran.manifest["verdict"] == "degraded"
    assert not (run / "raw/oai/mac.pcap").exists()
    assert remaining_resources(docker_ccu) == []


def test_a_run_over_usrps_keeps_o1_stats_and_plays_no_scenario(docker_ccu: Ccu) -> None:
    # An X310 is detected by its address: any refusal there counts as an answer.
    radios = ("--usrp", "x310:addr=127.0.0.1+addr=127.0.0.1")
    ran = docker_ccu.run(*radios, testbed="usrp")
    run = analysed(ran)
    assert ran.manifest["link"] is None
    assert ran.manifest["flows"][0]["receiver"]["address"] == "12.1.1.2"
    assert received_bytes(run, "f0") > 1e5
    assert len((run / "raw/oai/o1-stats.jsonl").read_text().splitlines()) >= 3
    assert not list((run / "raw/oai").glob("channel-*"))
    assert not (run / "raw/scenario.yaml").exists()
    assert "addr=127.0.0.1" in (run / "raw/oai/config/gnb.conf").read_text()
    assert remaining_resources(docker_ccu) == []


def test_a_missing_image_is_named_with_its_pull(docker_ccu: Ccu) -> None:
    ran = docker_ccu.run("--oai-version", "2024.w30")
    assert ran.code == 2
    assert "docker pull ccu-stand-in/oai-gnb:2024.w30" in ran.printed
    assert ran.directory is None


def test_taken_addresses_are_reported(daemon: Any, docker_ccu: Ccu) -> None:
    daemon.docker("network", "create", "--subnet", "192.168.71.128/26", "taken")
    try:
        ran = docker_ccu.run()
    finally:
        daemon.docker("network", "rm", "taken")
    assert ran.code == 1
    assert "another network has these addresses" in ran.printed
    assert remaining_resources(docker_ccu) == []


def test_a_network_that_another_container_uses_is_left_and_said(
    daemon: Any, docker_ccu: Ccu
) -> None:
    output = docker_ccu.output / "shared"
    process = docker_ccu.start_run("--cc", "cubic", *WITHOUT_CORE, "--output", str(output))
    until(lambda: list(output.glob("*/raw/iperf3-f0-client.json")), process)
    (network,) = daemon.api.networks("ccu.run")
    words = ("--detach", "--name", "other", "--network", network, "--entrypoint", "sleep")
    daemon.docker("run", *words, ANY_ROLE, "600")
    assert process.result().returncode == 0, process.printed
    assert "has active endpoints" in process.printed
    daemon.docker("rm", "--force", "other")
    cleaning = docker_ccu.start("clean")
    cleaning.wait()
    assert "removed 1 network of" in cleaning.printed
    assert remaining_resources(docker_ccu) == []


def test_the_resources_of_a_killed_run_are_cleaned(docker_ccu: Ccu) -> None:
    output = docker_ccu.output / "killed"
    words = ("--cc", "cubic", "--duration", "60s", "--output", str(output))
    process = docker_ccu.start_run(*words)
    until(lambda: list(output.glob("*/raw/iperf3-f0-client.json")), process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert remaining_resources(docker_ccu)
    cleaning = docker_ccu.start("clean")
    cleaning.wait()
    assert "removed 8 containers" in cleaning.printed
    assert "removed 2 networks" in cleaning.printed
    assert remaining_resources(docker_ccu) == []


def test_a_testbed_started_manually(docker_ccu: Ccu) -> None:
    printed: dict[str, str] = {}
    for word in ("up", "status", "down"):
        started = docker_ccu.start("testbed", word)
        started.wait()
        printed[word] = started.printed
    assert "oaitun_ue1 12.1.1.2" in printed["up"]
    assert "oaitun_ue1 12.1.1.2" in printed["status"]
    assert "removed 8 containers" in printed["down"]
    assert remaining_resources(docker_ccu) == []


@pytest.fixture(scope="module")
def lxc_ccu(lxc_images: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ccu]:
    def names() -> dict[str, str]:
        folders = oci_images.FOLDER.glob("ccu-*-oai-*-*")
        return {folder.name.split("-", 4)[-1]: folder.name for folder in folders}

    def pid_of(name: str) -> int | None:
        words = ["lxc-info", "-P", str(oci_images.FOLDER), "-n", name, "-pH"]
        printed = subprocess.run(words, capture_output=True, text=True).stdout.strip()
        return int(printed) if printed.isdigit() else None

    radio = Radio(Pids(names, pid_of), tmp_path_factory.mktemp("radio-lxc"))
    radio.start()
    yield Ccu(lxc_images, tmp_path_factory.mktemp("runs-lxc"))
    radio.finish()


def test_two_ues_in_lxc(lxc_ccu: Ccu) -> None:
    check_two_ues(lxc_ccu.run("--runtime", "lxc", *TWO_UES, flows="cubic@0,reno@2"))
    assert remaining_resources(lxc_ccu) == []


def test_a_gnb_that_dies_in_lxc_is_reported(lxc_ccu: Ccu) -> None:
    words = ("--runtime", "lxc", "--oai-version", "dies", *WITHOUT_CORE, "--duration", "10s")
    ran = lxc_ccu.run(*words)
    assert ran.code == 1, ran.printed
    assert "oai-gnb ended" in ran.printed
    assert "the gNB dies" in ran.printed
    assert remaining_resources(lxc_ccu) == []


def test_a_missing_image_of_lxc_is_named_with_its_copy_command(lxc_ccu: Ccu) -> None:
    ran = lxc_ccu.run("--runtime", "lxc", "--oai-version", "2024.w30")
    assert ran.code == 2
    assert "skopeo copy docker://oaisoftwarealliance/oai-gnb:2024.w30" in ran.printed
