# SPDX-License-Identifier: Apache-2.0
"""The offset of the phone's clock to this machine's, bounded by the round trips of queries.

The phone reports t_p between our t_0 (query) and t_1 (answer): its offset lies within
[t_p - t_1, t_p - t_0], whatever the delays are. The intersection over several queries is narrower
(Cristian 1989, with the interval kept).
"""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

from ccu.spec.errors import RunFailed
from ccu.testbeds.phone.shell import Shell

_QUESTIONS = 12
_PATIENCE_S = 20.0
_STAMP = re.compile(r"^(\d{9,10})\.(\d{9})$")
_WHOLE = re.compile(r"^(\d{9,10})(?:\.N?)?$")
_SECOND_NS = 1_000_000_000


class Offset(NamedTuple):
    """The phone's clock minus ours, as an interval."""

    low_ns: int
    high_ns: int

    @property
    def ns(self) -> int:
        return (self.low_ns + self.high_ns) // 2

    @property
    def uncertainty_ns(self) -> int:
        return (self.high_ns - self.low_ns + 1) // 2


def bounds(asked_ns: int, answer: str, answered_ns: int) -> Offset | None:
    """Return the interval of one answer; a clock in whole seconds may be anywhere in its second."""
    if match := _STAMP.match(answer.strip()):
        at_ns = int(match[1]) * _SECOND_NS + int(match[2])
        return Offset(at_ns - answered_ns, at_ns - asked_ns)
    if match := _WHOLE.match(answer.strip()):
        at_ns = int(match[1]) * _SECOND_NS
        return Offset(at_ns - answered_ns, at_ns + _SECOND_NS - asked_ns)
    return None


def common(offsets: Iterable[Offset]) -> Offset | None:
    """Return the intersection; None if it is empty, as the clock was set meanwhile."""
    intervals = list(offsets)
    if not intervals:
        return None
    both = Offset(max(one.low_ns for one in intervals), min(one.high_ns for one in intervals))
    return both if both.low_ns <= both.high_ns else None


def measure(phone: Shell) -> Offset:
    """Query several times over one connection, so that only the first has to start a shell.

    Raises RunFailed if the phone does not report the time.
    """
    script = f"i=0; while [ $i -lt {_QUESTIONS} ] && read -r go; do date +%s.%N; i=$((i+1)); done"
    shell = subprocess.Popen(
        phone.command(script),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert shell.stdin is not None
    assert shell.stdout is not None
    intervals = []
    # A connection that has died without a word gives no line, nor an end.
    alarm = threading.Timer(_PATIENCE_S, shell.kill)
    alarm.start()
    try:
        for _ in range(_QUESTIONS):
            asked_ns = time.time_ns()
            shell.stdin.write("go\n")
            shell.stdin.flush()
            one = bounds(asked_ns, shell.stdout.readline(), time.time_ns())
            if one is None:
                break
            intervals.append(one)
    except OSError:
        pass
    finally:
        alarm.cancel()
        shell.kill()
        shell.wait()
        shell.stdout.close()
    offset = common(intervals) or (intervals[-1] if intervals else None)
    if offset is None:
        raise RunFailed("phone", f"{phone.serial} does not report its time (date +%s.%N)")
    return offset
