# SPDX-License-Identifier: Apache-2.0
"""The progress of a campaign: its matrix on a terminal, a line for each run elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.segment import Segments
from rich.table import Table
from rich.text import Text

from ccu.campaigns import status as statuses
from ccu.campaigns.cells import Cell
from ccu.campaigns.engines import Listener, Outcome
from ccu.campaigns.runner import Work
from ccu.campaigns.status import CampaignStatus, Row
from ddu.campaign.attempts import Attempts

_LINES_BELOW = 5
"""The lines of a terminal kept below the matrix, besides one for each current run."""


@contextmanager
def shown(work: Work, console: Console, *, lines: bool = False) -> Iterator[Listener]:
    """Yield a listener for `ccu.campaigns.runner.carry_out`; with `lines`, it prints lines
    on a terminal too, between which others may print."""
    if lines or not console.is_terminal:
        yield _Lines(work, console)
        return
    picture = _Picture(work, console)
    with picture.live:
        yield picture


class _Lines:
    """A listener that prints a line for each event, for logs."""

    def __init__(self, work: Work, console: Console) -> None:
        self._work = work
        self._progress = statuses.Progress(work)
        self._console = console

    def note(self, sentence: str) -> None:
        self._console.print(sentence, markup=False, soft_wrap=True)

    def started(self, cell: Cell) -> None:
        self.note(f"start {cell.title}")

    def stage(self, cell: Cell, stage: str, ratio: float) -> None:
        """Ignore the stages of a run, which are too many for a log."""

    def ended(self, outcome: Outcome) -> None:
        attempts = self._work.attempts(outcome.cell)
        self._progress.update(outcome.cell)
        now = self._progress.status()
        self.note(f"[{now.done}/{now.planned}] {ending(outcome, attempts)} ({left(now.left_s)})")


class _Picture:
    """A listener that shows the matrix, the current runs, and the time left."""

    def __init__(self, work: Work, console: Console) -> None:
        self._work = work
        self._progress = statuses.Progress(work)
        self._console = console
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[stage]}"),
        )
        self._running = Progress(*columns, console=console)
        self._tasks: dict[Cell, TaskID] = {}
        self.live = Live(self._drawn(), console=console, transient=True)

    def note(self, sentence: str) -> None:
        self._console.print(sentence, markup=False)

    def started(self, cell: Cell) -> None:
        self._tasks[cell] = self._running.add_task(cell.title, total=1.0, stage="")

    def stage(self, cell: Cell, stage: str, ratio: float) -> None:
        self._running.update(self._tasks[cell], completed=ratio, stage=stage)

    def ended(self, outcome: Outcome) -> None:
        self._running.remove_task(self._tasks.pop(outcome.cell))
        attempts = self._work.attempts(outcome.cell)
        self._progress.update(outcome.cell)
        if attempts.result is None or outcome.warning:
            self.note(ending(outcome, attempts))
        self.live.update(self._drawn())

    def _drawn(self) -> Group:
        """Return the rendered picture: rendering the table at each of the four refreshes per second
        would take CPU time from runs in real time."""
        now = self._progress.status()
        total = f"{now.done} of {now.planned} runs, {left(now.left_s)}"
        below = _LINES_BELOW + self._work.at_once
        height = max(self._console.height - below, 1)
        wide = self._console.width
        table = matrix(now, wide) if lines_of(now, wide) <= height else by_factor(now)
        ready = Segments(list(self._console.render(table)))
        return Group(ready, Text(total), self._running)


def ending(outcome: Outcome, attempts: Attempts) -> str:
    """Return a line on how the last of `attempts` ended."""
    if outcome.error or not attempts:
        return f"failed {outcome.cell.title}: {outcome.error or 'no run directory'}"
    warning = f": {outcome.warning}" if outcome.warning else ""
    return f"{attempts[-1].verdict} {outcome.cell.title}{warning}"


def matrix(now: CampaignStatus, width: int) -> Table:
    """Return done of planned at each point: the last factor that fits is in columns, the others
    are in rows.

    `width` is the console's, in characters.
    """
    if not now.rows:
        return Table(box=None)
    names = [factor for factor, _ in now.rows[0].point]
    across = _across(now, width)
    down = [name for name in names if name != across]
    table = Table(box=None)
    for name in down or ["campaign"]:
        table.add_column(name)
    labels = (
        list(dict.fromkeys(dict(row.point)[across] for row in now.rows)) if across else ["done"]
    )
    for label in labels:
        table.add_column(f"{across}={label}" if across else label)
    lines: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in now.rows:
        levels = dict(row.point)
        key = tuple(levels[name] for name in down)
        lines.setdefault(key, {})[levels[across] if across else "done"] = row
    for key, entries in lines.items():
        table.add_row(*(key or ("",)), *(_entry(entries.get(label)) for label in labels))
    return table


def lines_of(now: CampaignStatus, width: int) -> int:
    """Return how many lines `matrix` has, its heading included."""
    across = _across(now, width)
    return 1 + len({tuple(one for one in row.point if one[0] != across) for row in now.rows})


def by_factor(now: CampaignStatus) -> Table:
    """Return done of planned at each level of each factor, for designs too large for `matrix`."""
    factors: dict[str, dict[str, list[Row]]] = {}
    for row in now.rows:
        for factor, label in row.point:
            factors.setdefault(factor, {}).setdefault(label, []).append(row)
    table = Table(box=None)
    for name in ("factor", "level", "done"):
        table.add_column(name)
    for factor, levels in factors.items():
        for number, (label, rows) in enumerate(levels.items()):
            table.add_row("" if number else factor, label, _entry(_sum(rows)))
    return table


def _sum(rows: list[Row]) -> Row:
    """Return the sum of the rows, with an empty point."""
    names = ("planned", "done", "degraded", "failed")
    counts = {name: sum(getattr(row, name) for row in rows) for name in names}
    return Row((), **counts, enough=all(row.enough for row in rows))


def _across(now: CampaignStatus, width: int) -> str | None:
    """Return the factor whose levels are columns of `matrix`; None if none fits."""
    labels: dict[str, set[str]] = {}
    for row in now.rows:
        for factor, label in row.point:
            labels.setdefault(factor, set()).add(label)
    entry = max((len(_entry(row)) for row in now.rows), default=0)
    whole = {name: max(map(len, [name, *levels])) for name, levels in labels.items()}

    def fits(name: str) -> bool:
        columns = [max(len(f"{name}={label}"), entry) for label in labels[name]]
        down = [characters for other, characters in whole.items() if other != name]
        return sum(columns + down) + 2 * len(columns + down) <= width

    fitting = [name for name, levels in labels.items() if len(levels) > 1 and fits(name)]
    return fitting[-1] if fitting else None


def _entry(row: Row | None) -> Text:
    if row is None:
        return Text("-", style="dim")
    text = Text(f"{row.done}/{row.planned}", style="green" if row.done == row.planned else "")
    if row.enough and row.done < row.planned:
        text.append(" enough", style="green")
    if row.degraded:
        text.append(f" {row.degraded} degraded", style="yellow")
    if row.failed:
        text.append(f" {row.failed} failed", style="red")
    return text


def left(seconds: float) -> str:
    """Return a text such as `about 1 h 20 min left`."""
    if seconds == 0:
        return "nothing left"
    return f"{about(seconds)} left"


def about(seconds: float) -> str:
    """Return a text such as `about 1 h 20 min`."""
    if seconds < 1:
        return "less than 1 s"
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"about {seconds:.0f} s"
    hours, minutes = divmod(minutes, 60)
    return f"about {hours} h {minutes} min" if hours else f"about {minutes} min"
