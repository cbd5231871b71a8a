# SPDX-License-Identifier: Apache-2.0
"""The analysis of a run written to its directory, and its results for programs and notebooks."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ddu.analyze import BIN_NS, analysis_of
from ddu.console.input_file import read_json
from ddu.errors import UnreadableInput
from ddu.readers.packets.implementations import Reader
from ddu.run.manifest import Manifest, read_manifest
from ddu.run.radio import described
from ddu.tables.store import results_of, write_table

_AGAIN = "run `ddu analyze` again"


def analyze(
    path: Path, bin_ns: int = BIN_NS, reader: Reader = "native", report: bool = True
) -> dict[str, Any]:
    """Analyse the run at `path`, write its results there, and return its summary.

    Without `report` figures and report.html are left out, which take most of the time.

    Raises RefusedError; results are then as they were before.
    """
    analysis = analysis_of(path, bin_ns, reader)
    with results_of(path) as results:
        (results / "tables").mkdir()
        for name, table in analysis.tables.items():
            write_table(results / "tables", name, table)
        if report:
            from ddu.report.page import write_report

            radio = described(read_manifest(path).experiment)
            write_report(results, analysis.tables, analysis.summary, radio)
        (results / "summary.json").write_text(json.dumps(analysis.summary, indent=2) + "\n")
    return analysis.summary


class Run:
    """The results of one run. It is analysed when first asked for, if it has not been."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: Manifest = read_manifest(path)

    def analyze(self) -> dict[str, Any]:
        """Analyse the run, again if it was; return its summary. Raises RefusedError."""
        for name in ("summary", "aligned"):
            self.__dict__.pop(name, None)
        return analyze(self.path)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """summary.json: the metrics of the run, as docs/metrics.md defines them."""
        file = self.path / "summary.json"
        if not file.exists():
            return analyze(self.path)
        try:
            content = read_json(file)
        except (OSError, ValueError) as error:
            raise UnreadableInput(file, str(error), _AGAIN) from None
        if not isinstance(content, dict) or "verdict" not in content:
            raise UnreadableInput(file, "not what `ddu analyze` writes", _AGAIN)
        return content

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, one of those that `ddu schema` lists.

        Raises KeyError if the run has none of this name, UnreadableInput if it is damaged.
        """
        _ = self.summary
        file = self.path / "tables" / f"{name}.parquet"
        if not file.exists() and self.manifest.kept is not None:
            raise UnreadableInput(
                self.path,
                f"has no table {name}, which was not kept (keep: {self.manifest.kept.level})",
                f"repeat it with `ccu rerun {self.path}`",
            )
        if not file.exists():
            there = ", ".join(sorted(each.stem for each in file.parent.glob("*.parquet")))
            raise KeyError(f"{self.path}: no table {name}; it has {there or 'none'}")
        try:
            return pd.read_parquet(file)
        except (OSError, pa.ArrowException) as error:
            raise UnreadableInput(file, str(error), _AGAIN) from None

    @cached_property
    def aligned(self) -> pd.DataFrame:
        """The aligned table: every layer per bin and flow, on one clock."""
        return self.table("aligned")


def open_run(path: Path | str) -> Run:
    """Open the run in directory `path`. Raises NotARun, FutureSchema, UnreadableInput."""
    return Run(Path(path))
