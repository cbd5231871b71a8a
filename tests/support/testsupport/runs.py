# SPDX-License-Identifier: Apache-2.0
"""Runs that tests share, made as a user makes them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.analyze import analysis_of
from ddu.api import analyze
from testsupport.prepared import command

Arguments = tuple[object, ...]


class Runs:
    """Experiments of `ccu run` in a directory of their own, each made, and analysed, once."""

    def __init__(self, directory: Path, testbed: str) -> None:
        self.directory = directory
        self.testbed = testbed
        self._made: dict[Arguments, Path] = {}
        self._analysed: set[Path] = set()
        self._results: dict[Path, tuple[dict[str, Any], pd.DataFrame]] = {}

    def __call__(self, *args: object) -> Path:
        """The directory of `ccu run ARGS`."""
        if args not in self._made:
            self._made[args] = self._run([str(word) for word in args])
        return self._made[args]

    def analysed(self, *args: object) -> Path:
        """The same, with what `ddu analyze --no-report` makes, without its seconds of imports."""
        run = self(*args)
        if run not in self._analysed:
            analyze(run, report=False)
            self._analysed.add(run)
        return run

    def summary(self, *args: object) -> dict[str, Any]:
        """Return what summary.json would have."""
        return self._unwritten(*args)[0]

    def table(self, *args: object) -> pd.DataFrame:
        """Return what the aligned table would have, in 20 ms bins."""
        return self._unwritten(*args)[1].copy()

    def _unwritten(self, *args: object) -> tuple[dict[str, Any], pd.DataFrame]:
        """Return summary and aligned table. To write all results is a third of what an analysis
        costs, and tests of what is written have `analysed`."""
        run = self(*args)
        if run not in self._results:
            analysis = analysis_of(run)
            self._results[run] = analysis.summary, analysis.tables["aligned"]
        return self._results[run]

    def _run(self, args: list[str]) -> Path:
        output = Path(tempfile.mkdtemp(dir=self.directory))
        ran = command(
            "ccu", "run", "--no-report", "--testbed", self.testbed, *args, "--output", str(output)
        )
        assert ran.returncode == 0, f"ccu run {' '.join(args)}\n{ran.stdout}\n{ran.stderr}"
        (run,) = output.iterdir()
        return run


def received_bps(run: Path, flow: str = "f0") -> float:
    """A flow's throughput by its receiver's own report, without headers."""
    if (run / "raw/flows.json").exists():
        report = flow_report(run, flow)
        return float(report["received_bytes"]) * 8 / float(report["receiving_s"])
    report = json_of(run / f"raw/iperf3-{flow}-server.json")
    return float(report["end"]["sum_received"]["bits_per_second"])


def received_bps_by_second(run: Path, flow: str = "f0") -> list[float]:
    """The same for each interval of the report."""
    intervals = flow_report(run, flow)["receiver"]
    return [8 * one["bytes"] / (one["end_s"] - one["start_s"]) for one in intervals]


def flow_report(run: Path, flow: str = "f0") -> dict[str, Any]:
    """Return the counts of both ends of a flow of the built-in traffic."""
    flows = json_of(run / "raw/flows.json")["flows"]
    report: dict[str, Any] = next(one for one in flows if one["id"] == flow)
    return report


def manifest_in(output: Path) -> dict[str, Any]:
    """Return run.json of the only run in a folder."""
    (file,) = output.glob("*/run.json")
    return json_of(file)


def json_of(file: Path) -> dict[str, Any]:
    """A file that holds a JSON object."""
    content: dict[str, Any] = json.loads(file.read_text())
    return content
