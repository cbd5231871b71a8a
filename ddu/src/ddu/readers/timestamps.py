# SPDX-License-Identifier: Apache-2.0
"""Times that scripts write beside a sample: what is known of each, and no more.

A time without a date, or without a zone, is not an instant. It is kept as what it is, and the
reader of the whole run may anchor it (ddu.align.anchoring); no date and no zone are ever assumed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
DAY_NS = 86_400_000_000_000

_SECONDS = re.compile(r"^(\d{9,10})(?:[.,](\d{1,9}))?$")
_UNITS = re.compile(r"^(\d{13}|\d{16}|\d{19})$")
_CLOCK = re.compile(r"^(\d\d):?(\d\d):?(\d\d)[.,](\d{1,9})$|^(\d\d):(\d\d):(\d\d)$")
_ISO = re.compile(
    r"^(\d{4})-(\d\d)-(\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
    r" ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?$"
)
_DATE = re.compile(
    r"^[A-Z][a-z]{2} +(?:(?P<month>[A-Z][a-z]{2}) +(?P<day>\d{1,2})"
    r"|(?P<day_first>\d{1,2}) (?P<its_month>[A-Z][a-z]{2}) (?P<its_year>\d{4}))"
    r" (?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?"
    r"(?: (?P<half>[AP]M))? (?P<zone>[A-Z]{2,5}|[+-]\d\d(?:\d\d)?)(?: (?P<year>\d{4}))?$"
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@dataclass(frozen=True)
class Stamp:
    """A time as written: exactly one of the fields is known.

    `local_ns`: a date and a time of some zone, as ns since 1970 in that zone.
    `of_day_ns`: a time of day of some date and zone.
    """

    utc_ns: int | None = None
    local_ns: int | None = None
    of_day_ns: int | None = None

    @property
    def columns(self) -> dict[str, int]:
        """The known time, by the name of its column."""
        return {name: value for name, value in vars(self).items() if value is not None}


def stamp(text: str) -> Stamp | None:
    """Parse a line that is a time; None if it is not.

    Forms: seconds, ms, µs or ns since 1970; HHMMSS.frac; HH:MM:SS(.frac); ISO 8601 with or
    without a zone; `date`'s own. Only UTC and numeric zones are understood as such.
    """
    text = text.strip()
    if match := _SECONDS.match(text):
        return Stamp(utc_ns=unix_ns(match[1], match[2]))
    if match := _UNITS.match(text):
        return Stamp(utc_ns=int(match[1]) * 10 ** (19 - len(match[1])))
    if match := _CLOCK.match(text):
        hours, minutes, seconds = (int(match[at] or match[at + 4]) for at in (1, 2, 3))
        if hours > 23 or minutes > 59 or seconds > 60:
            return None
        of_day = (hours * 3600 + minutes * 60 + seconds) * 10**9 + _fraction(match[4])
        return Stamp(of_day_ns=of_day)
    if match := _ISO.match(text):
        return _dated([int(match[at]) for at in range(1, 7)], match[7], match[8])
    if match := _DATE.match(text):
        return _by_date(match)
    return None


def _by_date(match: re.Match[str]) -> Stamp | None:
    month, year = match["month"] or match["its_month"], match["year"] or match["its_year"]
    if month not in _MONTHS or not year:
        return None
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "PM" else 0)
    parts = [int(year), _MONTHS.index(month) + 1, int(match["day"] or match["day_first"]), hour]
    return _dated(
        [*parts, int(match["minute"]), int(match["second"])], match["fraction"], match["zone"]
    )


def _dated(parts: list[int], fraction: str | None, zone: str | None) -> Stamp | None:
    local = local_ns(parts, fraction)
    if local is None:
        return None
    if zone in ("Z", "UTC", "GMT"):
        return Stamp(utc_ns=local)
    if zone and zone[0] in "+-":
        minutes = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or 0)
        return Stamp(utc_ns=local - (minutes if zone[0] == "+" else -minutes) * 60 * 10**9)
    return Stamp(local_ns=local)


def local_ns(parts: Sequence[int], fraction: str | None = None) -> int | None:
    """Year, month, day, hour, minute and second in some zone, and digits of a second, as ns since
    1970 in that zone; None if no such time exists."""
    try:
        year, month, day, hour, minute, second = parts
        local = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return None
    return int((local - EPOCH) / timedelta(seconds=1)) * 10**9 + _fraction(fraction)


def zone_named(name: str) -> tzinfo | None:
    """Return the time zone of that name; None if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return None


def unix_ns(seconds: str, fraction: str | None) -> int:
    """Return the ns of seconds since 1970, written with digits of a second."""
    return int(seconds) * 10**9 + _fraction(fraction)


def _fraction(text: str | None) -> int:
    return int((text or "0").ljust(9, "0"))
