# SPDX-License-Identifier: Apache-2.0
"""The progress of a run: a bar on a terminal, a line for each stage elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ccu.runs.run import Listener


@contextmanager
def shown(console: Console) -> Iterator[Listener]:
    """A listener for `ccu.runs.run.run`."""
    if not console.is_terminal:
        shown_before: list[str] = []

        def print_stage(stage: str, _ratio: float) -> None:
            if shown_before[-1:] != [stage]:
                shown_before.append(stage)
                console.print(stage)

        yield print_stage
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=1.0)
        yield lambda stage, ratio: progress.update(task, description=stage, completed=ratio)
