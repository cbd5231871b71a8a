# SPDX-License-Identifier: Apache-2.0
"""`ccu testbed`: OpenAirInterface up for working by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ccu.host.root import need_root
from ccu.spec.errors import Refused
from ccu.spec.experiment import OAI_TESTBEDS
from ccu.spec.resolve import resolve
from testbed_console.suggestions import no_such

app = typer.Typer(no_args_is_help=True, help="OpenAirInterface up for working by hand.")


@app.command()
def up(
    testbed: Annotated[str, typer.Argument(help=" or ".join(OAI_TESTBEDS))] = "rfsim",
    prb: Annotated[
        int | None, typer.Option(help="Carrier width in PRBs: 24, 51, 106 (default), 162, 273.")
    ] = None,
    runtime: Annotated[str | None, typer.Option(help="docker (default) or lxc.")] = None,
    oai_version: Annotated[
        str | None, typer.Option(help="Image tag: 2023.w16 … 2026.w11 (default).")
    ] = None,
    ues: Annotated[int | None, typer.Option(help="How many attach (1).")] = None,
    usrp: Annotated[str | None, typer.Option(help="Of usrp: b210 or x310:addr=A+addr=B.")] = None,
) -> None:
    """Core, gNB and UEs up, attached, and left running."""
    if testbed not in OAI_TESTBEDS:
        raise Refused(f"up: {no_such('testbed to bring up', testbed, OAI_TESTBEDS)}")
    flags = {"cc": "cubic", "testbed": testbed, "prb": prb, "runtime": runtime, "ues": ues}
    experiment = resolve({**flags, "oai_version": oai_version, "usrp": usrp})
    need_root("ccu testbed up")
    by_hand = _by_hand()
    by_hand.up(experiment)
    _show(by_hand.status())
    print("next: ccu testbed shell ue1; ccu testbed down")


@app.command()
def status() -> None:
    """What runs, and the UEs' addresses."""
    need_root("ccu testbed status")
    _show(_by_hand().status())


@app.command()
def shell(
    service: Annotated[str, typer.Argument(help="ue1, gnb, data-network, upf, amf …")],
) -> None:
    """A shell in one of the containers."""
    need_root("ccu testbed shell")
    command = _by_hand().shell_command(service)
    os.execvp(command[0], command)


@app.command()
def down() -> None:
    """Everything that `up` made is gone."""
    need_root("ccu testbed down")
    for sentence in _by_hand().down() or ["no testbed was up"]:
        print(sentence)


@app.command(hidden=True)
def defaults() -> None:
    """Writes containers/defaults anew, which Compose uses without ccu."""
    from ccu.testbeds.oai import configs, version
    from ccu.testbeds.oai.carrier import carrier

    configs.write(configs.Plan(version.DEFAULT, carrier(106)), Path(configs.CONTAINERS, "defaults"))


def _by_hand() -> Any:
    """Imported late: every command of ccu would wait for it."""
    from ccu.testbeds.oai import by_hand

    return by_hand


def _show(rows: list[tuple[str, str]]) -> None:
    table = Table(box=None, show_header=False)
    for row in rows:
        table.add_row(*row)
    Console().print(table)
