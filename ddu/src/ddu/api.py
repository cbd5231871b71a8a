# SPDX-License-Identifier: Apache-2.0
"""The analysis of a run written to its directory, and its results for programs and notebooks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.analyze import BIN_NS, analysis_of
from ddu.console.problems import RefusedError
from ddu.errors import UnreadableInput
from ddu.readers.packets.implementations import Reader
from ddu.run.manifest import Manifest, read_manifest
from ddu.run.radio import described
from ddu.tables.results import TableMissing, is_analysed, read_summary, read_table, table_names
from ddu.tables.store import results_of, write_summary, write_table


def prepare() -> None:
    """Do what `analyze` needs for any run, such as its imports: half of its time."""
    from ddu.report import page

    page.prepare()


def analyze(
    path: Path, bin_ns: int = BIN_NS, reader: Reader = "native", report: bool = True
) -> dict[str, Any]:
    """Analyse the run at `path`, write its results there, and return its summary.

    Without `report` figures and report.html are left out, which take most of the time.

    Raises RefusedError; results are then as they were before.
    """
    analysis = analysis_of(path, bin_ns, reader)
    with results_of(path) as results, ThreadPoolExecutor(1) as beside:
        (results / "tables").mkdir()
        written = beside.submit(_write_tables, results / "tables", analysis.tables)
        if report:
            from ddu.report.page import write_report

            manifest = read_manifest(path)
            radio = described(manifest.experiment)
            ues = {flow.id: flow.ue for flow in manifest.flows}
            write_report(results, analysis.tables, analysis.summary, radio, ues)
        written.result()
        write_summary(results, analysis.summary, analysis.raw_sha256)
    return analysis.summary


def _write_tables(directory: Path, tables: dict[str, pd.DataFrame]) -> None:
    for name, table in tables.items():
        write_table(directory, name, table)


class Run:
    """The results of one run. It is analysed when first asked for, if it has not been."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: Manifest = read_manifest(path)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}: {self._headline()}>"

    def _headline(self) -> str:
        """Return the verdict and goodput as far as they are known: a repr analyses nothing."""
        from ddu.report import text

        try:
            return text.headline(read_summary(self.path))
        except RefusedError:
            return f"{self.manifest.status}, not analysed"

    def analyze(self) -> dict[str, Any]:
        """Analyse the run, again if it was; return its summary. Raises RefusedError."""
        for name in ("summary", "aligned"):
            self.__dict__.pop(name, None)
        return analyze(self.path)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """summary.json: the metrics of the run, as docs/metrics.md defines them."""
        return read_summary(self.path) if is_analysed(self.path) else analyze(self.path)

    def table(self, name: str) -> pd.DataFrame:
        """Return a table, one of those that `ddu schema` lists.

        Raises KeyError if the run has none of this name, UnreadableInput if it is damaged or of
        another analysis than the summary.
        """
        _ = self.summary
        try:
            return read_table(self.path, name)
        except TableMissing:
            pass
        if self.manifest.kept is not None:
            raise UnreadableInput(
                self.path,
                f"has no table {name}, which was not kept (keep: {self.manifest.kept.level})",
                f"repeat it with `ccu rerun {self.path}`",
            )
        there = ", ".join(table_names(self.path))
        raise KeyError(f"{self.path}: no table {name}; it has {there or 'none'}")

    @cached_property
    def aligned(self) -> pd.DataFrame:
        """The aligned table: every layer per bin and flow, on one clock."""
        return self.table("aligned")


def open_run(path: Path | str) -> Run:
    """Open the run in directory `path`. Raises NotARun, FutureSchema, UnreadableInput."""
    return Run(Path(path))
