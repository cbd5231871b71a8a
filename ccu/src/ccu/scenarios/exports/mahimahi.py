# SPDX-License-Identifier: Apache-2.0
"""Mahimahi's traces of any scenario. A trace that a scenario plays is given back as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from ccu.scenarios.library import locate
from ccu.scenarios.play import content, play
from ccu.scenarios.sources.mahimahi import OPPORTUNITY_BYTES, look
from ccu.spec.experiment import Experiment
from testbed_console.problems import refusal

WAYS = {"dl": "down", "ul": "up"}


def write(experiment: Experiment, seconds: float, base: Path) -> list[Path]:
    """One file a direction. Raises RefusedError where a direction never passes a packet."""
    file = locate(experiment.scenario)
    capacity = content(file).get("capacity")
    played = None
    written = []
    for way, ending in WAYS.items():
        target = base.with_name(f"{base.name}.{ending}")
        trace = _trace(capacity, way)
        if trace is not None:
            look(file.parent / trace)
            shutil.copyfile(file.parent / trace, target)
        else:
            if played is None:
                played = play(experiment, seconds, interval_ms=1)
            _write_stamps(played[f"{way}_capacity_mbps"].to_numpy(), target)
        written.append(target)
    return written


def _trace(capacity: object, way: str) -> str | None:
    rate = capacity.get(way) if isinstance(capacity, dict) else None
    trace = rate.get("trace") if isinstance(rate, dict) else None
    if isinstance(trace, dict) and trace.get("format") == "mahimahi":
        return str(trace["file"])
    return None


def stamps_ms(mbps: np.ndarray) -> np.ndarray:
    """When each opportunity of rates of 1 ms each is due: when the ms ends that fills it.

    Bits that are left over go to the next; the trace ends with the last whole opportunity.
    """
    bytes_by_then = np.cumsum(mbps) * 1e3 / 8
    # A thousandth of a byte forgives what decimals lost.
    count = np.floor((bytes_by_then + 1e-3) / OPPORTUNITY_BYTES).astype(np.int64)
    return np.repeat(np.arange(1, len(mbps) + 1), np.diff(count, prepend=0))


def _write_stamps(mbps: np.ndarray, file: Path) -> None:
    stamps = stamps_ms(mbps)
    if not len(stamps):
        raise refusal("no packet would pass", "export a longer part: --seconds", file=file)
    np.savetxt(file, stamps, fmt="%d")
