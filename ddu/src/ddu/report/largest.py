# SPDX-License-Identifier: Apache-2.0
"""The flows that a report or a terminal shows, of a run that has many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

_Flow = TypeVar("_Flow", bound=Mapping[str, Any])
MOST_FLOWS = 16
"""The most flows in figures and tables of flows: more cannot be distinguished."""


def largest(flows: Sequence[_Flow]) -> list[_Flow]:
    """Return the MOST_FLOWS flows that received most bytes, in the order of `flows`."""
    by_size = sorted(flows, key=lambda flow: -(flow["received_payload_bytes"] or 0))
    kept = {flow["id"] for flow in by_size[:MOST_FLOWS]}
    return [flow for flow in flows if flow["id"] in kept]
