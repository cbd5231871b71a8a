# SPDX-License-Identifier: Apache-2.0
"""`ccu list`: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from ccu import congestion, scenarios, traffic
from ccu.campaigns import definition
from ccu.congestion import Control
from ccu.scenarios import radios
from ccu.scenarios.nr_link import queue_managers
from ccu.spec.fields import DROP_TAIL
from ccu.spec.radio import DRX
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
            metavar="WHAT", help="cc, aqm, scenarios, radios, drx, testbeds, traffic or campaigns."
        ),
    ],
) -> None:
    """List congestion controls, AQMs, scenarios, radios, DRX, testbeds, traffic, campaigns."""
    if what not in _LISTS:
        raise RefusedError(unknown("list", what, _LISTS))
    table = Table(box=None, show_header=what == "cc")
    for title in ("", "", "from", "follows") if what == "cc" else ("", ""):
        table.add_column(title, overflow="fold")
    for name, texts in _LISTS[what].rows().items():
        table.add_row(name, *texts)
    # A pipe has no width.
    (Console() if Console().is_terminal else Console(width=_WIDTH)).print(table)
    print(f"next: {_LISTS[what].next_step}")


def names(what: str) -> list[str]:
    """Return the names of a list, for completion."""
    return list(_LISTS[what].rows())


def _each_alone(summaries: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {name: (summary,) for name, summary in summaries.items()}


def _controls() -> dict[str, tuple[str, ...]]:
    """Return what each congestion control is, where it comes from, and what it follows.

    What only the kernel of a testbed has, or has as well as this machine cannot now, names it.
    """
    elsewhere: dict[str, str] = {}
    for testbed, driver in drivers().items():
        for name in sorted(driver.own_controls()):
            elsewhere.setdefault(name, f"kernel of --testbed {testbed}")
    here = congestion.describe()
    sources = {name: _source(one, elsewhere.get(name)) for name, one in here.items()}
    only = {name: f"{source} only" for name, source in elsewhere.items() if name not in here}
    known = here | {name: congestion.described(name, Control(only[name])) for name in only}
    return {
        name: (known[name].summary or "", source, known[name].reference or "")
        for name, source in (sources | only).items()
    }


def _source(control: Control, elsewhere: str | None) -> str:
    if control.obstacle is None:
        return control.source
    return (
        f"{elsewhere} only; here: {control.obstacle}"
        if elsewhere
        else f"{control.source}; not in real time here: {control.obstacle}"
    )


class _List(NamedTuple):
    rows: Callable[[], dict[str, tuple[str, ...]]]
    next_step: str
    """The command that takes one of the names."""


_LISTS = {
    "cc": _List(_controls, "ccu run --cc NAME"),
    "aqm": _List(
        lambda: _each_alone({DROP_TAIL: "No queue management"} | queue_managers()),
        "ccu run --cc cubic --aqm NAME",
    ),
    "scenarios": _List(
        lambda: _each_alone(scenarios.library() | scenarios.sets.known()),
        "ccu run --cc cubic --scenario NAME, or ccu scenario show NAME",
    ),
    "radios": _List(lambda: _each_alone(radios.library()), "ccu run --cc cubic --radio NAME"),
    "drx": _List(lambda: _each_alone(radios.library(DRX)), "ccu run --cc cubic --drx NAME"),
    "testbeds": _List(
        lambda: _each_alone({name: one.summary for name, one in drivers().items()}),
        "ccu run --cc cubic --testbed NAME, or ccu doctor",
    ),
    "traffic": _List(
        lambda: _each_alone({name: one.summary for name, one in traffic.drivers().items()}),
        "ccu run --cc cubic --traffic NAME:…",
    ),
    "campaigns": _List(lambda: _each_alone(definition.library()), "ccu campaign plan NAME"),
}
