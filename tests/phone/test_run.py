# SPDX-License-Identifier: Apache-2.0
"""Runs with `--testbed phone`, from a connected phone to the analysed run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from ccu.testbeds.phone import radio_log
from ddu.analyze import analysis_of
from testsupport.phone.street import Street
from testsupport.runs import manifest_in
from testsupport.waiting import until

SHORT = ("run", "--testbed", "phone", "--duration", "2s")


@pytest.mark.root
def test_downlink(street: Street, tmp_path: Path) -> None:
    street.set(clock_ahead_s="3")
    serial = street.plug_in()
    output = tmp_path / "runs"
    ran = street.ccu(*SHORT, "--cc", "cubic", "--place", "bridge", "--output", str(output))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    recorded = manifest_in(output)
    (flow,) = recorded["flows"]
    assert flow["cc_read_back"] == "cubic"
    assert flow["receiver"]["address"] == "198.51.100.2"
    assert recorded["hosts"]["ue"]["serial"] == serial
    assert recorded["hosts"]["ue"]["mobile_interface"] == "rmnet_data0"
    assert recorded["experiment"]["phone"]["place"] == "bridge"
    assert recorded["experiment"]["prb"] is None
    known = recorded["time"]
    assert abs(known["offset_ns"] - 3_000_000_000) <= known["offset_uncertainty_ns"]
    (run,) = output.iterdir()
    assert "token" not in "".join(
        file.read_text() for file in (run / "raw" / "phone").iterdir() if file.suffix == ".json"
    )
    analysed = street.start("ddu", "analyze", run).result()
    assert analysed.returncode == 0, analysed.stderr
    summary = json.loads((run / "summary.json").read_text())
    assert summary["technology_ratio"] == {"sa": 1.0}
    assert 0 < summary["throughput_bps"] < 40e6
    aligned = pd.read_parquet(run / "tables" / "aligned.parquet")
    assert set(aligned["mac_rsrp_dbm"].dropna().round(6)) == {-71.0}
    assert aligned["mac_rsrp_dbm"].notna().mean() > 0.9
    assert aligned["tcp_rtt_ms"].min() >= 20
    mac = pd.read_parquet(run / "tables" / "mac.parquet")
    # Each reading is a row, except the last if the end cut it. How many there are depends on the
    # machine's load: adb and the phone's programs run on it as well.
    readings = (run / "raw" / radio_log.FILE).read_text().count("### ")
    assert readings - 2 <= len(mac) <= readings
    assert mac["duration_ns"].min() >= radio_log.PAUSE_S * 1e9
    assert mac["phone_log_cpu_s"].dropna().is_monotonic_increasing


@pytest.mark.root
def test_uplink_is_the_phones_own(street: Street, tmp_path: Path) -> None:
    street.plug_in()
    output = tmp_path / "runs"
    ran = street.ccu(*SHORT, "--ul", "--output", str(output))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    recorded = manifest_in(output)
    (flow,) = recorded["flows"]
    assert flow["cc"] == "phone"
    assert flow["cc_read_back"] == recorded["hosts"]["ue"]["congestion_control"]
    assert recorded["captures"][0]["role"] == "receiver"
    (run,) = output.iterdir()
    assert 0 < analysis_of(run).summary["throughput_bps"] < 40e6


@pytest.mark.root
def test_an_operator_with_ipv6_only(street_of_ipv6: Street, tmp_path: Path) -> None:
    street = street_of_ipv6
    street.plug_in()
    output = tmp_path / "runs"
    here = ("--server-address", f"[{street.server_address}]", "--output", str(output))
    ran = street.ccu(*SHORT, "--cc", "cubic", *here)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    recorded = manifest_in(output)
    (flow,) = recorded["flows"]
    ends = [flow[end]["address"] for end in ("sender", "receiver")]
    assert ends == ["2001:db8:5::1", "2001:db8:5::2"]
    (run,) = output.iterdir()
    analysis = analysis_of(run)
    assert 0 < analysis.summary["throughput_bps"] < 40e6
    aligned = analysis.tables["aligned"]
    assert aligned["tcp_rtt_ms"].min() >= 20
    assert set(aligned["mac_rsrp_dbm"].dropna().round(6)) == {-71.0}
    assert aligned["tcp_cwnd_bytes"].notna().any()


@pytest.mark.root
@pytest.mark.parametrize("way", ["dl", "ul"])
def test_the_phones_own_iperf3(street: Street, tmp_path: Path, way: str) -> None:
    iperf3 = shutil.which("iperf3")
    if iperf3 is None:
        pytest.skip("needs iperf3: setup/system-packages run")
    (street.folder / "bin" / "iperf3").symlink_to(iperf3)
    street.plug_in()
    output = tmp_path / "runs"
    load = ["--ul"] if way == "ul" else ["--cc", "reno"]
    ran = street.ccu(*SHORT, *load, "--output", str(output))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    recorded = manifest_in(output)
    (flow,) = recorded["flows"]
    assert flow["load"] == "iperf3"
    assert way == "ul" or flow["cc_read_back"] == "reno"
    (run,) = output.iterdir()
    printed = json.loads((run / "raw" / "iperf3-f0-client.json").read_text())
    counted = printed["end"]["sum_received"]["bytes"]
    assert 0.8 < flow["received_bytes"] / counted < 1.25
    analysis = analysis_of(run)
    assert 0 < analysis.summary["throughput_bps"] < 40e6
    assert (analysis.tables["iperf3"]["end"] == "client").all()


@pytest.mark.root
def test_a_browser_without_adb_gets_what_is_allowed(street: Street, tmp_path: Path) -> None:
    output = tmp_path / "runs"
    words = (*SHORT, "--cc", "cubic", "--no-adb", "--max-bytes", "3MB", "--output", output)
    run = street.start("ccu", *words)
    match = until(lambda: re.search(r"http://\S+(?=\s)", run.printed), run)
    assert match
    browser = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{size_download}", match[0]]
    got = subprocess.run(
        ["ip", "netns", "exec", street.phone, *browser], capture_output=True, text=True, timeout=600
    )
    assert run.wait() == 0, run.printed
    assert got.stdout.startswith("200 "), got
    assert got.stdout.split()[1] == "3000000"
    recorded = manifest_in(output)
    (flow,) = recorded["flows"]
    assert flow["over_http"]
    # Its own count and the browser's differ by the headers.
    assert 0 < flow["received_bytes"] - 3_000_000 < 500
    assert recorded["time"]["offset_ns"] is None
    assert recorded["verdict"] == "degraded"
    assert "--max-bytes" in " ".join(recorded["verdict_reasons"])
