# SPDX-License-Identifier: Apache-2.0
"""One reading of a phone, and a bugreport as readings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ddu.readers.android.bugreport import Bugreport
from ddu.readers.android.registry import Subscriptions, data_phone_in
from ddu.readers.format import LogClock

PHONE_CLOCK = LogClock(
    "time before each reading, less the phone's offset in run.json",
    uncertainty_ns=100_000_000,
    host="ue",
    source="the phone's clock",
)
"""A phone takes some 30 ms for a reading, and 100 ms at most."""
REGISTRY = "registry"
"""The section that has the dump of telephony.registry."""


@dataclass
class Reading:
    """The dump of a phone at an instant, by section; None where the time is not known."""

    utc_ns: int | None
    sections: dict[str, list[str]] = field(default_factory=dict)


def of_bugreport(report: Bugreport, known: Subscriptions, notes: list[str]) -> list[Reading]:
    """Return readings before and after each change of the SIM that carries data, and of each dump.

    A report is in force until the next of its kind, so a reading just before each change states
    the old value: between two changes nothing of the later one is assumed. Without
    the phone's zone nothing has a time, and the dumps alone are read.
    """
    if report.is_cut:
        notes.append("the report stops within telephony.registry; that dump is not read")
    if report.zone is None:
        notes.append("the report does not name the phone's time zone (persist.sys.timezone)")
        return [_reading(None, text) for _, text in report.dumps]
    changes = list(_changes(report, _phone_of(report, known, notes)))
    changes += [(at, text) for at, text in report.dumps if at is not None]
    readings: list[Reading] = []
    before, last = "", None
    for at, text in sorted(changes, key=lambda one: one[0]):
        if before and at != last:
            readings.append(_reading(report.utc_ns(at - 1), before))
        readings.append(_reading(report.utc_ns(at), text))
        before, last = text, at
    return readings


def _phone_of(report: Bugreport, known: Subscriptions, notes: list[str]) -> int | None:
    """Return the SIM that carries data by the last dump; without one, the SIM with most reports."""
    if report.dumps:
        return [data_phone_in(text, known) for _, text in report.dumps][-1]
    reports = Counter(one.phone for one in report.history if one.phone is not None)
    if len(reports) > 1:
        notes.append(
            f"which of {len(reports)} SIMs carries data is unknown; the one with most reports "
            "is read"
        )
    return reports.most_common(1)[0][0] if reports else None


def _changes(report: Bugreport, phone: int | None) -> Iterator[tuple[int, str]]:
    """Yield when the state of this SIM changed (local time, ns), and all that was in force then."""
    in_force: dict[str, str] = {}
    for one in report.history:
        is_its = one.phone is None or one.phone == phone
        if is_its and in_force.get(one.name) != one.text:
            in_force[one.name] = one.text
            lines = (f"    {name}={text}" for name, text in in_force.items())
            yield one.local_ns, "\n".join(lines)


def _reading(utc_ns: int | None, text: str) -> Reading:
    return Reading(utc_ns, {REGISTRY: text.splitlines()})
