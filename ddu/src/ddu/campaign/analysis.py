# SPDX-License-Identifier: Apache-2.0
"""The analysis of many runs: on this machine's cores, or on the workers of a Dask scheduler."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import gettempdir

from rich.console import Console
from rich.progress import Progress

from ddu import interpreter
from ddu.campaign import cluster
from ddu.console.problems import RefusedError

_IMPORTED = ["ddu.api", "ddu.report.page", "pyarrow.pandas_compat", "scipy.special"]


def analyze_all(
    console: Console, scheduler: str | None = None, tls: Path | None = None
) -> Callable[[list[Path]], None]:
    """Return a function that analyses runs and shows progress; one that fails is reported and left
    out.

    With `scheduler`, the runs have to lie in storage that its workers share.
    """

    def work(runs: list[Path]) -> None:
        with (
            _executor(scheduler, tls) as executor,
            Progress(console=console, transient=True) as bar,
        ):
            task = bar.add_task("analysing", total=len(runs))
            waiting = {executor.submit(problem_of, run.resolve(), report=True): run for run in runs}
            for future in as_completed(waiting):
                if problem := future.result():
                    console.print(f"left out: {problem}", markup=False)
                bar.advance(task)

    return work


def problem_of(run: Path, report: bool) -> str | None:
    """Write the tables and the summary of a run, and with `report` its page; return why it has
    none."""
    from ddu.api import analyze

    try:
        analyze(run, report=report)
    except RefusedError as error:
        return str(error)
    except Exception as error:  # A run that breaks a program does not end the others' analysis.
        return f"{run}: {type(error).__name__}: {error}"
    return None


@contextmanager
def _executor(scheduler: str | None, tls: Path | None) -> Iterator[Executor]:
    if scheduler is None:
        context = interpreter.safe(get_context(_way_of_starting()))
        context.set_forkserver_preload(_IMPORTED)
        with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
            yield pool
        return
    with cluster.connect(scheduler, tls) as client:
        yield client.get_executor()


def _way_of_starting() -> str:
    """Return how processes start: not as forks of this one, which has threads of its own by now,
    and not as new interpreters, each of which would import for a second what an analysis needs."""
    # The process that forks listens below this folder, and paths of sockets have 107 bytes.
    return "forkserver" if len(gettempdir()) < 70 else "spawn"
