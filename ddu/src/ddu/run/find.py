# SPDX-License-Identifier: Apache-2.0
"""The runs that a user means: those named, those in a folder, or the newest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ddu.errors import NotARun


def newest_run(runs: Path) -> Path:
    """Return the run directory under `runs` that started last.

    Names begin with the UTC time of the start, so that their order is the order of time.
    Raises NotARun when there is none.
    """
    if not runs.is_dir():
        raise NotARun(runs, "no such directory", "record a run with `ccu run`, or add --runs DIR")
    directories = sorted(manifest.parent for manifest in runs.glob("*/run.json"))
    if not directories:
        raise NotARun(runs, "no runs here", "record a run with `ccu run`, or add --runs DIR")
    return directories[-1]


def runs_of(paths: Iterable[Path]) -> list[Path]:
    """Return the runs that are named: a run's directory, or each in a folder and below.

    Raises NotARun for a path that does not exist, and for a folder without a run.
    """
    chosen: dict[Path, None] = {}
    for path in paths:
        inside = [] if (path / "run.json").exists() or not path.is_dir() else runs_under(path)
        if not inside and path.is_dir() and not (path / "run.json").exists():
            raise NotARun(path, "no runs here", "give a run's directory, or a folder of runs")
        chosen |= dict.fromkeys(inside or [path])
    return list(chosen)


def runs_under(folder: Path) -> list[Path]:
    """Return the run directories in a folder and below, without those that are being made."""
    manifests = (file.relative_to(folder) for file in folder.rglob("run.json"))
    visible = (one for one in manifests if not any(part.startswith(".") for part in one.parts))
    return sorted(folder / one.parent for one in visible)
