# SPDX-License-Identifier: Apache-2.0
"""The CPU cost of the radio log on the phone: our programs, and Android's services that answer.

A service uses CPU time for other clients as well. So before the log begins, the services' time is
read (proc(5), /proc/PID/stat) over an idle interval and over several consecutive readings; the
excess over the idle rate is the cost of a reading, multiplied by the run's readings per second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

SERVICES = ("system_server", "com.android.phone")
"""The service that answers `dumpsys telephony.registry`, and the one that informs it."""
MOST_RATIO = 0.05
"""The share of all the phone's processors that a log may use without disturbing the run."""
_IDLE_S = 0.5
_READINGS = 8
_STAT = re.compile(r"^(\d+) \((.*)\) (.+)$")
_USER_AT, _SYSTEM_AT = 11, 12  # positions after the name: fields 14 and 15 of stat
_AT = re.compile(r"^at (\d+\.\d+)$")
_TICKS = re.compile(r"^ticks (\d+) cpus (\d+)$")
_TIMES = re.compile(r"^(\d+)m(\d+\.\d+)s (\d+)m(\d+\.\d+)s$", re.MULTILINE)
_STAMP = re.compile(r"^### (\d+\.\d+)$", re.MULTILINE)


def read_services() -> str:
    """Return a line of shell that prints the services' stat, as far as it is readable."""
    names = " ".join(SERVICES)
    return f"for p in $(pidof {names} 2>/dev/null); do cat /proc/$p/stat 2>/dev/null; done"


def prologue(reading: str) -> str:
    """Return the part of the log's script that measures one `reading`, as section `polling`."""
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
    """The ticks of each process."""


def cost(log: str) -> dict[str, Any]:
    """Return the entry of run.json for a complete log: shares of all the phone's processors; null
    if they are not readable or the log is too short.

    `own_ratio`: the log's shell and programs. `services_ratio`: the services on their behalf.
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
    """Return a sentence if the known cost exceeds the limit."""
    own, services = cost["own_ratio"] or 0.0, cost["services_ratio"] or 0.0
    if own + services <= MOST_RATIO:
        return []
    return [
        f"the radio log takes {own + services:.1%} of the phone's processors (its own programs "
        f"{own:.1%}, Android's services for it {services:.1%}), more than {MOST_RATIO:.0%}"
    ]


def _per_reading(log: str) -> tuple[int | None, float | None]:
    """Return the number of processors, and the services' seconds for one reading."""
    section = log.partition("## polling\n")[2].partition("\n##")[0].splitlines()
    ticks = next((match for line in section if (match := _TICKS.match(line))), None)
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
    """Return the seconds, and the ticks of the processes that exist in both reads."""
    both = before.ticks.keys() & after.ticks.keys()
    return after.at_s - before.at_s, sum(after.ticks[pid] - before.ticks[pid] for pid in both)


def _own(log: str) -> float | None:
    """Return the CPU seconds per second of shell and children, user and system, between the first
    `times` of the loop and the last."""
    readings = []
    for reading in re.split(r"^### ", log, flags=re.MULTILINE):
        lines = _TIMES.findall(reading.partition("## cpu\n")[2])[:2]
        stamp = _STAMP.match(f"### {reading}")
        if stamp and len(lines) == 2:
            spent = (float(a) * 60 + float(b) + float(c) * 60 + float(d) for a, b, c, d in lines)
            readings.append((float(stamp[1]), sum(spent)))
    if len(readings) < 2:
        return None
    return (readings[-1][1] - readings[0][1]) / (readings[-1][0] - readings[0][0])
