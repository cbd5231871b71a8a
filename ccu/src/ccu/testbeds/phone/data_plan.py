# SPDX-License-Identifier: Apache-2.0
"""The phone's data usage of the month and its limit, as Android itself counts both.

`dumpsys netpolicy` has a NetworkPolicy of each SIM (limit, and when its month begins),
`dumpsys netstats --full` the bytes of each two hours (AOSP NetworkPolicy, RecurrenceRule,
NetworkStatsHistory). The operator's own count, which is billed, may differ.
"""

from __future__ import annotations

import calendar
import re
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from ccu.testbeds.phone.choice import chosen
from ccu.testbeds.phone.options import PhoneOptions
from ccu.testbeds.phone.shell import Shell
from ddu.console.problems import RefusedError, refusal
from ddu.readers.timestamps import zone_named

_QUERY = (
    "getprop persist.sys.timezone; dumpsys netpolicy 2>/dev/null | grep NetworkPolicy; "
    "dumpsys netstats --full 2>/dev/null | sed -n '/^ *Xt stats:/,/^ *UID stats:/p'"
)
_LIMIT = re.compile(r"\blimitBytes=(-?\d+)")
_MOBILE_POLICY = re.compile(r"matchRule=(?:MOBILE|CARRIER)")
_SUBSCRIBER = re.compile(r"\b(?:subscriberId|matchSubscriberIds|subId)=\[?\s*([\w.]+)")
_CYCLE = re.compile(
    r"RecurrenceRule\{start=(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)\S*? end=\S+ period=(\S+?)\}"
)
_CYCLE_DAY = re.compile(r"\bcycleDay=(\d+)")  # to Android 8
_ZONE = re.compile(r"RecurrenceRule\{start=[^\[\s}]*\[([\w/+-]+)\]|\bcycleTimezone=([\w/+-]+)")
_COMPLETE = "Complete history:"
_MOBILE_IDENT = re.compile(r"ident=\[\{type=(?:MOBILE|0),")
_BUCKET = re.compile(r"^\s*st=(\d+) rb=(\d+) .*?tb=(\d+)\b")
_DURATION = re.compile(r"NetworkStatsHistory: bucketDuration=(\d+)")


class _Bucket(NamedTuple):
    """The bytes of both directions between two times, in seconds since 1970."""

    begins_s: int
    ends_s: int
    total: int


@dataclass(frozen=True)
class DataPlan:
    """The data usage and limit; None means that the phone does not report it."""

    used_bytes: int | None = None
    since: datetime | None = None
    """The beginning of its month."""
    limit_bytes: int | None = None

    def sentence(self) -> str:
        """Return a sentence for the user."""
        limit = (
            "it has no limit set"
            if self.limit_bytes is None
            else f"its limit is {self.limit_bytes / 1e6:,.0f} MB"
        )
        if self.used_bytes is None or self.since is None:
            return f"the phone does not report its data usage of this month; {limit}"
        used = f"{self.used_bytes / 1e6:,.0f} MB since {self.since:%Y-%m-%d}"
        return f"by its own count the phone has used {used}; {limit}"

    def record(self) -> dict[str, Any]:
        """Return the entry of run.json."""
        return {
            "used_bytes": self.used_bytes,
            "since": self.since.isoformat() if self.since else None,
            "limit_bytes": self.limit_bytes,
        }

    def check(self, most_bytes: int) -> None:
        """Raise RefusedError if a run of so many bytes could exceed the limit."""
        if self.limit_bytes is None or (self.used_bytes or 0) + most_bytes <= self.limit_bytes:
            return
        used = f"{self.used_bytes} bytes used and " if self.used_bytes else ""
        raise refusal(
            f"{used}{most_bytes} are more than the phone's data limit of {self.limit_bytes} bytes",
            "lower it, or raise the limit (Settings → Network → Data warning & limit)",
            key="max_bytes",
        )


def of(phone: Shell) -> DataPlan:
    """Query the phone. Raises RefusedError if it does not answer."""
    return read(phone.ask(_QUERY).text, time.time())


def sentence(settings: PhoneOptions) -> str:
    """Return the sentence about the phone's plan; empty if the query fails, for which the run's own
    check reports the reason."""
    if not settings.has_shell:
        return DataPlan().sentence().partition(";")[0]
    try:
        return of(chosen(settings)).sentence()
    except RefusedError:
        return ""


def read(text: str, now_s: float) -> DataPlan:
    """Parse the phone's time zone, policies and statistics, in the order of `_QUERY`."""
    zone, _, rest = text.partition("\n")
    policies = [line for line in rest.splitlines() if "NetworkPolicy{" in line]
    mobile = [line for line in policies if _MOBILE_POLICY.search(line)] or policies
    subscriber, buckets = _latest(rest)
    own = [line for line in mobile if _names(line, subscriber)] or mobile
    limits = [int(match[1]) for line in own if (match := _LIMIT.search(line))]
    limit = min((one for one in limits if one >= 0), default=None)
    since = _month_of(own[0] if own else "", zone.strip(), now_s)
    if buckets is None:
        return DataPlan(None, since, limit)
    began_s = since.timestamp()
    # A bucket that began before the month counts completely: an overestimate is safer.
    return DataPlan(sum(one.total for one in buckets if one.ends_s > began_s), since, limit)


def _names(policy: str, subscriber: str | None) -> bool:
    """Return whether the policy is this SIM's; both shorten the subscriber's number
    (`310260...`)."""
    match = _SUBSCRIBER.search(policy)
    return match is not None and subscriber is not None and match[1] == subscriber


def _latest(text: str) -> tuple[str | None, list[_Bucket] | None]:
    """Return the SIM that last carried data and its buckets; None without a complete history."""
    if _COMPLETE not in text:
        return None, None
    by_subscriber: dict[str, list[_Bucket]] = {}
    current: list[_Bucket] | None = None
    duration_s = 7200
    for line in text.splitlines():
        if "ident=" in line:
            current = None
            if _MOBILE_IDENT.search(line):
                match = _SUBSCRIBER.search(line)
                current = by_subscriber.setdefault(match[1] if match else "", [])
        elif known := _DURATION.search(line):
            duration_s = int(known[1])
        elif current is not None and (bucket := _BUCKET.match(line)):
            begins_s, received, sent = (int(bucket[part]) for part in (1, 2, 3))
            current.append(_Bucket(begins_s, begins_s + duration_s, received + sent))
    if not by_subscriber:
        return None, []
    subscriber = max(by_subscriber, key=lambda one: max(by_subscriber[one], default=(0, 0, 0)))
    return subscriber, by_subscriber[subscriber]


def _month_of(policy: str, phones_zone: str, now_s: float) -> datetime:
    """Return the beginning of the policy's month, or of the calendar's if the policy has none."""
    named = _ZONE.search(policy)
    zone = zone_named((named and (named[1] or named[2])) or phones_zone)
    now = datetime.fromtimestamp(now_s, zone or timezone.utc)
    day, hour, minute = 1, 0, 0
    if match := _CYCLE.search(policy):
        if days := re.fullmatch(r"P(\d+)D", match[6]):
            parts = [int(match[part]) for part in range(1, 6)]
            first = datetime(parts[0], parts[1], parts[2], parts[3], parts[4], tzinfo=now.tzinfo)
            period = timedelta(days=max(int(days[1]), 1))
            return first + (now - first) // period * period
        day, hour, minute = (int(match[part]) for part in (3, 4, 5))
    elif match := _CYCLE_DAY.search(policy):
        day = max(int(match[1]), 1)
    this = _day_of(now, now.year, now.month, day, hour, minute)
    if this <= now:
        return this
    before = now.replace(day=1) - timedelta(days=1)
    return _day_of(now, before.year, before.month, day, hour, minute)


def _day_of(now: datetime, year: int, month: int, day: int, hour: int, minute: int) -> datetime:
    """Return the day of a month; the 31st of a shorter month is its last day."""
    last = calendar.monthrange(year, month)[1]
    return datetime(year, month, min(day, last), hour, minute, tzinfo=now.tzinfo)
