# SPDX-License-Identifier: Apache-2.0
"""Runs in lockstep over stand-ins, which send samples through the scenario's channel."""

from __future__ import annotations

import csv
import json
import math
import re
import signal
import socket
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pandas as pd
import pytest

from ccu.host import contain
from testsupport.explained import check
from testsupport.oai.containers import variables
from testsupport.oai.stand_in_runs import Ccu, analysed, remaining_resources
from testsupport.waiting import until

EXAMPLE = Path(__file__).parents[2] / "examples/udp_aimd.py"
COMMON = ("--lockstep", "--prb", "24", "--rtt", "0ms")
WITHOUT_CORE = ("--core", "none")


@pytest.fixture(scope="module")
def lockstep(kernel: Path, daemon: Any, tmp_path_factory: pytest.TempPathFactory) -> Ccu:
    folder = tmp_path_factory.mktemp("lockstep")
    return Ccu(variables(daemon), folder, daemon, COMMON)


@pytest.fixture(scope="module")
def in_lxc(
    kernel: Path, lxc_images: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Ccu:
    folder = tmp_path_factory.mktemp("lockstep-lxc")
    return Ccu(lxc_images, folder, common=(*COMMON, "--runtime", "lxc"))


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


SCENARIO = """schema: rf-scenario/1
name: {name}
summary: One path.
sources: [chosen]
license: CC0-1.0
duration_s: 100
radio:
  ss_pbch_block_power_dbm: 0
  level: {{rsrp_dbm: {rsrp_dbm}}}
  noise: {{sinr_db: {sinr_db}}}
"""
# The modems' own estimates against the scenario (design of the channel emulator).
MARGIN_DB = 1.0


@pytest.mark.parametrize(
    ("direction", "rsrp_dbm", "sinr_db", "antennas"),
    [("dl", -70, 24.5, "2x2"), ("ul", -90, 8.5, "1x1")],
)
def test_samples_decide_what_the_modems_measure_and_carry(
    lockstep: Ccu, tmp_path: Path, direction: str, rsrp_dbm: float, sinr_db: float, antennas: str
) -> None:
    scenario = tmp_path / "path.yaml"
    scenario.write_text(SCENARIO.format(name="path", rsrp_dbm=rsrp_dbm, sinr_db=sinr_db))
    words = ("--scenario", str(scenario), f"--{direction}", "--duration", "1s")
    ran = lockstep.run(*WITHOUT_CORE, *words, "--antennas", antennas)
    run = analysed(ran)
    assert (ran.manifest["verdict"], ran.manifest["verdict_reasons"]) == ("valid", [])
    mac = pd.read_parquet(run / "tables" / "mac.parquet")
    during = mac[mac["t_s"] > 0]
    # The level is held: samples keep their size (UNITY_DBM of the stand-ins).
    assert abs(during["mac_rsrp_dbm"].mean() + 64) < MARGIN_DB
    assert abs(during["mac_ul_snr_db"].mean() - sinr_db) < MARGIN_DB
    # What stand_in/mac.py makes of that SNR, less its margin of 1 dB.
    expected = math.floor(sinr_db - 1 + 5)
    assert abs(during[f"mac_{direction}_mcs"] - expected).max() <= MARGIN_DB
    channel = rows(run / "raw/oai/channel.csv")
    assert {(float(row["rsrp_dbm"]), float(row["sinr_db"])) for row in channel} == {
        (rsrp_dbm, sinr_db)
    }
    summary = json.loads((run / "raw/link-summary.json").read_text())
    for way in summary["channel"].values():
        assert way["samples"] > 1000 * 7680
        assert (way["saturated_samples"], way["missing_samples"]) == (0, 0)
    assert remaining_resources(lockstep) == []


def test_the_uplink_has_a_budget_of_its_own_and_blocks_may_have_no_beams(
    daemon: Any, lockstep: Ccu, tmp_path: Path
) -> None:
    tag = daemon.faulty("2025.w36", ERA="2025")
    scenario = tmp_path / "path.yaml"
    scenario.write_text(SCENARIO.format(name="path", rsrp_dbm=-70, sinr_db=24.5))
    words = ("--scenario", str(scenario), "--ul", "--duration", "1s", "--uplink-target-db", "10")
    run = analysed(lockstep.run(*WITHOUT_CORE, "--oai-version", tag, *words))
    mac = pd.read_parquet(run / "tables" / "mac.parquet")
    assert abs(mac.loc[mac["t_s"] > 0, "mac_ul_snr_db"].mean() - 10) < MARGIN_DB
    channel = pd.read_parquet(run / "tables" / "channel.parquet")
    levels = channel[["channel_sinr_db", "channel_ul_sinr_db"]]
    assert levels.drop_duplicates().to_numpy().tolist() == [[24.5, 10.0]]
    # The UE's samples have the same size in both directions, and the noise at the gNB is higher.
    added_db = channel["channel_ul_noise_db"] - channel["channel_noise_db"]
    assert added_db.mean() == pytest.approx(14.5, abs=0.2)
    assert remaining_resources(lockstep) == []


def test_fading_of_the_scenario_costs_blocks_and_packets(lockstep: Ccu) -> None:
    ran = lockstep.run(*WITHOUT_CORE, "--scenario", "cell-edge", "--duration", "2s")
    run = analysed(ran)
    assert ran.manifest["verdict"] == "valid"
    # Its TDL-C has paths up to 3.5 µs after the first.
    (reason,) = ran.manifest["verdict_reasons"]
    assert re.match(r"\d+\.\d% of the channel's energy comes later than the cyclic prefix", reason)
    mac = pd.read_parquet(run / "tables" / "mac.parquet")
    channel = pd.read_csv(run / "raw/oai/channel.csv")
    # The SNR that the gNB's stand-in measured lies in the channel's range of the report's interval;
    # when in it the report is written depends on the machine.
    begin, end = mac["utc_ns"], mac["utc_ns"] + mac["duration_ns"]
    of_report = [
        channel.loc[channel["utc_ns"].between(*interval), "sinr_db"]
        for interval in zip(begin, end, strict=True)
    ]
    above = mac["mac_ul_snr_db"] - [sinr_db.max() for sinr_db in of_report]
    below = [sinr_db.min() for sinr_db in of_report] - mac["mac_ul_snr_db"]
    assert np.maximum(above, below).median() < MARGIN_DB
    assert mac["mac_ul_snr_db"].std() > 1
    assert mac["mac_dl_rounds_2_count"].sum() > 0
    assert mac["mac_dl_mcs"].max() > mac["mac_dl_mcs"].min() + 3
    assert channel["sinr_db"].std() > 1
    aligned = pd.read_parquet(run / "tables" / "aligned.parquet")
    assert aligned["channel_sinr_db"].mean() == pytest.approx(channel["sinr_db"].mean(), abs=1)
    assert aligned["channel_path_1_db"].notna().all()
    assert remaining_resources(lockstep) == []


def test_delays_are_explained_as_far_as_the_radio_shows(lockstep: Ccu) -> None:
    words = ("--scenario", "static", "--duration", "2s", "--explain", "--rtt", "20ms")
    ran = lockstep.run(*WITHOUT_CORE, *words)
    assert ran.code == 0, ran.printed
    run = analysed(ran)
    assert check(run) > 1000
    delays = pd.read_parquet(run / "tables" / "delays.parquet")
    parts = [name for name in delays if re.fullmatch(r"delay_\w+_ns", name)]
    known = {name for name in parts if delays[name].any()}
    of_link = {f"delay_{part}_ns" for part in ("path", "tdd", "queue", "transmission", "radio")}
    assert of_link <= known <= of_link | {"delay_sender_ns", "delay_receiver_ns"}
    slot_ns = ran.manifest["coupling"]["slot_ns"]
    assert (delays["delay_path_ns"] == 10_000_000).all()
    assert delays["delay_tdd_ns"].between(0, slot_ns - 1).all()
    for _, of_direction in delays.groupby("direction", observed=True):
        inside = of_direction[["delay_queue_ns", "delay_transmission_ns", "delay_radio_ns"]]
        assert (inside.sum(axis=1) % slot_ns == 0).all()
        # CUBIC fills the queue of data, and the least time is that of a packet that met none.
        assert inside.sum(axis=1).min() == of_direction["delay_transmission_ns"].min()
    data = delays[delays["role"] == "data"]
    assert data["delay_queue_ns"].mean() > data["delay_radio_ns"].mean()
    assert remaining_resources(lockstep) == []


def test_quic_runs_over_samples(lockstep: Ccu) -> None:
    words = ("--scenario", "static", "--duration", "2s")
    ran = lockstep.run(*WITHOUT_CORE, *words, flows="quic:newreno@0")
    assert ran.code == 0, ran.printed
    assert ran.manifest["verdict"] == "valid"
    aligned = pd.read_parquet(analysed(ran) / "tables" / "aligned.parquet")
    assert aligned["quic_cwnd_bytes"].max() > 12_000
    received = ran.manifest["flows"][0]["received_bytes"]
    assert received * 8 / 2 > 1e6
    assert remaining_resources(lockstep) == []


POLICY = """\
import os

class Mine:
    def report(self, flow, report):
        for act in (
            lambda: open({outside!r}, "w"),
            lambda: open("/etc/shadow"),
            lambda: os.setuid(0),
            lambda: os.rename("oai", "moved"),
            lambda: open("oai/other", "w"),
        ):
            try:
                act()
            except OSError:
                continue
            raise RuntimeError("was not refused")
"""
PROGRAM = """\
#!/bin/sh
if [ $1 = sender ]; then id -u; cat /etc/shadow; touch {outside}; fi
exec {example} $*
"""


def test_transport_blocks_have_the_times_of_their_slots(lockstep: Ccu) -> None:
    ran = lockstep.run(*WITHOUT_CORE, "--scenario", "static", "--duration", "1s", "--mac-pcap")
    run = analysed(ran)
    assert (ran.manifest["verdict"], ran.manifest["verdict_reasons"]) == ("valid", [])
    blocks = pd.read_parquet(run / "tables" / "mac_pdus.parquet")
    during = blocks[blocks["t_s"].between(0, 1)]
    slot_ns = ran.manifest["coupling"]["slot_ns"]
    for _, of_direction in during.groupby("pdu_direction", observed=True):
        slots = of_direction["frame"] * 20 + of_direction["slot"]
        passed_slots = (slots - slots.iloc[0]) % (1024 * 20)
        apart_ns = of_direction["utc_ns"] - passed_slots * slot_ns
        # The gNB's own number of the slot, which its time in wall time would not follow; a block
        # may be written where one slot is over and the next has not begun.
        assert apart_ns.max() - apart_ns.min() <= slot_ns
        assert len(of_direction) > 50
    (counted, *_) = re.findall(
        r"MAC: +TX +(\d+) RX", (run / "raw/oai/nrMAC_stats.log").read_text()
    )[-1:]
    # The last blocks are in the gNB's buffer, and it may have sent some since it counted.
    sent_bytes = blocks.loc[blocks["pdu_direction"] == "dl", "pdu_bytes"].sum()
    assert sent_bytes == pytest.approx(int(counted), rel=0.05)
    assert remaining_resources(lockstep) == []


@pytest.mark.skipif(bool(contain.losses()), reason="this machine cannot contain a program")
def test_policies_and_programs_of_a_user_are_contained(lockstep: Ccu, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    policy, program = tmp_path / "mine.py", tmp_path / "program"
    policy.write_text(POLICY.format(outside=str(outside)))
    program.write_text(PROGRAM.format(outside=outside, example=EXAMPLE))
    program.chmod(0o755)
    flows = f"{policy}@0,program:{program}@0"
    ran = lockstep.run(*WITHOUT_CORE, "--scenario", "static", "--duration", "1s", flows=flows)
    assert ran.code == 0, ran.printed
    assert ran.manifest["verdict"] == "valid"
    assert ran.directory is not None
    logs = (ran.directory / "raw/logs/program-f1-sender.log").read_text().splitlines()
    user, shadow, touched = logs
    assert int(user) != 0
    assert shadow == "cat: /etc/shadow: Permission denied"
    assert re.search(r"outside'?: (Read-only file system|Permission denied)$", touched)
    assert rows(ran.directory / "raw/cc-mine.csv")  # The policy has made its attempts.
    assert not outside.exists()
    assert remaining_resources(lockstep) == []


def test_a_ue_that_leaves_in_lxc_is_named(in_lxc: Ccu) -> None:
    words = ("--oai-version", "leaves", "--scenario", "static", "--duration", "20s")
    ran = in_lxc.run(*WITHOUT_CORE, *words)
    assert ran.code == 1, ran.printed
    assert ran.manifest["status"] == "failed"
    assert "oai-ue1 ended" in ran.printed
    assert "the UE leaves, as requested" in ran.printed
    assert remaining_resources(in_lxc) == []


@pytest.mark.parametrize("end_by", [signal.SIGINT, signal.SIGKILL])
def test_a_run_in_lxc_that_is_ended_leaves_nothing(in_lxc: Ccu, end_by: signal.Signals) -> None:
    output = in_lxc.output / end_by.name
    words = (*WITHOUT_CORE, "--cc", "cubic", "--scenario", "static", "--duration", "60s")
    process = in_lxc.start_run(*words, "--output", str(output))
    until(lambda: list(output.glob("*/raw/sender.pcap")), process)
    process.send_signal(end_by)
    assert process.wait() == (130 if end_by == signal.SIGINT else -end_by), process.printed
    if end_by == signal.SIGKILL:
        assert remaining_resources(in_lxc)
        cleaning = in_lxc.start("clean")
        cleaning.wait()
        assert cleaning.printed.count("removed container ") == 2
        assert cleaning.printed.count("removed bridge ") == 2
    assert remaining_resources(in_lxc) == []


STANDING = (
    SCENARIO
    + """  mobility: {{speed_mps: 0}}
  fading: {{taps: [{{delay_ns: 0, power_db: 0}}, {{delay_ns: 400, power_db: -6}}]}}
"""
)


def of_ue(table: pd.DataFrame, ue: int) -> pd.DataFrame:
    return table[table["ue"] == ue]


def test_each_ue_has_its_own_channel_and_flow_in_docker_and_lxc(
    lockstep: Ccu, in_lxc: Ccu, tmp_path: Path
) -> None:
    scenario = tmp_path / "standing.yaml"
    # Every UE stands still in a fade of its own, so that when a report was made does not matter.
    scenario.write_text(STANDING.format(name="standing", rsrp_dbm=-75, sinr_db=18))
    two = channel_of_ues(lockstep, scenario, "dl", 2)
    four = channel_of_ues(in_lxc, scenario, "ul", 4)
    # What the seed draws for a UE depends neither on the runtime nor on the other UEs.
    common = min(two["utc_ns"].max(), four["utc_ns"].max())
    of_both = [one[(one["ue"] < 2) & (one["utc_ns"] <= common)] for one in (two, four)]
    assert len(of_both[0]) > 2 * 300  # Two UEs, each 10 ms.
    pd.testing.assert_frame_equal(*(one.reset_index(drop=True) for one in of_both))


def channel_of_ues(ccu: Ccu, scenario: Path, direction: str, ues: int) -> pd.DataFrame:
    """Check a run in which each UE has a flow of its own; return the record of its channel."""
    # With this seed the UEs' SINRs are more than the margin apart.
    words = ("--scenario", str(scenario), f"--{direction}", "--duration", "3s", "--seed", "7")
    flows = ",".join(["cubic@0", "reno@1", "cubic@1", "reno@0"][:ues])
    ran = ccu.run(*words, "--ues", str(ues), "--capture-n3", flows=flows)
    run = analysed(ran)
    assert (ran.manifest["verdict"], ran.manifest["verdict_reasons"]) == ("valid", [])
    hosts = [f"ue{ue}" if ue > 1 else "ue" for ue in range(1, ues + 1)]
    assert set(ran.manifest["hosts"]) == {"server", *hosts}
    end = "receiver" if direction == "dl" else "sender"
    assert [flow[end]["host"] for flow in ran.manifest["flows"]] == hosts
    received = [flow["received_bytes"] for flow in ran.manifest["flows"]]
    assert min(received) > 50_000
    mac = pd.read_parquet(run / "tables" / "mac.parquet")
    channel = pd.read_csv(run / "raw/oai/channel.csv")
    assert set(channel["ue"]) == set(mac["ue"]) == set(range(ues))
    sinr_db = [of_ue(channel, ue)["sinr_db"].mean() for ue in range(ues)]
    assert np.diff(sorted(sinr_db)).min() > MARGIN_DB, sinr_db
    for ue in range(ues):
        assert of_ue(mac, ue)[f"mac_{direction}_bytes"].sum() >= received[ue]
        measured = of_ue(mac, ue).loc[of_ue(mac, ue)["t_s"] > 0, "mac_ul_snr_db"]
        errors_db = np.abs(measured.mean() - np.array(sinr_db))
        assert errors_db.argmin() == ue, errors_db
        assert errors_db[ue] < MARGIN_DB
    summary = json.loads((run / "raw/link-summary.json").read_text())
    names = ["dl", *(f"dl_ue{ue}" for ue in range(2, ues + 1)), "ul"]
    assert list(summary["channel"]) == names
    assert summary["radio_time_factor"] > 0
    assert_n3_is_in_the_radios_time(ran.manifest, run / "raw/n3.pcap", sum(received), direction)
    assert remaining_resources(ccu) == []
    return channel


def assert_n3_is_in_the_radios_time(
    manifest: dict[str, Any], capture: Path, received_bytes: int, direction: str
) -> None:
    """Packets of all UEs pass on N3, at boundaries of slots within the run."""
    time = manifest["time"]
    passed_bytes = 0
    with capture.open("rb") as file:
        for stamp_s, packet in dpkt.pcap.Reader(file):
            since_ns = round(stamp_s * 10**9) - time["start_utc_ns"]
            assert since_ns % 500_000 == 0
            assert since_ns <= time["stop_utc_ns"] - time["start_utc_ns"] + 500_000
            outer = dpkt.sll2.SLL2(packet).data
            downwards = socket.inet_ntoa(outer.src) == "192.168.71.134"
            passed_bytes += outer.len if downwards == (direction == "dl") else 0
    assert passed_bytes > received_bytes


def test_a_ue_that_leaves_others_is_named(daemon: Any, lockstep: Ccu) -> None:
    tag = daemon.faulty("fault-second-leaves", FAULT="second-leaves")
    words = ("--oai-version", tag, "--scenario", "static", "--duration", "20s", "--ues", "2")
    ran = lockstep.run(*words, flows="cubic@0,cubic@0")
    assert ran.code == 1, ran.printed
    assert ran.manifest["status"] == "failed"
    assert ran.printed.count("the UE leaves, as requested") == 1
    assert "oai-ue2 ended" in ran.printed
    assert remaining_resources(lockstep) == []
