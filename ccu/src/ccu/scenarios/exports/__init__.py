# SPDX-License-Identifier: Apache-2.0
"""Export formats for other tools. To add one, add a module with a writer and a line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ccu.scenarios.exports import mahimahi, oai_schedule, table
from ccu.spec.experiment import Experiment


class Format(NamedTuple):
    summary: str
    write: Callable[[Experiment, float, Path], list[Path]]
    """Write so many seconds of the experiment's scenario to files whose names begin with the
    path."""


FORMATS: dict[str, Format] = {
    "mahimahi": Format(
        "NAME.down and NAME.up: delivery opportunities of 1504 bytes", mahimahi.write
    ),
    "csv": Format(
        "NAME.csv: position, path loss, RSRP, SINR, capacity, for ns-3 and Sionna", table.write
    ),
    "oai": Format("NAME.txt: seconds and channel-model commands of rfsim", oai_schedule.write),
}

__all__ = ["FORMATS", "Format"]
