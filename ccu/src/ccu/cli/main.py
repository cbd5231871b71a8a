# SPDX-License-Identifier: Apache-2.0
"""The command `ccu`: its subcommands, each a module of this package that is imported when used."""

from __future__ import annotations

import importlib
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ddu.console import ending
from ddu.console.version_option import Version

COMMANDS = {
    "run": "Run one experiment, record it in a new directory, and analyse it.",
    "rerun": "Repeat a run: its experiment, with the scenario that it played.",
    "recipe": "Write what a figure or table is made of: experiments, versions, seeds, digests.",
    "verify": "Make a figure or table again by its recipe, and say whether it is identical.",
    "scheduler": "Start the scheduler of a cluster (docs/scaling.md).",
    "certificates": "Make the certificates of a cluster, for `--tls` of its members.",
    "worker": "Offer this machine's testbeds to campaigns (docs/scaling.md).",
    "doctor": "Show what this machine can and cannot do, and how to fix it.",
    "clean": "Remove what killed runs left, and the logs of testbeds that are down.",
    "list": "List congestion controls, AQMs, scenarios, radios, DRX, testbeds, traffic, campaigns.",
    "schema": "Print the JSON Schema of an experiment file.",
    "campaign": "Execute, resume and report campaigns: many runs from one file.",
    "scenario": "Show, check, import and export scenarios.",
    "testbed": "Start a testbed manually, and leave it up.",
}


class Subcommands(TyperGroup):
    """Loads a subcommand when it is called: for the list, its line above is enough."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, line in COMMANDS.items():
            self.add_command(TyperCommand(name, callback=None, help=line))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if command is None:
            return name, command, rest
        module = importlib.import_module(f"ccu.cli.{name}")
        return name, typer.main.get_command(module.app), rest


app = typer.Typer(
    cls=Subcommands, no_args_is_help=True, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip


@app.callback()
def ccu(_version: Version = False) -> None:
    """Run real Linux TCP over a 5G link, and record what the radio and TCP did.

    \b
    ccu run --cc cubic --prb 106      one experiment, with a report
    ccu list cc                       what there is to choose from
    ccu campaign list                 the figures and tables of papers
    ccu doctor                        what this machine can do
    """


def main() -> None:
    """Run the command line; an error is one message on stderr and an exit code."""
    ending.main(app, "ccu")
