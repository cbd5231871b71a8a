# SPDX-License-Identifier: Apache-2.0
"""Records of campaigns: what was measured, as files beside the pages that are made from them.

Runs take gigabytes and stay on the machine that made them. A record is small, has every number
that a claim is checked against, and is kept with the pages: they, and the figures of the numbers of
runs, can be written again anywhere. A campaign that is run again replaces its own record only.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from ddu.console.problems import refusal
from ddu.errors import unwritable
from ddu.readers.csv import parsed_csv
from ddu.reproductions.measured import Cost, Measured
from ddu.run import durable

SCHEMA_VERSION = 2
_FILE, _RUNS = "record.json", "runs.csv"


def write_record(folder: Path, measured: Measured) -> None:
    """Write the record in place of what `folder` has."""
    folder.mkdir(parents=True, exist_ok=True)
    fields = {one.name: getattr(measured, one.name) for one in dataclasses.fields(measured)}
    del fields["runs"]
    content = {"schema_version": SCHEMA_VERSION, **fields}
    text = json.dumps(content, indent=2, default=dataclasses.asdict)
    try:
        durable.replace_text(folder / _RUNS, measured.runs.to_csv(index=False))
        durable.replace_text(folder / _FILE, text + "\n")
        for other in folder.iterdir():
            if other.name not in (_RUNS, _FILE):
                other.unlink()
    except OSError as error:
        raise unwritable(folder, "cannot be written", error) from None


def read_record(folder: Path) -> Measured | None:
    """Return what was measured, or None if `folder` has no record.

    Raises RefusedError when the record cannot be read, or is newer than this ddu.
    """
    file = folder / _FILE
    if not file.exists():
        return None
    try:
        return _read(json.loads(file.read_text()), folder / _RUNS)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise refusal(
            f"not a record of a campaign ({type(error).__name__}: {error})",
            "take the folder from the repository again, or run the campaign again",
            file=file,
        ) from None


def _read(content: dict[str, Any], runs: Path) -> Measured:
    if content.pop("schema_version") != SCHEMA_VERSION:
        raise ValueError(f"its schema_version is not {SCHEMA_VERSION}")
    labels = [*content["factors"], "verdict", "run"]
    # A level may be named "none" or "NA": only an empty field is missing.
    table = parsed_csv(
        runs.read_bytes(), dtype=dict.fromkeys(labels, str), keep_default_na=False, na_values=[""],
        float_precision="round_trip",
    )  # fmt: skip
    content["cost"] = Cost(**content["cost"])
    return Measured(runs=table, **content)
