# SPDX-License-Identifier: Apache-2.0
"""Links of a configured rate carry that rate: real TCP, measured at the receiver."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ddu.api import analyze

pytestmark = pytest.mark.realtime

RATE_BPS = 1e9
# 1500-byte packets: 20 bytes each of IP and TCP, 12 of TCP's timestamps.
PAYLOAD_SHARE = 1448 / 1500
ONE_BDP = "2.5MB"
ATTEMPTS = 5


def _goodput_bps(run: Path) -> float:
    """Return the goodput of the receiver from the third to the ninth second."""
    (report,) = (run / "raw").glob("iperf3-*-server.json")
    intervals = json.loads(report.read_text())["intervals"]
    sums = [interval["sum"] for interval in intervals if 3 <= interval["sum"]["start"] < 8.5]
    assert len(sums) >= 5
    return 8 * sum(part["bytes"] for part in sums) / sum(part["seconds"] for part in sums)


@pytest.mark.root
@pytest.mark.parametrize(("duration", "ends"), [("20s", True), ("2s", False)])
def test_a_flow_of_a_volume_ends_with_it_or_with_an_error(
    duration: str, ends: bool, tmp_path: Path
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    link = ("--scenario", "constant-100M", "--duration", duration, "--output", str(tmp_path))
    ccu = Path(sys.executable).parent / "ccu"
    ran = subprocess.run(
        [ccu, "run", "--testbed", "emulated", "--cc", "cubic", "--traffic", "tcp:40MB", *link],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    (run,) = tmp_path.iterdir()
    if not ends:  # 40 MB take 3.2 s at least.
        assert ran.returncode != 0
        assert "has not sent its 40 MB within 2 s" in ran.stderr
        return
    assert ran.returncode == 0, ran.stderr
    (report,) = (run / "raw").glob("iperf3-*-client.json")
    sent_bytes = json.loads(report.read_text())["end"]["sum_sent"]["bytes"]
    # iperf3 sends whole blocks of 128 KiB.
    assert 40e6 <= sent_bytes < 40e6 + 2**17
    (flow,) = analyze(run, report=False)["flows"]
    assert 40e6 * 8 / 100e6 < flow["duration_s"] < 10


@pytest.mark.root
@pytest.mark.slow
@pytest.mark.parametrize("cc", ["cubic", "bbr"])
def test_a_gigabit_is_filled_within_one_per_cent(cc: str, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    if not Path("/dev/net/tun").exists():
        pytest.skip("needs /dev/net/tun")
    link = ("--scenario", "constant-1G", "--rtt", "20ms", "--buffer", ONE_BDP)
    full_bps = RATE_BPS * PAYLOAD_SHARE
    for attempt in range(ATTEMPTS):
        output = tmp_path / str(attempt)
        flags = ("--cc", cc, *link, "--duration", "9s", "--no-capture", "--output", str(output))
        ccu = Path(sys.executable).parent / "ccu"
        ran = subprocess.run(
            [ccu, "run", "--testbed", "emulated", *flags],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stderr
        (run,) = output.iterdir()
        verdict = json.loads((run / "run.json").read_text())["verdict"]
        goodput_bps = _goodput_bps(run)
        assert goodput_bps < 1.01 * full_bps, "more than there is"
        # The machine is shared: a low rate in a run that it degraded is not evidence.
        if verdict == "valid" or goodput_bps > 0.99 * full_bps:
            break
    assert goodput_bps == pytest.approx(full_bps, rel=0.01), f"{attempt + 1} runs, last {verdict}"
