# SPDX-License-Identifier: Apache-2.0
"""What the run proved, by its own records: that traffic crossed the link; whether to trust it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Way

Verdict = tuple[str, list[str]]


def delivered_bytes(mac_csv: Path, way: Way) -> int:
    """IP bytes that the link delivered: its cumulative counter's last value, summed over UEs."""
    last: dict[str, int] = {}
    with mac_csv.open(newline="") as file:
        for row in csv.DictReader(file):
            if value := row[f"mac_{way}_sdu_bytes"]:
                last[row["ue"]] = int(value)
    return sum(last.values())


def check_crossing(
    delivered_bytes: Callable[[Way], int | None], received_bytes: dict[Way, int]
) -> list[str]:
    """Raises RunFailed if receivers got more than the link delivered, or nothing.

    Payload is less than the IP packets that carry it, so no tolerance is needed. Returns what could
    not be checked, in sentences.
    """
    unchecked = []
    for way, received in received_bytes.items():
        delivered = delivered_bytes(way)
        if received <= 0:
            raise RunFailed("traffic", f"the {way} receiver got nothing")
        if delivered is None:
            unchecked.append(f"{way}: this radio counts no bytes to hold the transfer against")
        elif delivered < received:
            raise RunFailed(
                "crossing",
                f"iperf3 received {received} bytes in {way}, but the link delivered {delivered}: "
                "traffic went another way",
            )
    return unchecked


def verdict(
    summary: dict[str, Any], captures: list[dict[str, Any]], problems: Sequence[str] = ()
) -> Verdict:
    """nr-link's own verdict; `degraded` at least if a capture has holes, or a flow a problem."""
    worst = str(summary["verdict"])
    reasons = [str(reason) for reason in summary["verdict_reasons"]] + list(problems)
    if problems and worst == "valid":
        worst = "degraded"
    for capture in captures:
        if dropped := capture["packets_dropped_count"]:
            reasons.append(f"the {capture['role']}'s capture lacks {dropped} packets")
            worst = "degraded" if worst == "valid" else worst
    return worst, reasons
