# SPDX-License-Identifier: Apache-2.0
"""Runs with `--phone-ssh`: a phone without adb, with a real sshd in place of Termux's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ddu.analyze import analysis_of
from testsupport.phone.sshd import sshd
from testsupport.phone.street import Street

RUN = ("run", "--testbed", "phone", "--cc", "cubic", "--duration", "2s")


@pytest.mark.root
def test_a_run_by_termux(street: Street, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    street.set(app="app", clock_ahead_s="3")
    path = f"PATH={street.folder / 'bin'} STATE={street.state}"
    output = tmp_path / "runs"
    with sshd(tmp_path / "ssh", street.phone, street.phone_address, path) as command:
        monkeypatch.setenv("CCU_SSH", command)
        port = (tmp_path / "ssh" / "sshd_config").read_text().split()[1]
        here = ("--phone-ssh", f"root@{street.phone_address}:{port}", "--output", str(output))
        street.set(wifi="COMPLETED")
        assert "uses Wi-Fi" in refused(street, *here)
        street.set(wifi="DISCONNECTED")
        closed = ("--phone-ssh", f"root@{street.phone_address}:1")
        assert "Start `sshd` in Termux" in refused(street, *closed)
        assert "is not a port" in refused(street, "--phone-ssh", "phone:ssh")
        ran = street.ccu(*RUN, *here)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "the phone does not report its data usage of this month" in ran.stdout
    (run,) = output.iterdir()
    recorded = json.loads((run / "run.json").read_text())
    assert recorded["flows"][0]["cc_read_back"] == "cubic"
    assert recorded["hosts"]["ue"]["model"] == "Test 5G"
    assert abs(recorded["time"]["offset_ns"] - 3e9) <= recorded["time"]["offset_uncertainty_ns"]
    analysis = analysis_of(run)
    assert 0 < analysis.summary["throughput_bps"] < 40e6
    assert analysis.summary["technology_ratio"] == {"sa": 1.0}
    mac = analysis.tables["mac"]
    assert set(mac["mac_rsrp_dbm"]) == {-71}
    assert set(mac["mac_pci"]) == {77}
    assert set(mac["phone_battery_ratio"].round(6)) == {0.9}


def refused(street: Street, *more: str) -> str:
    ran = street.ccu(*RUN, *more)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stderr
