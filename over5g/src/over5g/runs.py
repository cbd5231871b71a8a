# SPDX-License-Identifier: Apache-2.0
"""One experiment from Python: `ccu run` without the command line."""

from __future__ import annotations

import html
import sys
from pathlib import Path
from typing import Any

import ddu.api
from ccu.host.root import need_root
from ccu.runs import run as runs
from ccu.runs import turn
from ccu.scenarios.resolve import resolve_arguments
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of
from ccu.testbeds.choice import choose
from ddu.report.text import REPORT

_HEIGHT_PX = 900


class Run(ddu.api.Run):
    """The results of a run, as data frames; a notebook shows its report."""

    def _repr_html_(self) -> str:
        _ = self.summary
        page = html.escape((self.path / REPORT).read_text(encoding="utf-8"), quote=True)
        style = f"width:100%;height:{_HEIGHT_PX}px;border:0"
        return f'<iframe srcdoc="{page}" style="{style}"></iframe>'


def run(cc: str | None = None, *, output: Path | str = "runs", **keys: Any) -> Run:
    """Run one experiment into a new directory in `output`, analyse it, and return its results.

    `cc`: a congestion control of `ccu list cc`, or the path of one of your own; cubic, unless
    `flows` or `traffic` are given, which name theirs. `keys`: those of an experiment
    (docs/experiment.md), with their units as text: prb=106, direction="ul", rtt="50ms",
    duration="10s", scenario="rome-moderate", seed=2. What is left out is chosen as `ccu run`
    chooses it.

    Raises RefusedError for a wrong value or a machine that cannot do it, before anything is made;
    RunFailed if the run failed.
    """
    experiment = _experiment(_with_cc(cc, keys))
    if driver_of(experiment).needs_root:
        need_root()
    with turn.taken(experiment, Path(output), _say):
        directory = runs.run(experiment, Path(output), _silently)
    made = Run(directory)
    made.analyze()
    return made


def _with_cc(cc: str | None, keys: dict[str, Any]) -> dict[str, Any]:
    if cc is None and keys.keys() & {"flows", "traffic"}:
        return keys
    return {"cc": cc or "cubic", **keys}


def _experiment(written: dict[str, Any]) -> Experiment:
    choices = choose(written, lambda more: [resolve_arguments({**written, **more})])
    return resolve_arguments({**written, **{choice.key: choice.value for choice in choices}})


def _say(line: str) -> None:
    """Print why nothing happens yet, which no result shows."""
    print(line, file=sys.stderr)


def _silently(_stage: str, _share: float) -> None:
    """A notebook shows the results, not the progress."""
