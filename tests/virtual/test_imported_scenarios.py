# SPDX-License-Identifier: Apache-2.0
"""Runs over imported scenarios, one of each kind, and the settings that scenarios fix."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from testsupport.prepared import command
from testsupport.runs import Runs, flow_report, json_of

SAMPLES = {
    "mahimahi": "".join(f"{ms}\n" for ms in range(5000)),
    "seconds-mbps": "1 20\n2 40\n3 30\n",
    "lumos5g": "run_num,seq_num,nr_ssRsrp,nr_ssSinr,Throughput\n1,1,-80,20,40\n1,2,-81,18,30\n",
    "ucc5g": (
        "Timestamp,RSRP,SNR,DL_bitrate,UL_bitrate\n"
        "2020.02.14_09.38.22,-80,15,9,9\n2020.02.14_09.38.23,-85,12,9,9\n"
    ),
    "drive": "time,active interface,handover type\n0,4G,unknown\n0.5,NSA 5G,4t5\n",
    "taps": (
        "t_s,delay_ns_1,re_1,im_1,delay_ns_2,re_2,im_2\n"
        "0,0,1e-4,0,90,0,1e-5\n1,0,0,1e-4,90,1e-5,0\n"
    ),
    "oai": (
        "Frame.Slot 128.0\nUE RNTI 4cba CU-UE-ID 1 in-sync PH 48 dB PCMAX 20 dBm, "
        "average RSRP -80 (16 meas)\nUE 4cba: CQI 12, RI 1, PMI (0,0)\n"
    ),
    "android": (
        "1700000000\nSignalStrength:{mNr=CellSignalStrengthNr:{ ssRsrp = -80 ssSinr = 20 }}\n"
    ),
}

SECOND = ("--cc", "cubic", "--duration", "1s", "--no-capture")


@pytest.mark.parametrize("form", SAMPLES)
def test_a_run_over_an_imported_scenario_completes(
    experiments: Runs, form: str, tmp_path: Path
) -> None:
    file = tmp_path / "measured.txt"
    file.write_text(SAMPLES[form])
    made = ("--name", "mine", "--output", str(tmp_path))
    imported = command("ccu", "scenario", "import", form, str(file), *made)
    assert imported.returncode == 0, imported.stderr
    run = experiments(*SECOND, "--scenario", str(tmp_path / "mine.yaml"))
    assert json_of(run / "run.json")["status"] == "finished"
    assert flow_report(run)["received_bytes"] > 10_000


def test_the_settings_of_a_numbered_scenario_are_in_the_run(experiments: Runs) -> None:
    run = experiments(*SECOND, "--scenario", "cellular-4g-03")
    experiment = json_of(run / "run.json")["experiment"]
    assert (experiment["rtt_ms"], experiment["buffer"]["packets"]) == (40.0, 800)
    assert yaml.safe_load((run / "raw/link.yaml").read_text())["scenario_seed"] == 3
    link = yaml.safe_load((run / "raw/link.yaml").read_text())
    assert link["path"]["ul"]["delay_ms"] == 20.0
