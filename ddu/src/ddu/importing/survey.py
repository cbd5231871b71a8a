# SPDX-License-Identifier: Apache-2.0
"""The files of a foreign folder by run, and what each of them is."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path

from ddu.console.input_file import need_printable, need_regular
from ddu.console.problems import NOWHERE, RefusedError, refusal
from ddu.errors import UnreadableInput
from ddu.readers.android.bugreport_text import ZIP_NAME
from ddu.readers.format import Format
from ddu.readers.formats import read_log
from ddu.readers.hercules import version_of
from ddu.readers.mac_nr import HEAD_BYTES, is_mac_nr

_SERVER_WORDS = ("core", "server", "upf", "ext-dn", "dn_")
_UE_WORDS = ("ue_", "ue.", "ue1", "client", "phone")
_CAPTURES = (".pcap", ".pcapng", ".cap")
_BESIDE_CAPTURES = (".md5", ".sha1", ".sha256", ".sha512", ".asc", ".sig", ".txt", ".json")
"""Endings of what is about a capture: sums, signatures, notes."""
_DOCUMENTS = (".md", ".yaml", ".yml", ".html", ".pdf", ".py", ".sh")
"""Documents, which may quote a log."""
_SERIES = "csv_data"
_MOST_FILES = 10_000
_MOST_BYTES_OF_LOG = 200_000_000
_RESULTS_OF_HERCULES = ("ci_throughput_delay.csv",)
"""Its results of a whole folder, which are computed again."""


@dataclass
class FoundRun:
    """The files of one run; `captures` by host (server, ue)."""

    name: str
    captures: dict[str, Path] = field(default_factory=dict)
    unplaced: list[Path] = field(default_factory=list)
    """Captures whose names do not name their host."""
    sockets: tuple[Format, Path] | None = None
    mac: tuple[Format, Path] | None = None
    iperf3: list[Path] = field(default_factory=list)
    series: Path | None = None
    """Hercules's folder of CSV."""
    tables: dict[str, Path] = field(default_factory=dict)
    """Logs that become a table of their own, by their place under raw/."""
    other: list[Path] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Sentences about logs that no format reads; they are in `other`, too."""

    @property
    def files(self) -> list[Path]:
        """Return all that is copied."""
        logs = [one[1] for one in (self.sockets, self.mac) if one]
        series = files_of(self.series) if self.series else []
        return [*self.captures.values(), *logs, *self.iperf3, *series, *self.tables.values(),
                *self.other]  # fmt: skip


def survey(folder: Path) -> list[FoundRun]:
    """Return the runs in a folder, by the repeat that the files' names state; one, if none do.

    Raises RefusedError when the folder is missing or holds no capture, and for a CSV of no known
    format.
    """
    if not folder.is_dir():
        raise refusal("no such directory", "name the folder that holds the captures", file=folder)
    files = files_of(folder)
    runs: dict[str, FoundRun] = {}
    left_out: list[str] = []
    versions = {version_of(item.name) for item in files if _is_capture(item)} - {None}
    for item in files:
        version = version_of(item.name) if len(versions) > 1 or versions == {"1"} else None
        if version is None and len(versions) > 1:
            if item.name not in _RESULTS_OF_HERCULES:
                left_out.append(f"{item.name}: left out: its name states no repeat.")
            continue
        _place(runs.setdefault(version or "", FoundRun(version or "")), item)
    for run in runs.values():
        run.unknown += left_out
    surveyed = [run for run in runs.values() if run.captures or run.unplaced]
    if not surveyed:
        raise refusal(
            "no capture in it (.pcap, .pcapng, also .gz, .zst or .tar.gz)",
            "add the capture of the traffic",
            file=folder,
        )
    return sorted(surveyed, key=lambda run: (len(run.name), run.name))


def files_of(folder: Path) -> list[Path]:
    """Return what is in the folder, hidden files left out. Raises RefusedError for what is neither
    a folder nor a regular file, such as a link, and for names that no one can write."""
    files = sorted(item for item in folder.iterdir() if not item.name.startswith("."))
    if len(files) > _MOST_FILES:
        rule = f"has {len(files)} files, more than {_MOST_FILES}"
        raise refusal(rule, "name the folder of one measurement", file=folder)
    for item in files:
        need_printable(item.name, item)
        if not stat.S_ISDIR(item.lstat().st_mode):
            regular_size(item, links=False)
        elif item.name.startswith(_SERIES):
            files_of(item)
    return files


def regular_size(file: Path, *, links: bool = True) -> int:
    """Return the bytes of a regular file. Raises UnreadableInput for anything else."""
    try:
        return need_regular(file, links=links).st_size
    except OSError as error:
        fix = "give a regular file, or move it out of the folder"
        raise UnreadableInput(file, error.strerror or str(error), fix) from None


def _is_capture(file: Path) -> bool:
    """Whether it is one of packets; transport blocks are a log of the MAC."""
    if file.suffix.lower() in _BESIDE_CAPTURES:
        return False
    if not file.is_file() or not any(f"{end}." in f"{file.name}." for end in _CAPTURES):
        return False
    with file.open("rb") as content:
        return not is_mac_nr(content.read(HEAD_BYTES))


def _place(run: FoundRun, item: Path) -> None:
    if item.is_dir():
        if item.name.startswith(_SERIES):
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
    elif item.suffix in _DOCUMENTS or item.stat().st_size >= _MOST_BYTES_OF_LOG:
        run.other.append(item)
    else:
        _place_log(run, item)


def _place_log(run: FoundRun, item: Path) -> None:
    """Place a log by its format, the first of a kind; any other text is only copied, and reported.

    A CSV is a measurement, and the name of a bugreport says what it is: one that cannot be read is
    an error.
    """
    is_csv = item.suffix.lower() == ".csv" and item.name not in _RESULTS_OF_HERCULES
    try:
        log = read_log(item)
    except RefusedError as error:
        if is_csv or ZIP_NAME.match(item.name):
            raise
        log = None
        run.unknown += [str(problem.at(NOWHERE)) for problem in error.problems]
        run.unknown[-1] = f"{item.name}: only copied: {run.unknown[-1]}"
    else:
        if log is None and is_csv:
            raise UnreadableInput(
                item,
                "a CSV of unknown format; expected the columns of an xApp of FlexRIC or KPM, of a "
                "drive-test app, or of Hercules (docs/log-sources.md)",
                "correct its header, or move it out of the folder",
                line=1,
            )
        if log is None:
            run.unknown.append(f"{item.name}: only copied: its format is unknown.")
    form = log[0] if log else None
    if form is not None and form.holds == "sockets" and run.sockets is None:
        run.sockets = (form, item)
    elif form is not None and form.holds == "mac" and run.mac is None:
        run.mac = (form, item)
    elif form is not None and (place := _free_place(run, form)):
        run.tables[place] = item
    else:
        run.other.append(item)


def _free_place(run: FoundRun, form: Format) -> str | None:
    head = form.file.partition("{}")[0]
    place = form.file.format(sum(each.startswith(head) for each in run.tables))
    return place if place and place not in run.tables else None


def _host(name: str) -> str | None:
    lowered = name.lower()
    server = any(word in lowered for word in _SERVER_WORDS)
    ue = lowered.startswith(_UE_WORDS) or any(f"_{word}" in lowered for word in _UE_WORDS)
    if server == ue:
        return None
    return "server" if server else "ue"
