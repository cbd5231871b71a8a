# SPDX-License-Identifier: Apache-2.0
"""The command `ddu verify`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ddu.verify import Verified

UNKNOWN_CODE = 3
"""Nothing is broken, but something has no digests, or nothing is whole."""
_COLOURS = {"whole": "green", "broken": "red", "unknown": "yellow", "unfinished": "yellow"}


def verify(
    paths: Annotated[
        list[Path], typer.Argument(help="Run directories, campaigns, or directories of runs.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check that runs are as they were written: manifest, raw data, tables, versions."""
    from ddu.verify import verify as verified

    checked: list[Verified] = []
    for path in paths:
        for one in verified(path):
            checked.append(one)
            if not as_json:
                _show(one)
    counts = Counter(one.outcome for one in checked)
    if as_json:
        content = {"schema_version": 1, "checked": [one.to_json() for one in checked]}
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
    elif len(checked) > 1:
        typer.echo(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    if counts["broken"]:
        raise typer.Exit(1)
    if counts["unknown"] or not counts["whole"]:
        raise typer.Exit(UNKNOWN_CODE)


def _show(one: Verified) -> None:
    outcome = typer.style(one.outcome, fg=_COLOURS[one.outcome])
    typer.echo(f"{outcome}: {one.path} ({one.files_count} files)")
    for problem in one.problems:
        typer.echo(f"  {problem}")
    for remark in one.remarks:
        typer.echo(f"  {remark}")
