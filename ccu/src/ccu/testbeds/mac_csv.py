# SPDX-License-Identifier: Apache-2.0
"""nr-link's MAC samples, as far as a run looks at them."""

from __future__ import annotations

import csv
from pathlib import Path

from ccu.spec.experiment import Direction


def delivered_bytes(mac_csv: Path, direction: Direction) -> int:
    """Return the IP bytes that nr-link delivered: its counter's last value, summed over UEs."""
    last: dict[str, int] = {}
    with mac_csv.open(newline="") as file:
        for row in csv.DictReader(file):
            if value := row[f"mac_{direction}_sdu_bytes"]:
                last[row["ue"]] = int(value)
    return sum(last.values())
