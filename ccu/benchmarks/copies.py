# SPDX-License-Identifier: Apache-2.0
"""A campaign of many analysed runs, copied from one, to measure a large campaign's report."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path
from typing import Any

CCS = ("reno", "cubic", "bbr", "reminis")
WIDTHS = ("24", "106")
REPORT = {
    "compare": [{"factor": "cc", "baseline": "cubic"}],
    "figures": [
        {"kind": "plane", "title": "Plane", "panels": ["prb"]},
        {"kind": "lines", "title": "Lines", "x": "prb", "y": "throughput_bps"},
        {"kind": "series", "title": "Series", "panels": ["prb"], "columns": ["tcp_throughput_bps"]},
        {"kind": "cdf", "title": "CDF", "panels": ["prb"], "columns": ["tcp_rtt_ms"]},
    ],
}
"""One plot of each kind in the papers' campaigns."""
SPREAD = 0.1
"""The standard deviation of the logarithm of each number, about that of the original."""


def of_one_run(source: Path, made: Path, count: int) -> None:
    """Write the campaign `made` with `count` runs, each with the tables of the analysed run
    `source`, its own seed and instants, and numbers that differ from run to run."""
    seeds = count // (len(CCS) * len(WIDTHS))
    factors = {
        "cc": {cc: {"cc": cc} for cc in CCS},
        "prb": {prb: {"prb": int(prb)} for prb in WIDTHS},
    }
    definition = {
        "name": "copies", "profile": "only", "title": "Copies of one run", "source": "",
        "differs": [], "base": {}, "repeats": seeds, "factors": factors, "report": REPORT,
    }  # fmt: skip
    made.mkdir(parents=True)
    manifest = json.loads((source / "run.json").read_text())
    write(
        made / "campaign.json",
        {"schema_version": 1, "campaign": definition, "software": manifest["software"]},
    )
    summary = json.loads((source / "summary.json").read_text())
    for number, (cc, prb, seed) in enumerate(
        (cc, prb, seed) for seed in range(1, seeds + 1) for cc in CCS for prb in WIDTHS
    ):
        cell = made / "runs" / f"cc={cc},prb={prb},seed={seed}"
        run = cell / f"run-{number:05d}"
        (run / "tables").mkdir(parents=True)
        levels = {"cc": cc, "prb": prb}
        write(cell / "cell.json", {"levels": levels, "repeat": seed - 1, "seed": seed})
        write(run / "run.json", _later(manifest, number) | {"run": run.name, "verdict": "valid"})
        write(run / "summary.json", _varied(summary, random.Random(number)) | {"verdict": "valid"})
        shutil.copy(source / "tables" / "aligned.parquet", run / "tables")


def write(file: Path, content: dict[str, Any]) -> None:
    content.pop("integrity", None)  # It has the digest of what the record was.
    file.write_text(json.dumps(content))


def _later(manifest: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the manifest of a run that begins `number` minutes later."""
    times = {
        name: value + number * 60 * 10**9 if name.endswith("_utc_ns") and value else value
        for name, value in manifest["time"].items()
    }
    return manifest | {"time": times, "status": "finished"}


def _varied(summary: dict[str, Any], generator: random.Random) -> dict[str, Any]:
    def other(value: Any) -> Any:
        match value:
            case float():
                return value * math.exp(generator.gauss(0, SPREAD))
            case dict():
                return {key: other(item) for key, item in value.items()}
            case list():
                return [other(item) for item in value]
        return value

    varied: dict[str, Any] = other(summary)
    return varied
