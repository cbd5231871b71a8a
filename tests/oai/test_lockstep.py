# SPDX-License-Identifier: Apache-2.0
"""Runs in lockstep over stand-ins, which send samples through the scenario's channel."""

from __future__ import annotations

import csv
import json
import math
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ccu.host import contain, programs
from testsupport.oai.containers import DockerApi, variables
from testsupport.oai.stand_in_runs import Ccu, analysed, leftovers

EXAMPLE = Path(__file__).parents[2] / "examples/udp_aimd.py"
COMMON = ("--lockstep", "--core", "none", "--prb", "24", "--rtt", "0ms")


@pytest.fixture(scope="module")
def lockstep(daemon: Any, tmp_path_factory: pytest.TempPathFactory) -> Ccu:
    command = [programs.require("nr-link"), "virtual", "doctor"]
    asked = subprocess.run(command, capture_output=True, text=True)
    if asked.returncode:
        pytest.skip(asked.stderr.strip())
    folder = tmp_path_factory.mktemp("lockstep")
    return Ccu(variables(daemon), folder, DockerApi(daemon.file), COMMON)


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
    ("direction", "rsrp_dbm", "sinr_db"), [("dl", -70, 24.5), ("ul", -90, 8.5)]
)
def test_samples_decide_what_the_modems_measure_and_carry(
    lockstep: Ccu, tmp_path: Path, direction: str, rsrp_dbm: float, sinr_db: float
) -> None:
    scenario = tmp_path / "path.yaml"
    scenario.write_text(SCENARIO.format(name="path", rsrp_dbm=rsrp_dbm, sinr_db=sinr_db))
    ran = lockstep.run("--scenario", str(scenario), f"--{direction}", "--duration", "1s")
    run = analysed(ran)
    assert (ran.manifest["verdict"], ran.manifest["verdict_reasons"]) == ("valid", [])
    mac = pd.read_parquet(run / "tables" / "mac.parquet")
    during = mac[mac["t_s"] > 0]
    assert abs(during["mac_rsrp_dbm"].mean() - rsrp_dbm) < MARGIN_DB
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
    assert leftovers(lockstep) == []


def test_fading_of_the_scenario_costs_blocks_and_packets(lockstep: Ccu) -> None:
    ran = lockstep.run("--scenario", "cell-edge", "--duration", "2s")
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
    assert leftovers(lockstep) == []


def test_quic_runs_over_samples(lockstep: Ccu) -> None:
    ran = lockstep.run("--scenario", "static", "--duration", "2s", flows="quic:newreno@0")
    assert ran.code == 0, ran.printed
    assert ran.manifest["verdict"] == "valid"
    aligned = pd.read_parquet(analysed(ran) / "tables" / "aligned.parquet")
    assert aligned["quic_cwnd_bytes"].max() > 12_000
    received = ran.manifest["flows"][0]["received_bytes"]
    assert received * 8 / 2 > 1e6
    assert leftovers(lockstep) == []


POLICY = """\
import os

class Mine:
    def report(self, flow, report):
        for act in (
            lambda: open({outside!r}, "w"),
            lambda: open("/etc/shadow"),
            lambda: os.setuid(0),
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


@pytest.mark.skipif(bool(contain.losses()), reason="this machine cannot contain a program")
def test_policies_and_programs_of_a_user_are_contained(lockstep: Ccu, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    policy, program = tmp_path / "mine.py", tmp_path / "program"
    policy.write_text(POLICY.format(outside=str(outside)))
    program.write_text(PROGRAM.format(outside=outside, example=EXAMPLE))
    program.chmod(0o755)
    flows = f"{policy}@0,program:{program}@0"
    ran = lockstep.run("--scenario", "static", "--duration", "1s", flows=flows)
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
    assert leftovers(lockstep) == []


def test_a_ue_that_leaves_is_named(daemon: Any, lockstep: Ccu) -> None:
    tag = daemon.faulty("fault-leaves", FAULT="leaves")
    ran = lockstep.run("--oai-version", tag, "--scenario", "static", "--duration", "20s")
    assert ran.code == 1, ran.printed
    assert ran.manifest["status"] == "failed"
    assert "the UE leaves, as requested" in ran.printed
    assert leftovers(lockstep) == []
