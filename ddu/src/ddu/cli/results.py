# SPDX-License-Identifier: Apache-2.0
"""The end of a command that analysed a run, `ddu analyze` or `ccu run`: its results, and where."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ddu.report import text
from ddu.report.text import REPORT

_COLOURS = {"valid": "green", "degraded": "yellow", "invalid": "red"}

AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print the results as JSON on one line, and nothing else."),
]
Open = Annotated[bool, typer.Option("--open", help="Open the report in a browser.")]


@dataclass(frozen=True)
class Ending:
    """The end of a command that has analysed a run."""

    as_json: bool = False
    open_report: bool = False

    def show(self, path: Path, summary: Mapping[str, Any], made: str = REPORT) -> None:
        """Print the results of the run in `path`; `made`: what to name last, in its directory."""
        if self.as_json:
            typer.echo(text.as_json(path, summary, made))
        else:
            for line in text.lines(path, summary, made):
                typer.echo(_coloured(line, summary["verdict"]))
        if self.open_report and made == REPORT:
            webbrowser.open((path / REPORT).resolve().as_uri())


def _coloured(line: str, verdict: str) -> str:
    if not line.startswith("verdict: "):
        return line
    return line.replace(verdict, typer.style(verdict, fg=_COLOURS[verdict]), 1)
