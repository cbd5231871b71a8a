# SPDX-License-Identifier: Apache-2.0
"""The bytes that a link will carry, before anything is sent: it depends on the seed alone."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ccu.scenarios import link_config
from ccu.scenarios.settings import gives_capacity
from ccu.spec.experiment import Experiment

_INTERVAL_MS = 1
_BEFORE_TRAFFIC_S = 2.0
"""The link begins some time before the traffic, and lasts somewhat longer."""


def write(experiment: Experiment, scenario: Path, file: Path) -> None:
    """Write `until_s` (seconds since the link began) and the cumulative IP `bytes` that it carries
    until then with a full queue, in the direction of the data; and `certain_bytes`: over a radio
    none, since HARQ takes a part. Raises RefusedError."""
    seconds = experiment.duration_s + _BEFORE_TRAFFIC_S
    text = link_config.capacity(experiment, scenario, seconds, _INTERVAL_MS)
    certain = gives_capacity(scenario)
    column = f"{experiment.directions[0]}_capacity_mbps"
    total = 0.0
    with file.open("w", newline="") as to:
        rows = csv.writer(to)
        rows.writerow(("until_s", "bytes", "certain_bytes"))
        for row in csv.DictReader(io.StringIO(text)):
            if row["ue"] == "0":
                total += float(row[column]) * 1e6 / 8 * _INTERVAL_MS / 1e3
                until_s = float(row["t_s"]) + _INTERVAL_MS / 1e3
                rows.writerow((f"{until_s:.3f}", f"{total:.0f}", f"{certain * total:.0f}"))
