# SPDX-License-Identifier: Apache-2.0
"""What other tools take: add a module with a writer, and its line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ccu.scenarios.exports import mahimahi, oai_schedule, table
from ccu.spec.experiment import Experiment


class Format(NamedTuple):
    summary: str
    write: Callable[[Experiment, float, Path], list[Path]]
    """Of an experiment that names the scenario, so many seconds, to files that begin so."""


FORMATS: dict[str, Format] = {
    "mahimahi": Format("NAME.down and NAME.up: opportunities of 1504 bytes", mahimahi.write),
    "csv": Format(
        "NAME.csv: place, path loss, RSRP, SINR, capacity, for ns-3, Sionna", table.write
    ),
    "oai": Format("NAME.txt: seconds and channel-model commands of rfsim", oai_schedule.write),
}

__all__ = ["FORMATS", "Format"]
