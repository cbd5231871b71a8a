# SPDX-License-Identifier: Apache-2.0
"""The account of a policy in a run, by its trace and by the kernel's counters."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from ccu.congestion.catalogue import trace_file
from ccu.congestion.policy.program import ended_file
from ccu.host.setup import Setup

_LATE_SHARE_OF_RTT = 0.25
_COLUMNS = ("told_us", "applied_us", "overdue_us", "refused")


def last_counters(output: Path) -> dict[str, int]:
    """Return the counters that the loader printed at its end; none if it was killed."""
    lines = output.read_text().splitlines()
    counters = json.loads(lines[-1]) if lines else {}
    return {} if "event" in counters else counters


def parameters(name: str, setup: Setup) -> dict[str, Any]:
    """Return the parameters that a policy reported when it ended."""
    reported: dict[str, Any] = _ended(name, setup).get("parameters", {})
    return reported


def of(name: str, setup: Setup, counters: Mapping[str, int]) -> dict[str, Any]:
    """Return what run.json says of the plane, with `problems` as sentences."""
    trace = _Trace(trace_file(setup.raw, name))
    told_us, overdue_us = _quantiles(trace.told_us), _quantiles(trace.overdue_us)
    plane = {
        **counters,
        "commands_refused": len(trace.refused),
        "report_to_command_us": told_us,
        "report_to_applied_us": _quantiles(trace.applied_us),
        "overdue_us": overdue_us,
    }
    problems = [
        *_endings(name, setup),
        *_fallbacks(counters),
        *_losses(counters),
        *_refusals(trace.refused),
        *_lateness(told_us, overdue_us, setup.experiment.rtt_ms),
    ]
    return {"plane": plane, "problems": problems}


class _Trace:
    """The columns of a trace that matter here; a line without its end is left out."""

    def __init__(self, file: Path) -> None:
        self.told_us: list[float] = []
        self.applied_us: list[float] = []
        self.overdue_us: list[float] = []
        self.refused: list[str] = []
        try:
            text = file.read_text()
        except OSError:
            return
        rows = csv.reader(text[: text.rfind("\n") + 1].splitlines())
        header = next(rows, None)
        if header is None:
            return
        cells = itemgetter(*map(header.index, _COLUMNS))
        whole = (row for row in rows if len(row) == len(header))
        for told_us, applied_us, overdue_us, refused in map(cells, whole):
            if told_us:
                self.told_us.append(float(told_us))
            if applied_us:
                self.applied_us.append(float(applied_us))
            if overdue_us:
                self.overdue_us.append(float(overdue_us))
            if refused:
                self.refused.append(refused)


def _quantiles(values_us: list[float]) -> dict[str, float] | None:
    if not values_us:
        return None
    from numpy import percentile

    p50, p99, most = (round(float(one), 1) for one in percentile(values_us, (50, 99, 100)))
    return {"p50": p50, "p99": p99, "max": most}


def _ended(name: str, setup: Setup) -> dict[str, Any]:
    try:
        ended: dict[str, Any] = json.loads((setup.raw / ended_file(name)).read_text())
    except (OSError, ValueError):
        return {}
    return ended


def _endings(name: str, setup: Setup) -> list[str]:
    ended = _ended(name, setup)
    if not ended:
        return ["the policy was killed, and Reno took over"]
    if ended["code"]:
        place = f" (line {ended['line']})" if ended["line"] else ""
        return [f"the policy ended with {ended['reason']}{place}, and Reno took over"]
    return []


def _fallbacks(counters: Mapping[str, int]) -> list[str]:
    sentences = []
    if count := counters.get("fallbacks"):
        times = "once" if count == 1 else f"{count} times"
        sentences.append(f"the policy was silent for 0.5 s, and Reno took over {times}")
    if count := counters.get("flows_refused"):
        sentences.append(f"{count} flows were more than a policy can have, and Reno had them")
    return sentences


def _losses(counters: Mapping[str, int]) -> list[str]:
    lost = counters.get("reports_lost")
    return [f"{lost} reports were lost, as the policy was too slow to read them"] if lost else []


def _refusals(refused: list[str]) -> list[str]:
    return [f"{len(refused)} commands were refused; the first: {refused[0]}"] if refused else []


def _lateness(
    told_us: dict[str, float] | None, overdue_us: dict[str, float] | None, rtt_ms: float
) -> list[str]:
    """Return what this machine did too late, in round-trip times of the path.

    Not from report to application: a command waits for the next ACK or departure, and when those
    come is the network's affair.
    """
    limit_ms = rtt_ms * _LATE_SHARE_OF_RTT
    if rtt_ms <= 0:
        return []
    said = {
        "commands were there {late_ms:.1f} ms after their report": told_us,
        "the kernel had not applied commands that were there {late_ms:.1f} ms before": overdue_us,
    }
    return [
        f"{sentence.format(late_ms=us['p99'] / 1000)} (99th percentile), more than a quarter "
        f"of the round-trip time, {limit_ms:g} ms"
        for sentence, us in said.items()
        if us and us["p99"] / 1000 > limit_ms
    ]
