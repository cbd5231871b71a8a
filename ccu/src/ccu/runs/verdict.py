# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run by its own records: whether traffic crossed the link, and how reliably."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ccu.spec.errors import RunFailed
from ccu.spec.experiment import Direction

Verdict = tuple[str, list[str]]
"""`valid`, `degraded` or `invalid`, and the reasons as sentences."""


def check_crossing(
    delivered_bytes: Callable[[Direction], int | None], received_bytes: dict[Direction, int]
) -> list[str]:
    """Raise RunFailed if the receivers of a direction got nothing, or more than the link delivered.

    Payload is less than the IP packets that carry it, so no tolerance is needed. Returns a sentence
    for each direction that could not be checked, as its `delivered_bytes` are None.
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
    """Return the verdict in the link's `summary`, but `degraded` in place of `valid` if there are
    `problems`, or a capture dropped packets."""
    gaps = [
        f"the {capture['role']}'s capture lacks {dropped} packets"
        for capture in captures
        if (dropped := capture["packets_dropped_count"])
    ]
    verdict, faults = str(summary["verdict"]), [*problems, *gaps]
    if faults and verdict == "valid":
        verdict = "degraded"
    return verdict, [*map(str, summary["verdict_reasons"]), *faults]
