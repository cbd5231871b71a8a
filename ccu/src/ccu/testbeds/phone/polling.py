# SPDX-License-Identifier: Apache-2.0
"""What our asking costs the phone's processor: our programs, and Android's services that answer.

A service's CPU time has more reasons than us. So before the log begins, the services' time is read
(proc(5), /proc/PID/stat) over a while in which nobody asks, and over some readings one after the
other; what these took beyond the usual is theirs. In the run there are so many readings a second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

SERVICES = ("system_server", "com.android.phone")
"""Who answers `dumpsys telephony.registry`, and who tells that service of the radio."""
MOST_RATIO = 0.05
"""Of all the phone's processors: what a log may take that is to disturb nothing."""
_IDLE_S = 0.5
_READINGS = 8
_STAT = re.compile(r"^(\d+) \((.*)\) (.+)$")
_USER_AT, _SYSTEM_AT = 11, 12  # of what follows the name: fields 14 and 15 of stat
_AT = re.compile(r"^at (\d+\.\d+)$")
_TICKS = re.compile(r"^ticks (\d+) cpus (\d+)$")
_TIMES = re.compile(r"^(\d+)m(\d+\.\d+)s (\d+)m(\d+\.\d+)s$", re.MULTILINE)
_STAMP = re.compile(r"^### (\d+\.\d+)$", re.MULTILINE)


def read_services() -> str:
    """A line of the shell that prints the services' stat, as far as it may be read."""
    names = " ".join(SERVICES)
    return f"for p in $(pidof {names} 2>/dev/null); do cat /proc/$p/stat 2>/dev/null; done"


def prologue(reading: str) -> str:
    """The part of the log's script that measures one `reading`, as section `polling`."""
    return f"""
services() {{ echo "at $(date +%s.%N)"; {read_services()}; }}
echo "## polling"
echo "ticks $(getconf CLK_TCK 2>/dev/null || echo 100) cpus $(grep -c ^processor /proc/cpuinfo)"
services; sleep {_IDLE_S}; services
n=0; while [ $n -lt {_READINGS} ]; do {reading} > /dev/null; n=$((n+1)); done
services
"""


@dataclass(frozen=True)
class _Read:
    at_s: float
    ticks: dict[int, int]
    """By process."""


def cost(log: str) -> dict[str, Any]:
    """For run.json, of a whole log: shares of all the phone's processors together, null where the
    phone does not let it be read or the log is too short.

    `own_ratio`: the log's shell and programs. `services_ratio`: what the services took for them.
    """
    cpus, per_reading_s = _per_reading(log)
    stamps = [float(one) for one in _STAMP.findall(log)]
    # The first stamp is that of the whole dump, before `polling`.
    lasted_s = stamps[-1] - stamps[1] if len(stamps) > 2 else 0.0
    readings_per_s = (len(stamps) - 2) / lasted_s if lasted_s > 0 else None
    services = None
    if per_reading_s is not None and cpus and readings_per_s is not None:
        services = per_reading_s * readings_per_s / cpus
    own_s_per_s = _own(log)
    return {
        "processors": cpus,
        "readings_per_s": readings_per_s,
        "own_ratio": own_s_per_s / cpus if cpus and own_s_per_s is not None else None,
        "services_ratio": services,
        "services": list(SERVICES),
    }


def problems(cost: dict[str, Any]) -> list[str]:
    """A sentence if what is known of the cost is more than a measurement may take."""
    own, services = cost["own_ratio"] or 0.0, cost["services_ratio"] or 0.0
    if own + services <= MOST_RATIO:
        return []
    return [
        f"the radio log takes {own + services:.1%} of the phone's processors (its own programs "
        f"{own:.1%}, Android's services for it {services:.1%}), more than {MOST_RATIO:.0%}"
    ]


def _per_reading(log: str) -> tuple[int | None, float | None]:
    """Processors, and the services' seconds for one reading."""
    section = log.partition("## polling\n")[2].partition("\n##")[0].splitlines()
    ticks = next((found for line in section if (found := _TICKS.match(line))), None)
    if ticks is None:
        return None, None
    a_second, cpus = int(ticks[1]), int(ticks[2])
    reads: list[_Read] = []
    for line in section:
        if at := _AT.match(line):
            reads.append(_Read(float(at[1]), {}))
        elif reads and (stat := _STAT.match(line)):
            fields = stat[3].split()
            reads[-1].ticks[int(stat[1])] = int(fields[_USER_AT]) + int(fields[_SYSTEM_AT])
    if len(reads) != 3 or not reads[0].ticks:
        return cpus or None, None
    (idle_s, idle), (asking_s, asking) = (_spent(*pair) for pair in pairwise(reads))
    usual = idle / idle_s if idle_s > 0 else 0.0
    return cpus or None, max(asking - usual * asking_s, 0.0) / a_second / _READINGS


def _spent(before: _Read, after: _Read) -> tuple[float, int]:
    """Seconds, and ticks of the processes that were there at both ends."""
    both = before.ticks.keys() & after.ticks.keys()
    return after.at_s - before.at_s, sum(after.ticks[pid] - before.ticks[pid] for pid in both)


def _own(log: str) -> float | None:
    """Seconds a second of shell and children, user and system, between the first `times` of the
    loop and the last."""
    told = []
    for reading in re.split(r"^### ", log, flags=re.MULTILINE):
        lines = _TIMES.findall(reading.partition("## cpu\n")[2])[:2]
        stamp = _STAMP.match(f"### {reading}")
        if stamp and len(lines) == 2:
            spent = (float(a) * 60 + float(b) + float(c) * 60 + float(d) for a, b, c, d in lines)
            told.append((float(stamp[1]), sum(spent)))
    if len(told) < 2:
        return None
    return (told[-1][1] - told[0][1]) / (told[-1][0] - told[0][0])
