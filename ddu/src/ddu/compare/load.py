# SPDX-License-Identifier: Apache-2.0
"""The runs to compare, and which of them are repeats of each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.api import open_run
from ddu.errors import DduError

GROUPINGS = ("cc", "scenario", "prb", "direction", "run")
_NEEDED = ("t_s", "flow", "cc", "tcp_throughput_bps", "tcp_rtt_ms")


@dataclass(frozen=True)
class Compared:
    """A run's headline figures and aligned table, under the label that it is compared by."""

    path: Path
    label: str
    summary: dict[str, Any]
    aligned: pd.DataFrame

    @property
    def is_result(self) -> bool:
        """What the machine could not hold is no result of the network."""
        return bool(self.summary["verdict"] != "invalid")


def load_runs(paths: list[Path], by: str, reuse: bool = True) -> list[Compared]:
    """The runs, analysed where they have not been, labelled by `by`, one of GROUPINGS.

    A directory stands for the runs in it, a campaign's for all of its runs. Raises DduError when
    fewer than two are there.
    """
    found = [run for path in paths for run in _runs_in(path)]
    found = list(dict.fromkeys(found))
    if len(found) < 2:
        raise DduError(f"{len(found)} run given; a comparison needs two or more run directories")
    return [_load(path, by, reuse) for path in found]


def _runs_in(path: Path) -> list[Path]:
    if (path / "run.json").exists() or not path.is_dir():
        return [path]
    inside = sorted(manifest.parent for manifest in path.rglob("run.json"))
    if not inside:
        raise DduError(f"{path}: no run directory, and none in it")
    return inside


def _load(path: Path, by: str, reuse: bool) -> Compared:
    run = open_run(path)
    if not reuse:
        run.analyze()
    summary = run.summary
    label = path.resolve().name if by == "run" else str(summary.get(by))
    table = run.aligned
    return Compared(path, label, summary, table[[name for name in _NEEDED if name in table]])
