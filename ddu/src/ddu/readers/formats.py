# SPDX-License-Identifier: Apache-2.0
"""The registry of log formats, which describe, import and analyze share."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from ddu.console.extensions import extensions
from ddu.console.problems import RefusedError
from ddu.errors import UnreadableInput, UnusablePackage
from ddu.readers.format import Format
from ddu.readers.logs import LogTable, content_of
from ddu.readers.pasted import undressed

_MODULES = (
    "oai.mac", "oai.statistics", "ss", "android.drive_test", "ran_csv", "oai.ue", "android.log",
    "oai.o1", "hercules", "qlog", "radio_channel", "mac_nr",
)  # fmt: skip
"""In the order in which a file is tried: the first format that can read it has it."""


@cache
def formats() -> tuple[Format, ...]:
    """Every known format: our own, then those of other packages. Raises UnusablePackage."""
    known = [each for name in _MODULES for each in import_module(f"ddu.readers.{name}").FORMATS]
    for declared in extensions("ddu.formats").values():
        known += declared
    names = [each.name for each in known]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UnusablePackage(
            f"log format {', '.join(twice)}: declared more than once",
            "give the format of the other package a name of its own, or uninstall it",
        )
    return tuple(known)


def format_of(log: LogTable) -> Format:
    """Return the format that `kind` names. Raises KeyError."""
    return {each.name: each for each in formats()}[log.kind]


def formats_holding(holds: str) -> list[Format]:
    """Return the formats of the MAC (`mac`), of sockets, or with a table of their own (`table`)."""
    return [each for each in formats() if each.holds == holds]


def read_source(file: Path, holds: str, source: str) -> LogTable:
    """Read a log of the source that run.json names. Raises UnreadableInput."""
    for each in formats_holding(holds):
        if each.source == source:
            return each.read(file)
    known = ", ".join(sorted({each.source for each in formats_holding(holds)}))
    raise UnreadableInput(
        file, f"run.json names the unknown source {source}", f"choose one of: {known}"
    )


def recognised(file: Path) -> list[Format]:
    """Return the formats that the file may have. Raises UnreadableInput."""
    content = undressed(content_of(file))
    return [each for each in formats() if each.recognise(file, content)]


def read_log(file: Path) -> tuple[Format, LogTable] | None:
    """Read a log of any format; None if it has none of them.

    Raises UnreadableInput when the file cannot be read, or when every format that recognises the
    file fails: the first one's error.
    """
    errors = []
    for each in recognised(file):
        try:
            log = each.read(file)
        except RefusedError as error:
            errors.append(error)
        else:
            return format_of(log), log
    if errors:
        raise errors[0]
    return None
