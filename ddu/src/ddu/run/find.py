# SPDX-License-Identifier: Apache-2.0
"""The run to use when the user names none."""

from __future__ import annotations

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


def runs_under(folder: Path) -> list[Path]:
    """Return the run directories in a folder and below, without those that are being made."""
    manifests = (file.relative_to(folder) for file in folder.rglob("run.json"))
    visible = (one for one in manifests if not any(part.startswith(".") for part in one.parts))
    return sorted(folder / one.parent for one in visible)
