# SPDX-License-Identifier: Apache-2.0
"""The writer of an imported scenario: all of its files, or none."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import yaml

from ccu.scenarios.sources.imported_scenario import ImportedScenario
from ccu.scenarios.validate import validate
from ddu.console.problems import refusal
from ddu.errors import unwritable_output
from ddu.run import durable


def write(
    imported: ImportedScenario,
    name: str,
    license_name: str,
    folder: Path,
    inputs: Sequence[Path] = (),
) -> list[Path]:
    """Write the scenario NAME.yaml and its series, after nr-link has accepted it.

    A file of `inputs` that would be copied onto itself is played where it is.
    Returns the written files, the scenario first. Raises RefusedError; nothing is written then.
    """
    there = {
        target
        for target, source in imported.copies.items()
        if (folder / target).exists() and (folder / target).samefile(source)
    }
    targets = [
        target
        for target in (f"{name}.yaml", *imported.copies, *imported.columns)
        if target not in there
    ]
    for target in targets:
        path = folder / target
        if not path.exists():
            continue
        if any(path.samefile(each) for each in inputs):
            raise refusal(
                "is the input, and the scenario would have a file of this name",
                f"give another name, such as --name {name}-1, or another folder with --output",
                file=path,
            )
        raise refusal("exists already", "give another --name or --output", file=path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with durable.temporary_folder(folder, ".import-") as part:
            _fill(Path(part), imported, name, license_name)
            validate(Path(part, f"{name}.yaml"), shown=folder)
            for target in targets:
                Path(part, target).replace(folder / target)
    except OSError as error:
        raise unwritable_output(folder, "cannot be written", error) from None
    return [folder / target for target in targets]


def _fill(part: Path, imported: ImportedScenario, name: str, license_name: str) -> None:
    for target, source in imported.copies.items():
        shutil.copyfile(source, part / target)
    for target, columns in imported.columns.items():
        write_csv(part / target, columns)
    head: dict[str, Any] = {
        "schema": "rf-scenario/1",
        "name": name,
        "summary": imported.summary,
        "sources": imported.origins,
        "license": license_name,
        "duration_s": round(imported.duration_s, 6),
        "at_end": "loop",
    }
    text = yaml.safe_dump({**head, **imported.body}, sort_keys=False, width=100)
    (part / f"{name}.yaml").write_text(text)


def write_csv(file: Path, columns: Mapping[str, np.ndarray]) -> None:
    """Write columns of equal length under their names, rounded to six decimals."""
    table = pa.table({name: np.round(column, 6) for name, column in columns.items()})
    options = pc.WriteOptions(quoting_header="none", quoting_style="none")
    pc.write_csv(table, file, options)
