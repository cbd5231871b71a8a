# SPDX-License-Identifier: Apache-2.0
"""Logs of an Android phone: raw/phone/radio.txt, a saved `dumpsys`, or a bugreport.

A line of `### ` and seconds since 1970, or these seconds alone (`date +%s.%N`), stamps what
follows; a line `## name` begins a section of it (net, battery, thermal, power; else the registry).
The last reading of a stamped log counts only when another stamp ends it: a file may be cut
anywhere, and half a dump could be another SIM's. A dump without any stamp is one reading.
A bugreport gives a reading of each change in it (ddu.readers.android.bugreport).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from ddu.errors import UnreadableInput
from ddu.readers.android.bugreport import read_bugreport
from ddu.readers.android.bugreport_text import is_bugreport
from ddu.readers.android.events import events_of, fell_back
from ddu.readers.android.reading import PHONE_CLOCK, REGISTRY, Reading, of_bugreport
from ddu.readers.android.registry import Subscriptions, is_registry, registry_of
from ddu.readers.android.state import SECTIONS
from ddu.readers.fields import Values
from ddu.readers.format import Format
from ddu.readers.logs import LogTable, content_of, table_of, whole_lines
from ddu.readers.timestamps import unix_ns

KIND = "android-phone"
_FIRST = ("utc_ns", "ue", "mac_rnti", "mac_in_sync", "mac_technology")
STAMP = re.compile(r"^(?:### ?)?(\d{9,10})(?:\.(\d{1,9}))?\s*$")
_SECTION = re.compile(r"^## (\w+)(?: (.*))?$")
_SELDOM = (
    "phone_battery_ratio",
    "phone_battery_temperature_c",
    "phone_cpu_temperature_c",
    "phone_skin_temperature_c",
    "phone_thermal_status",
    "phone_screen_on",
    "phone_log_cpu_s",
    "phone_services_cpu_s",
)


def read_phone_log(file: Path) -> LogTable:
    """Return one row per reading. What is read seldom (battery, temperatures, screen)
    stays in force.

    Raises UnreadableInput when the file cannot be read or holds no reading of a phone.
    """
    subscriptions = Subscriptions()
    rows: list[Values] = []
    notes: list[str] = []
    truncated_at = None
    if is_bugreport(file):
        readings = iter(of_bugreport(read_bugreport(file), subscriptions, notes))
    else:
        text, truncated_at = whole_lines(content_of(file))
        readings = _readings(_registry_dump(text), notes)
    seldom: Values = {}
    empty = known_readings = 0
    for reading in readings:
        values, extra = _values(reading, subscriptions)
        seldom |= {name: values[name] for name in _SELDOM if name in values}
        known_readings += bool(values)
        if not values and not extra:
            empty += 1
            continue
        row: Values = {"ue": 0, **seldom, **values}
        if reading.utc_ns is not None:
            row["utc_ns"] = reading.utc_ns
        rows.append(row | ({"extra": extra} if extra else {}))
    if not known_readings:
        raise UnreadableInput(
            file,
            "no reading of an Android phone in it",
            "is it the output of `dumpsys telephony.registry`?",
        )
    if empty:
        notes.append(f"{empty} readings have no known content")
    notes += _back_in_time(rows)
    return LogTable(file, KIND, table_of(rows, _FIRST), "", truncated_at, tuple(notes))


def _registry_dump(text: str) -> str:
    """Return the registry's part of the dump of all services; any other text as it is."""
    begin = text.find("\nDUMP OF SERVICE telephony.registry:")
    if begin < 0:
        return text
    end = text.find("\nDUMP OF SERVICE ", begin + 1)
    return text[begin:end] if end > 0 else text[begin:]


def _readings(text: str, notes: list[str]) -> Iterator[Reading]:
    current: Reading | None = None
    stamped = False
    section = REGISTRY
    for line in text.splitlines():
        if match := STAMP.match(line):
            if current is not None:
                yield current
            current = Reading(unix_ns(match[1], match[2]))
            section, stamped = REGISTRY, True
            continue
        if current is None:
            if not line.strip():
                continue
            current = Reading(None)
        if match := _SECTION.match(line):
            section = match[1]
            if match[2]:
                current.sections.setdefault(section, []).append(match[2])
            elif section == "end":
                yield current
                current = None
            continue
        current.sections.setdefault(section, []).append(line)
    if current is not None and not stamped:
        yield current
    elif current is not None and current.sections:
        notes.append("the last reading is not read: nothing shows that it is whole")


def _values(reading: Reading, subscriptions: Subscriptions) -> tuple[Values, str]:
    """Return the columns of a reading, and as text what has no column."""
    values: Values = {}
    extra: list[str] = []
    for name, lines in reading.sections.items():
        text = "\n".join(lines)
        if name == REGISTRY:
            if is_registry(text):
                registered, rest = registry_of(text, subscriptions)
                values |= registered
                extra += [rest] if rest else []
            elif text.strip() and not values:
                extra.append(_first_words(text))
        elif name in SECTIONS:
            values |= SECTIONS[name](text)
        elif name == "subscription":
            if text.strip().isdigit():
                subscriptions.of_user(int(text.strip()))
        elif name not in ("end", "polling"):
            extra.append(f"{name}: {_first_words(text)}")
    return values, "; ".join(extra)


def _first_words(text: str) -> str:
    return " ".join(text.split())[:200]


def _back_in_time(rows: list[Values]) -> Iterator[str]:
    stamps = [row["utc_ns"] for row in rows if "utc_ns" in row]
    back = sum(int(str(later)) < int(str(before)) for before, later in pairwise(stamps))
    if back:
        yield f"the phone's clock was set back {back} times"


def _is_phone_log(file: Path, content: bytes) -> bool:
    return is_bugreport(file) or _SIGN.search(content) is not None


_SIGN = re.compile(
    rb"mSignalStrength|mServiceState|mCellInfo|mPhysicalChannelConfigs|Phone Id|^## \w",
    re.MULTILINE,
)  # fmt: skip
FORMATS = (
    Format(
        KIND, _is_phone_log, read_phone_log, PHONE_CLOCK, "mac", source="phone",
        events=events_of, warning=fell_back,
    ),
)  # fmt: skip
