# SPDX-License-Identifier: Apache-2.0
"""A run, and a flow of it, as the metrics of summary.json see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.align.run import AlignedRun
from ddu.flows.observe import ObservedFlow
from ddu.metrics.capacity import adding_up
from ddu.schema.arrays import Float, Int, floats_of

_Found = TypeVar("_Found")
_Self = TypeVar("_Self", bound="_View")


@dataclass(frozen=True)
class _View:
    _made: dict[Callable[..., Any], Any] = field(default_factory=dict, init=False)

    def once(self: _Self, function: Callable[[_Self], _Found]) -> _Found:
        """Return the function of this view, computed for the first metric that asks for it."""
        if function not in self._made:
            self._made[function] = function(self)
        made: _Found = self._made[function]
        return made


@dataclass(frozen=True)
class FlowView(_View):
    """One data flow, over its own time."""

    run: AlignedRun
    flow: ObservedFlow
    aligned: pd.DataFrame
    """The flow's rows of the aligned table."""

    @cached_property
    def duration_s(self) -> float:
        return duration_s([self.flow])


@dataclass(frozen=True)
class RunView(_View):
    """All data flows of a run, and its MAC samples."""

    run: AlignedRun
    flows: Sequence[ObservedFlow]
    mac: pd.DataFrame | None

    @cached_property
    def duration_s(self) -> float:
        """The traffic time."""
        return duration_s(self.flows)

    @property
    def direction(self) -> str:
        """The direction of the first flow."""
        return self.flows[0].flow.direction

    def in_direction(self, direction: str) -> list[ObservedFlow]:
        return [flow for flow in self.flows if flow.flow.direction == direction]

    @property
    def tcp(self) -> list[ObservedFlow]:
        return [flow for flow in self.flows if flow.is_tcp]

    @cached_property
    def common_time(self) -> tuple[int, int]:
        """The time in which all flows were sending."""
        begin = max(flow.first_utc_ns for flow in self.flows)
        return begin, min(flow.last_sent_utc_ns for flow in self.flows)

    def in_common_time(self, at: Int, sizes: npt.NDArray[np.generic]) -> float:
        """Return the sum of the sizes in the time in which all flows were sending."""
        begin, end = self.common_time
        return float(sizes[(at >= begin) & (at < end)].sum())

    @cached_property
    def mac_in_traffic(self) -> pd.DataFrame | None:
        """The MAC intervals that touch the traffic time."""
        if self.mac is None:
            return None
        start = min(flow.first_utc_ns for flow in self.flows)
        end = start + int(self.duration_s * 1e9)
        ends = self.mac["utc_ns"] + self.mac["duration_ns"]
        return self.mac[(ends > start) & (self.mac["utc_ns"] < end)]

    def capacity_bytes(self, direction: str) -> pd.DataFrame | None:
        """Return the intervals whose capacities of a direction add up to the link's, with them as
        `capacity_bytes`; None where that is not known, or there is no sum (ddu.metrics.capacity).
        """
        table = self.mac_in_traffic
        name = f"mac_{direction}_capacity_sdu_bytes"
        if table is None or name not in table:
            return None
        rows = adding_up(table, direction)
        return None if rows is None else rows.assign(capacity_bytes=rows[name].fillna(0))

    def mac_values(self, name: str) -> Float:
        """Return a column of those intervals; empty where there is none."""
        table = self.mac_in_traffic
        if table is None or name not in table:
            return np.zeros(0)
        return floats_of(table, name)


def duration_s(flows: Sequence[ObservedFlow]) -> float:
    """Return the time from the first payload packet sent to the last received or acknowledged."""
    first = min(flow.first_utc_ns for flow in flows)
    return max(max(flow.last_utc_ns for flow in flows) - first, 1) / 1e9
