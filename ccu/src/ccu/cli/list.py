# SPDX-License-Identifier: Apache-2.0
"""`ccu list`: what there is to choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ccu import congestion, scenarios
from ccu.campaigns import definition
from ccu.testbeds import drivers
from testbed_console.problems import RefusedError
from testbed_console.suggestions import unknown

app = typer.Typer(add_completion=False)


@app.command()
def list_command(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="cc, scenarios, testbeds or campaigns.")
    ],
) -> None:
    """List the choices: congestion controls, scenarios, testbeds, campaigns."""
    sources: dict[str, Callable[[], dict[str, str]]] = {
        "cc": congestion.describe,
        "scenarios": scenarios.library,
        "testbeds": lambda: {name: driver.summary for name, driver in drivers().items()},
        "campaigns": definition.library,
    }
    if what not in sources:
        raise RefusedError(unknown("list", what, sources))
    table = Table(box=None, show_header=False)
    for name, summary in sources[what]().items():
        table.add_row(name, summary)
    Console().print(table)
