# SPDX-License-Identifier: Apache-2.0
"""Mahimahi traces of any scenario. A trace that a scenario plays is copied unchanged."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from ccu.scenarios import nr_link
from ccu.scenarios.library import locate
from ccu.scenarios.play import play
from ccu.scenarios.sources.mahimahi import OPPORTUNITY_BYTES, check
from ccu.spec.experiment import Experiment
from ddu.console.problems import refusal

SUFFIXES = {"dl": "down", "ul": "up"}


def write(experiment: Experiment, seconds: float, base: Path) -> list[Path]:
    """Write one file per direction. Raises RefusedError if a direction never passes a packet."""
    file = locate(experiment.scenario, experiment.seed)
    traces = nr_link.scenario(file).get("traces", {})
    played = None
    written = []
    for direction, suffix in SUFFIXES.items():
        target = base.with_name(f"{base.name}.{suffix}")
        trace = traces.get(direction)
        if trace and trace["format"] == "mahimahi":
            check(file.parent / trace["file"])
            shutil.copyfile(file.parent / trace["file"], target)
        else:
            if played is None:
                played = play(experiment, seconds, interval_ms=1)
            _write_stamps(played[f"{direction}_capacity_mbps"].to_numpy(), target)
        written.append(target)
    return written


def stamps_ms(mbps: np.ndarray) -> np.ndarray:
    """Return the time of each opportunity, for rates of 1 ms each: the end of the ms that fills it.

    Remaining bits count for the next one; the trace ends with the last complete opportunity.
    """
    bytes_by_then = np.cumsum(mbps) * 1e3 / 8
    # A thousandth of a byte absorbs rounding errors.
    count = np.floor((bytes_by_then + 1e-3) / OPPORTUNITY_BYTES).astype(np.int64)
    return np.repeat(np.arange(1, len(mbps) + 1), np.diff(count, prepend=0))


def _write_stamps(mbps: np.ndarray, file: Path) -> None:
    stamps = stamps_ms(mbps)
    if not len(stamps):
        raise refusal("no packet would pass", "export a longer part: --seconds", file=file)
    np.savetxt(file, stamps, fmt="%d")
