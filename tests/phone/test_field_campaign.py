# SPDX-License-Identifier: Apache-2.0
"""A field campaign with a phone: block by block, from place to place, to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from testsupport.phone.street import Street

WALK = """
title: A short walk
base: {testbed: phone, duration: 1s, max_bytes: 100MB}
factors:
  scheme:
    CUBIC: {cc: cubic}
    Reno: {cc: reno}
pause_s: 0.5
repeats: 2
report:
  metrics: [throughput_of_best_ratio, rtt_ms.p95, rsrp_dbm.mean]
  figures:
    - {kind: plane, title: Throughput, colour: scheme, y: throughput_of_best_ratio}
"""


@pytest.mark.root
def test_a_walk_to_its_report(street: Street, tmp_path: Path) -> None:
    street.plug_in()
    file, output = tmp_path / "walk.yaml", tmp_path / "runs"
    file.write_text(WALK)
    campaign = ("campaign", "run", str(file), "--output", str(output))
    planned = street.ccu("campaign", "plan", str(file), "--output", str(output))
    assert "up to 400 MB" in planned.stdout
    nobody = street.ccu(*campaign)
    assert nobody.returncode == 2
    assert "Name the place" in nobody.stderr
    street.set(rsrp="-80")
    first = street.ccu(*campaign, "--place", "bridge", "--note", "rain")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "the next place" in first.stdout
    (folder,) = output.iterdir()
    assert len(list(folder.glob("runs/*/*/run.json"))) == 2
    street.set(rsrp="-95")
    second = street.ccu("campaign", "resume", str(folder), "--place", "park")
    assert second.returncode == 0, second.stdout + second.stderr
    manifests = [json.loads(run.read_text()) for run in sorted(folder.glob("runs/*/*/run.json"))]
    by_seed = {(m["experiment"]["seed"], m["experiment"]["phone"]["place"]) for m in manifests}
    assert by_seed == {(1, "bridge"), (2, "park")}
    assert {m["experiment"]["phone"]["note"] for m in manifests} == {"rain", ""}
    starts = sorted((m["time"]["start_utc_ns"], m["time"]["stop_utc_ns"]) for m in manifests)
    assert starts[1][0] - starts[0][1] >= 0.4e9
    assert street.start("ddu", "campaign", "report", folder).wait() == 0
    runs = pd.read_csv(folder / "report" / "runs.csv").set_index("place")
    assert list(runs.loc["bridge", "rsrp_dbm.mean"].round(3)) == [-80, -80]
    assert list(runs.loc["park", "rsrp_dbm.mean"].round(3)) == [-95, -95]
    # Each place has one best scheme.
    assert list(runs.groupby("place")["throughput_of_best_ratio"].max()) == [1, 1]
    assert (folder / "report" / "report.html").exists()
