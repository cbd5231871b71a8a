# SPDX-License-Identifier: Apache-2.0
"""The turn of a run on a testbed that this machine can have only once at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ccu.host import slots
from ccu.runs.run import check
from ccu.spec.experiment import Experiment
from ccu.testbeds import driver_of


@contextmanager
def taken(experiment: Experiment, output: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Keep other runs and campaigns from the experiment's testbed where it can be there only once.

    While another process has it, wait, and report that once. Raises RefusedError at once for an
    experiment that could not run anyway, so that nobody waits for a refusal.
    """
    if alone := driver_of(experiment).alone:
        check(experiment, output, machine=False)
    with slots.turn(alone, report):
        yield
