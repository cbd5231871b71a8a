# SPDX-License-Identifier: Apache-2.0
"""What is in a foreign folder: which files belong to one run, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ddu.errors import DduError
from ddu.readers.android.drive_test import read_drive_test
from ddu.readers.android.log import read_phone_log
from ddu.readers.hercules import version_of
from ddu.readers.logs import LogTable
from ddu.readers.oai.mac import read_mac_log
from ddu.readers.oai.o1 import read_o1_log
from ddu.readers.oai.statistics import read_l1_log, read_rrc_log
from ddu.readers.oai.ue import read_ue_log
from ddu.readers.ran_csv import read_ran_csv
from ddu.readers.ss import read_ss
from testbed_console.android_bugreport import ZIP_NAME, is_bugreport

_SERVER_WORDS = ("core", "server", "upf", "ext-dn", "dn_")
_UE_WORDS = ("ue_", "ue.", "ue1", "client", "phone")
_CAPTURES = (".pcap", ".pcapng", ".cap")
_TEXT = (".cc", ".txt", ".log", ".csv", ".ss", ".jsonl")
_OAI: tuple[tuple[str, Callable[[Path], LogTable]], ...] = (
    ("nrL1_stats.log", read_l1_log), ("nrRRC_stats.log", read_rrc_log),
    ("ue{}-stdout.log", read_ue_log), ("o1-stats.jsonl", read_o1_log),
)  # fmt: skip
_MOST_BYTES_OF_TEXT = 200_000_000


@dataclass
class FoundRun:
    """The files of one run. `captures` by host: server, ue, or one that is not known."""

    name: str
    captures: dict[str, Path] = field(default_factory=dict)
    unplaced: list[Path] = field(default_factory=list)
    """Captures whose names do not tell their host."""
    sockets: Path | None = None
    mac: tuple[str, Path] | None = None
    """The form, as run.json's `mac.source` names it, and the file."""
    iperf3: list[Path] = field(default_factory=list)
    series: Path | None = None
    """Hercules's folder of CSV."""
    oai: dict[str, Path] = field(default_factory=dict)
    """OpenAirInterface's other logs, by the name that docs/run-directory.md gives them."""
    other: list[Path] = field(default_factory=list)


def survey(folder: Path) -> list[FoundRun]:
    """The runs in a folder, by the repeat that their files' names tell; one, if they tell none.

    Raises DduError when the folder is missing or holds no capture.
    """
    if not folder.is_dir():
        raise DduError(f"{folder}: no such directory; name the folder that holds the captures")
    files = sorted(item for item in folder.iterdir() if not item.name.startswith("."))
    runs: dict[str, FoundRun] = {}
    versions = {version_of(item.name) for item in files if _is_capture(item)} - {None}
    for item in files:
        version = version_of(item.name) if len(versions) > 1 or versions == {"1"} else None
        if versions and version is None and len(versions) > 1:
            continue  # of the whole folder, as ci_throughput_delay.csv is
        _place(runs.setdefault(version or "", FoundRun(version or "")), item)
    found = [run for run in runs.values() if run.captures or run.unplaced]
    if not found:
        raise DduError(
            f"{folder}: no capture in it (.pcap, .pcapng, also .gz, .zst or .tar.gz); without one "
            "there is no traffic to analyse"
        )
    return sorted(found, key=lambda run: (len(run.name), run.name))


def _is_capture(file: Path) -> bool:
    return any(f"{suffix}." in f"{file.name}." for suffix in _CAPTURES)


def _place(run: FoundRun, item: Path) -> None:
    if item.is_dir():
        if item.name.startswith("csv_data"):
            run.series = item
        return
    if _is_capture(item):
        host = _host(item.name)
        if host is None or host in run.captures:
            run.unplaced.append(item)
        else:
            run.captures[host] = item
    elif item.suffix == ".json":
        run.iperf3.append(item)
    elif run.mac is None and (ZIP_NAME.match(item.name) or is_bugreport(item)):
        _place_bugreport(run, item)
    elif item.suffix in _TEXT and item.stat().st_size < _MOST_BYTES_OF_TEXT:
        _place_text(run, item)
    else:
        run.other.append(item)


def _place_bugreport(run: FoundRun, item: Path) -> None:
    """One that is named so and is none, or is damaged, is an error: nobody else would tell."""
    try:
        read_phone_log(item)
    except DduError:
        if ZIP_NAME.match(item.name):
            raise
        run.other.append(item)
    else:
        run.mac = ("phone", item)


def _place_text(run: FoundRun, item: Path) -> None:
    if run.sockets is None and _is(read_ss, item):
        run.sockets = item
    elif run.mac is None and _is(read_mac_log, item):
        run.mac = ("oai", item)
    elif run.mac is None and _is(read_drive_test, item):
        run.mac = ("drive-test", item)
    elif run.mac is None and _is(read_ran_csv, item):
        run.mac = ("xapp", item)
    elif run.mac is None and _is(read_phone_log, item):
        run.mac = ("phone", item)
    elif name := _name_in_oai(run, item):
        run.oai[name] = item
    else:
        run.other.append(item)


def _name_in_oai(run: FoundRun, item: Path) -> str | None:
    """What docs/run-directory.md calls this log; None: it is another, or there is one already."""
    form = next((each for each, read in _OAI if _is(read, item)), "")
    name = form.format(sum(each.startswith("ue") for each in run.oai))
    return name if name and name not in run.oai else None


def _is(read: Callable[[Path], LogTable], file: Path) -> bool:
    try:
        read(file)
    except DduError:
        return False
    return True


def _host(name: str) -> str | None:
    lowered = name.lower()
    server = any(word in lowered for word in _SERVER_WORDS)
    ue = lowered.startswith(_UE_WORDS) or any(f"_{word}" in lowered for word in _UE_WORDS)
    if server == ue:
        return None
    return "server" if server else "ue"
