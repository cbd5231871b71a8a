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
