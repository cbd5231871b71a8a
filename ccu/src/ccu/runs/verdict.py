# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run by its own records: whether traffic crossed the link, and how reliably."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction

Verdict = tuple[str, list[str]]


def check_crossing(
    delivered_bytes: Callable[[Direction], int | None], received_bytes: dict[Direction, int]
) -> list[str]:
    """Raise RunFailed if receivers got more than the link delivered, or nothing.

    Payload is less than the IP packets that carry it, so no tolerance is needed. Returns sentences
    on what could not be checked.
    """
    unchecked = []
    for direction, received in received_bytes.items():
        delivered = delivered_bytes(direction)
        if received <= 0:
            raise RunFailed("traffic", f"the {direction} receiver got nothing")
        if delivered is None:
            unchecked.append(f"{direction}: the radio counts no bytes to compare the transfer with")
        elif delivered < received:
            raise RunFailed(
                "crossing",
                f"the {direction} receiver got {received} bytes, but the link delivered "
                f"{delivered}: traffic bypassed the link",
            )
    return unchecked


def verdict_of(
    summary: dict[str, Any], captures: list[dict[str, Any]], problems: Sequence[str]
) -> Verdict:
    """Return nr-link's verdict, but at least `degraded` if a capture or a flow has a problem."""
    worst = str(summary["verdict"])
    reasons = [str(reason) for reason in summary["verdict_reasons"]] + list(problems)
    if problems and worst == "valid":
        worst = "degraded"
    for capture in captures:
        if dropped := capture["packets_dropped_count"]:
            reasons.append(f"the {capture['role']}'s capture lacks {dropped} packets")
            worst = "degraded" if worst == "valid" else worst
    return worst, reasons
