# SPDX-License-Identifier: Apache-2.0
"""The import of a foreign folder as run directories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from ddu.console.input_file import need_printable
from ddu.console.machine_errors import FIXES
from ddu.console.problems import RefusedError, refusal
from ddu.errors import UnreadableInput, unwritable
from ddu.importing.copying import copied, copy_capture, need_space
from ddu.importing.flows import data_flows, manifest_flows
from ddu.importing.survey import FoundRun, survey
from ddu.readers.hercules import faults_of_series
from ddu.readers.packets.native.stream import PacketStream
from ddu.run.durable import rename_durably, sync_tree, temporary_folder
from ddu.run.integrity import described, regular_files
from ddu.run.manifest import write_manifest


@dataclass(frozen=True)
class Imported:
    """A run directory that was made, and the faults of its sources."""

    path: Path
    faults: list[str]


def import_folder(
    folder: Path,
    runs: Path,
    direction: str | None = None,
    hosts: dict[str, Path] | None = None,
    one_clock: bool = False,
) -> list[Imported]:
    """Make a run directory under `runs` for each run in `folder`, whose files are only read.

    `direction` and `hosts` (captures by host) are needed where the names do not state them.
    `one_clock`: one machine stamped both captures; else the offset of their clocks is estimated
    from the packets when a run is analysed. Each directory is made whole or not at all.
    Raises RefusedError, naming what is missing.
    """
    runs_there = survey(folder)
    if hosts:
        named = {host: file.resolve() for host, file in hosts.items()}
        runs_there[0].captures |= named
        left = (f for f in runs_there[0].unplaced if f.resolve() not in named.values())
        runs_there[0].unplaced = list(left)
    need_printable(folder.resolve().name, folder.resolve())
    direction = direction or direction_of(folder.resolve().name, runs_there)
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno not in FIXES:
            rule = f"cannot be made ({error.strerror})"
            raise UnreadableInput(runs, rule, "give --runs") from None
        raise unwritable(runs, "cannot be made", error) from None
    need_space((file for run in runs_there for file in run.files), runs)
    return [_import_one(folder.resolve(), run, runs, direction, one_clock) for run in runs_there]


def direction_of(folder: str, runs: list[FoundRun]) -> str:
    """Return the direction in the names. Raises RefusedError when they state none, or both."""
    names = [folder, *(file.name for run in runs for file in run.captures.values())]
    written = [re.findall(r"(?<![A-Za-z])(DL|UL)(?![a-z])", name) for name in names]
    named = sorted({str(word).lower() for words in written for word in words})
    if len(named) != 1:
        raise refusal(
            "the direction of the data is not in its names",
            "add --direction dl (to the UE) or ul",
            file=folder,
        )
    return named[0]


def _import_one(
    folder: Path, source: FoundRun, runs: Path, direction: str, one_clock: bool
) -> Imported:
    if source.unplaced and len(source.captures) < 2:
        names = ", ".join(file.name for file in source.unplaced)
        raise refusal(
            f"{names}: the host of the capture is not in its name",
            "add --server FILE and --ue FILE",
            file=folder,
        )
    try:
        with temporary_folder(runs, ".import-") as made:
            manifest, faults = _fill(made, folder, source, direction)
            if not one_clock:
                manifest["time"] |= {"offset_ns": None, "offset_uncertainty_ns": None}
            write_manifest(made, manifest, described(made, regular_files(made / "raw")))
            target = _free(runs / manifest["run"])
            made.chmod(0o755)
            sync_tree(made)
            rename_durably(made, target)
    except OSError as error:
        raise unwritable(runs, "cannot be written", error) from error
    return Imported(target, faults)


def _fill(
    made: Path, folder: Path, source: FoundRun, direction: str
) -> tuple[dict[str, Any], list[str]]:
    raw = made / "raw"
    raw.mkdir()
    roles = {"server": "sender", "ue": "receiver"}
    if direction == "ul":
        roles = {"server": "receiver", "ue": "sender"}
    captures = []
    for host, file in source.captures.items():
        name = copy_capture(file, raw, roles[host])
        with _as_named(file):
            _check_capture(raw / name)
        captures.append({"host": host, "role": roles[host], "file": f"raw/{name}"})
    sender = next((c for c in captures if c["role"] == "sender"), captures[0])
    with _as_named(source.captures[sender["host"]]):
        flows = data_flows(made / sender["file"])
    samples = _samples(source)
    name = f"{folder.name} {' '.join(file.name for file in source.captures.values())}"
    entries = manifest_flows(flows, direction, samples, name)
    first, last = int(flows["first_utc_ns"].min()), int(flows["last_utc_ns"].max())
    faults = list(_faults(source, captures, len(entries), samples))
    manifest = {
        "schema_version": 1,
        "run": _name(folder.name, source.name, first),
        "status": "finished",
        "failure": None,
        "experiment": _experiment(folder.name, entries, direction),
        "hosts": {},
        "flows": entries,
        "captures": captures,
        "sockets": _sockets(source, raw, samples, "server" if direction == "dl" else "ue"),
        "mac": _mac(source, raw),
        "time": {"traffic_start_utc_ns": first, "traffic_stop_utc_ns": last} | _clocks(source),
        "verdict": "valid",
        "verdict_reasons": [],
        "import": {"from": folder.name, "faults": faults},
    }
    for name, file in source.tables.items():
        (raw / name).parent.mkdir(parents=True, exist_ok=True)
        copied(file, raw / name)
    for file in (*source.iperf3, *source.other):
        _copied(file, raw / "foreign")
    return manifest, faults


@contextmanager
def _as_named(original: Path) -> Iterator[None]:
    """Name in refusals the file that the user has, not its copy."""
    try:
        yield
    except RefusedError as error:
        raise RefusedError(
            one.at(replace(one.where, file=str(original))) for one in error.problems
        ) from None


def _check_capture(file: Path) -> None:
    """Raise UnreadableInput unless it is a capture with packets, one that is cut off included."""
    if not sum(batch.num_rows for batch in PacketStream(file, columns=["utc_ns"])):
        raise UnreadableInput(
            file,
            "a capture without IP packets",
            "give one of the traffic, or move it out of the folder to import the other side alone",
        )


def _clocks(source: FoundRun) -> dict[str, None]:
    """A phone has a clock of its own, whose offset nobody measured."""
    if source.mac is None or source.mac[0].clock.host is None:
        return {}
    return {"offset_ns": None, "offset_uncertainty_ns": None}


def _faults(
    source: FoundRun, captures: list[dict[str, Any]], flows: int, samples: pd.DataFrame | None
) -> list[str]:
    faults = []
    if len(captures) == 1:
        other = "receiver" if captures[0]["role"] == "sender" else "sender"
        faults.append(f"There is no capture of the {other}'s side.")
    faults += [
        f"{file.name}: left out: captures of both hosts are there already."
        for file in source.unplaced
    ]
    faults += source.unknown
    if samples is not None and source.sockets is not None and samples["utc_ns"].isna().all():
        faults.append(
            f"{source.sockets[1].name}: its times have no date and no zone; they are found by the "
            "capture's when the run is analysed."
        )
    if source.series is not None:
        faults += faults_of_series(source.series, flows)
    return faults


def _samples(source: FoundRun) -> pd.DataFrame | None:
    if source.sockets is None:
        return None
    form, file = source.sockets
    return form.read(file).table


def _sockets(
    source: FoundRun, raw: Path, samples: pd.DataFrame | None, host: str
) -> list[dict[str, Any]]:
    if source.sockets is None or samples is None:
        return []
    form, original = source.sockets
    entry = {"host": host, "file": _copied(original, raw), "source": form.source}
    for column in ("utc_ns", "local_ns", "of_day_ns"):
        at = samples.drop_duplicates("sample")[column].dropna()
        # Stamps of whole seconds repeat: what counts is the step between different ones.
        at = at.astype("int64").drop_duplicates()
        if len(at) > 1:
            return [entry | {"interval_ms": float(at.diff().median()) / 1e6}]
    return [entry]


def _mac(source: FoundRun, raw: Path) -> dict[str, str] | None:
    if source.mac is not None:
        form, file = source.mac
        return {"file": _copied(file, raw), "source": form.source}
    if source.series is None:
        return None
    for file in sorted(source.series.iterdir()):
        _copied(file, raw / "hercules")
    wireless = raw / "hercules" / "wireless_data.csv"
    if not wireless.exists():
        return None
    return {"file": "raw/hercules/wireless_data.csv", "source": "hercules"}


def _experiment(name: str, flows: list[dict[str, Any]], direction: str) -> dict[str, Any]:
    prb = re.search(r"(?<!\d)(\d{2,3})prb", name.lower())
    return {
        "cc": ",".join(dict.fromkeys(flow["cc"] for flow in flows)),
        "direction": direction,
        "prb": int(prb[1]) if prb else None,
        "scenario": name,
    }


def _copied(file: Path, directory: Path) -> str:
    directory.mkdir(exist_ok=True)
    copied(file, directory / file.name)
    return str((directory / file.name).relative_to(_run_of(directory)))


def _run_of(directory: Path) -> Path:
    return directory.parent if directory.name == "raw" else directory.parent.parent


def _name(folder: str, version: str, first_utc_ns: int) -> str:
    at = datetime.fromtimestamp(first_utc_ns / 1e9, timezone.utc)
    repeat = f"-v{version}" if version else ""
    return f"{at:%Y%m%dT%H%M%SZ}-{folder}{repeat}"


def _free(path: Path) -> Path:
    if path.exists():
        raise refusal("exists already", "move it away to import the run again", file=path)
    return path
