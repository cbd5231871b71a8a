# SPDX-License-Identifier: Apache-2.0
"""A run directory as the rows that the store keeps of it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.align.bins import Bins
from ddu.api import Run
from ddu.campaign.load import read_definition, read_levels
from ddu.console.problems import RefusedError
from ddu.errors import FailedRun, StoreRefused, UnreadableInput
from ddu.run.manifest import Manifest, read_manifest
from ddu.run.radio import described
from ddu.store.cpu import cpu_of_parts
from ddu.store.metric_columns import flow_values, run_values
from ddu.store.traces import cc_samples
from ddu.tables.mac import LINK_COLUMNS, mac_on_bins

_TABLES = ("aligned", "mac", "cc", "radio_events")
_NO_TRAFFIC = ("failed", "interrupted")


@dataclass
class Contents:
    """The rows of a run by table of the store, without `run_id`, which the store assigns."""

    run: dict[str, Any]
    experiment: dict[str, Any]
    digest: str
    flows: list[dict[str, Any]] = field(default_factory=list)
    parts: dict[str, float] = field(default_factory=dict)
    series: dict[str, pd.DataFrame] = field(default_factory=dict)


def contents_of(path: Path) -> Contents:
    """Return everything that is published of the run at `path`, which is analysed if it was not
    yet.

    A run that failed has a row that says why, and nothing else. Raises RefusedError.
    """
    path = from_root(path)
    manifest = read_manifest(path)
    if manifest.status == "running":
        raise StoreRefused(
            "this run has not ended",
            "publish it while it runs with `ddu publish --live`",
            file=path,
        )
    rows = manifest_row(manifest, path)
    contents = Contents(rows, experiment_of(manifest), "")
    files = [path / "run.json"]
    try:
        run = Run(path)
        summary = run.summary
        tables = {name: run.table(name) for name in _TABLES if _table_file(path, name).exists()}
    except FailedRun as error:
        rows["failure"] = rows["failure"] or str(error)
    except RefusedError as error:
        # It was cut short: what it recorded may be too little to analyse.
        if manifest.status not in _NO_TRAFFIC:
            raise
        rows["failure"] = rows["failure"] or str(error)
    else:
        if "aligned" not in tables:
            raise StoreRefused(
                "no tables/aligned.parquet", "type: ddu analyze " + str(path), file=path
            )
        files += [path / "summary.json", *(_table_file(path, name) for name in tables)]
        _fill(contents, run, summary, tables)
    contents.digest = _digest(files)
    return contents


def stored_name(text: str) -> str:
    """Return the name in the store of the run in directory `text`, if it is one; else `text`."""
    path = from_root(Path(text))
    return run_name(read_manifest(path), path) if (path / "run.json").is_file() else text


def from_root(path: Path) -> Path:
    """Return the path without `.` and `..`, by which campaign and cell are known; links stay."""
    return Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)


def manifest_row(manifest: Manifest, path: Path) -> dict[str, Any]:
    """Return the columns of `run` that run.json alone fills; they are known while it runs."""
    experiment = manifest.experiment
    extra = experiment.model_extra or {}
    ccs = experiment.cc or ",".join(dict.fromkeys(flow.cc for flow in manifest.flows))
    failure = manifest.failure
    return {
        "name": _clean(run_name(manifest, path)),
        "campaign": _clean(campaign_of(path) or "(none)"),
        "directory": _clean(str(path)),
        "status": manifest.status,
        "failure": _clean(f"{failure.stage}: {failure.reason}") if failure else None,
        "verdict": manifest.verdict,
        "verdict_reasons": [_clean(reason) for reason in manifest.verdict_reasons],
        "cc": _clean(ccs) or "(none)",
        "direction": experiment.direction,
        "prb": experiment.prb,
        "radio": _clean(described(experiment)),
        "scenario": _clean(Path(experiment.scenario).stem) if experiment.scenario else "(none)",
        "testbed": _clean(str(extra.get("testbed") or "(none)")),
        "seed": extra.get("seed") if isinstance(extra.get("seed"), int) else None,
        "started": _instant(manifest.time.start_utc_ns),
        "levels": _clean(levels_of(path)),
        "manifest": _clean(manifest.model_dump(mode="json")),
    }


def experiment_of(manifest: Manifest) -> dict[str, Any]:
    """Return the experiment without its seed: repetitions share one."""
    resolved: dict[str, Any] = manifest.experiment.model_dump(mode="json")
    resolved.pop("seed", None)
    cleaned: dict[str, Any] = _clean(resolved)
    return cleaned


def run_name(manifest: Manifest, path: Path) -> str:
    """Return the run's name, after campaign and cell if it belongs to one: two workers can begin
    runs of the same name."""
    campaign = campaign_of(path)
    return f"{campaign}/{path.parent.name}/{manifest.run}" if campaign else manifest.run


def campaign_of(path: Path) -> str | None:
    """Return the campaign whose directory (docs/campaigns.md) this run directory is in, by name and
    profile. Raises RefusedError for a damaged one."""
    directory = path.absolute().parents[2] if len(path.absolute().parts) > 3 else path
    if not (directory / "campaign.json").exists():
        return None
    return read_definition(directory)[0].full_name


def levels_of(path: Path) -> dict[str, str] | None:
    """Return what the run's campaign varies, each with its value in this run; None: no campaign.

    Raises RefusedError for a damaged cell.json.
    """
    file = path.absolute().parent / "cell.json"
    return read_levels(file) if file.exists() else None


def _fill(
    contents: Contents, run: Run, summary: dict[str, Any], tables: dict[str, pd.DataFrame]
) -> None:
    aligned = tables["aligned"]
    flows = {flow["id"]: index for index, flow in enumerate(summary["flows"])}
    bins = _bins(aligned, summary, run.path)
    contents.run |= _numbers(summary, bins)
    contents.flows = [_flow(index, flow) for index, flow in enumerate(summary["flows"])]
    contents.parts = cpu_of_parts(run.path / "raw", [flow["id"] for flow in summary["flows"]])
    series = contents.series
    series["transport_sample"] = aligned.assign(flow_id=aligned["flow"].map(flows))
    first = aligned[aligned["flow"] == aligned["flow"].iloc[0]]
    if any(column in first for column in LINK_COLUMNS.values()):
        series["trust_sample"] = first
    if "mac" in tables:
        series["radio_sample"] = _radio(tables["mac"], bins)
    if "radio_events" in tables:
        series["radio_event"] = tables["radio_events"]
    if "cc" in tables:
        series["cc_sample"] = cc_samples(tables["cc"], run.manifest, flows)


def _bins(aligned: pd.DataFrame, summary: dict[str, Any], path: Path) -> Bins:
    if not len(aligned):
        raise UnreadableInput(path / "tables" / "aligned.parquet", "no rows", "`ddu analyze` again")
    starts = aligned["utc_ns"]
    return Bins.covering(int(starts.min()), int(starts.max()), round(summary["bin_ms"] * 1e6))


def _radio(mac: pd.DataFrame, bins: Bins) -> pd.DataFrame:
    per_ue = []
    for ue, rows in mac.groupby("ue"):
        table = mac_on_bins(rows, bins)
        table.insert(0, "ue", int(str(ue).partition(".")[0]))
        table.insert(1, "utc_ns", bins.edges_utc_ns[:-1])
        table.insert(2, "t_s", (bins.edges_utc_ns[:-1] - bins.start_utc_ns) / 1e9)
        per_ue.append(table)
    return pd.concat(per_ue, ignore_index=True)


def _numbers(summary: dict[str, Any], bins: Bins) -> dict[str, Any]:
    return {
        **run_values(summary),
        "bin_ms": summary["bin_ms"],
        "verdict": summary["verdict"],
        "verdict_reasons": [_clean(reason) for reason in summary["verdict_reasons"]],
        "start_utc_ns": bins.start_utc_ns,
        "started": _instant(bins.start_utc_ns),
        "summary": _clean(summary),
    }


def _flow(index: int, flow: dict[str, Any]) -> dict[str, Any]:
    return {
        "flow_id": index,
        "flow": _clean(flow["id"]),
        "cc": _clean(flow["cc"]),
        "direction": flow["direction"],
        **flow_values(flow),
    }


def _instant(utc_ns: int | None) -> datetime | None:
    if utc_ns is None:
        return None
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=utc_ns // 1000)


def _table_file(path: Path, name: str) -> Path:
    return path / "tables" / f"{name}.parquet"


def _digest(files: list[Path]) -> str:
    """Return a digest of all files: the same digest is the same content."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _clean(value: Any) -> Any:
    """Replace by U+FFFD what PostgreSQL's text cannot hold: NUL and single surrogates."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, float) and value != value:
        return None
    return value
