# SPDX-License-Identifier: Apache-2.0
"""`ccu list`: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ccu import congestion, scenarios, traffic
from ccu.campaigns import definition
from ccu.congestion import Control
from ccu.scenarios import radios
from ccu.scenarios.nr_link import queue_managers
from ccu.spec.experiment import DROP_TAIL
from ccu.testbeds import drivers
from ddu.console.problems import RefusedError
from ddu.console.suggestions import unknown

_WIDTH = 200

app = typer.Typer(add_completion=False)


@app.command()
def list_command(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="cc, aqm, scenarios, radios, testbeds, traffic or campaigns."
        ),
    ],
) -> None:
    """List congestion controls, AQMs, scenarios, radios, testbeds, traffic and campaigns."""
    sources: dict[str, Callable[[], dict[str, tuple[str, ...]]]] = {
        "cc": _controls,
        "aqm": lambda: _each_alone({DROP_TAIL: "No queue management"} | queue_managers()),
        "scenarios": lambda: _each_alone(scenarios.library() | scenarios.sets.known()),
        "radios": lambda: _each_alone(radios.library()),
        "testbeds": lambda: _each_alone({name: one.summary for name, one in drivers().items()}),
        "traffic": lambda: _each_alone(
            {name: one.summary for name, one in traffic.drivers().items()}
        ),
        "campaigns": lambda: _each_alone(definition.library()),
    }
    if what not in sources:
        raise RefusedError(unknown("list", what, sources))
    table = Table(box=None, show_header=what == "cc")
    titles = ("", "from", "follows")
    for title in titles if what == "cc" else ("", ""):
        table.add_column(title, overflow="fold")
    for name, texts in sources[what]().items():
        table.add_row(name, *texts)
    # A pipe has no width.
    (Console() if Console().is_terminal else Console(width=_WIDTH)).print(table)


def _each_alone(summaries: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: (summary,) for name, summary in summaries.items()}


def _controls() -> dict[str, tuple[str, ...]]:
    """Return where each congestion control comes from, and what it follows.

    What only the kernel of a testbed has, or has as well as this machine cannot now, names it.
    """
    elsewhere: dict[str, str] = {}
    for testbed, driver in drivers().items():
        for name in sorted(driver.own_controls()):
            elsewhere.setdefault(name, f"kernel of --testbed {testbed}")
    here = congestion.describe()
    rows: dict[str, tuple[str, ...]] = {
        name: (_source(one, elsewhere.get(name)), one.reference or "") for name, one in here.items()
    }
    return rows | {
        name: (f"{source} only", congestion.referenced(name, Control(source)).reference or "")
        for name, source in elsewhere.items()
        if name not in here
    }


def _source(control: Control, elsewhere: str | None) -> str:
    if control.obstacle is None:
        return control.source
    return (
        f"{elsewhere} only; here: {control.obstacle}"
        if elsewhere
        else f"not now: {control.obstacle}"
    )
