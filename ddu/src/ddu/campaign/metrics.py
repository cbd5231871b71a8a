# SPDX-License-Identifier: Apache-2.0
"""Names, units and scales of the figures of summary.json and the columns of the aligned table."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any, NamedTuple

from ddu.schema.figures import PER_FLOW


class Shown(NamedTuple):
    """How people read a metric."""

    label: str
    unit: str
    scale: float

    @property
    def axis(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


# By the suffix that the name carries (docs/metrics.md, rules).
_UNITS = {
    "_bps": ("Mbit/s", 1e-6),
    "_ms": ("ms", 1.0),
    "_bytes": ("kB", 1e-3),
    "_ratio": ("%", 100.0),
    "_dbm": ("dBm", 1.0),
    "_db": ("dB", 1.0),
    "_s": ("s", 1.0),
    "_count": ("", 1.0),
}


def shown(name: str) -> Shown:
    """`rtt_ms.p95` → RTT p95, ms; `tcp_throughput_bps` → throughput, Mbit/s."""
    head, _, inner = name.removeprefix(PER_FLOW).partition(".")
    for suffix, (unit, scale) in _UNITS.items():
        if head.endswith(suffix):
            return Shown(_words(head.removesuffix(suffix), inner), unit, scale)
    return Shown(_words(head, inner), "", 1.0)


def _words(head: str, inner: str) -> str:
    words = head.removeprefix("tcp_").removeprefix("mac_").split("_")
    upper = {"rtt", "owd", "bler", "mcs", "rsrp", "sinr", "rlc", "prb", "dl", "ul", "cdf"}
    return " ".join([*(word.upper() if word in upper else word for word in words), *inner.split()])


def value(summary: dict[str, Any], name: str) -> float | None:
    """A figure of summary.json by its dotted name; None where it is not, or is null."""
    found: Any = summary
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return float(found) if isinstance(found, (int, float)) else None


def flat(summary: dict[str, Any]) -> dict[str, float]:
    """All numbers of a summary by their dotted names, those of flows as `flow.…`."""
    per_flow = [_numbers(flow) for flow in summary.get("flows", [])]
    names = dict.fromkeys(name for flow in per_flow for name in flow)
    return _numbers(summary) | {
        f"{PER_FLOW}{name}": fmean(flow[name] for flow in per_flow if name in flow)
        for name in names
    }


def _numbers(summary: dict[str, Any], prefix: str = "") -> dict[str, float]:
    numbers: dict[str, float] = {}
    for key, item in summary.items():
        if isinstance(item, dict) and key not in ("software", "cross_checks"):
            numbers |= _numbers(item, f"{prefix}{key}.")
        elif isinstance(item, (int, float)) and not isinstance(item, bool):
            numbers[f"{prefix}{key}"] = float(item)
    return numbers


def names(summary: dict[str, Any], before: str = "") -> Iterator[str]:
    """The dotted names of all figures of summary.json."""
    for name, entry in summary.items():
        if isinstance(entry, dict):
            yield from names(entry, f"{before}{name}.")
        else:
            yield f"{before}{name}"
