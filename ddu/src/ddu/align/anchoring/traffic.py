# SPDX-License-Identifier: Apache-2.0
"""The traffic of a run, as far as a log's clock can be found by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone

import pandas as pd

from ddu.align.anchoring.correlation import Traffic


@dataclass(frozen=True)
class RunTraffic:
    """When a run's data flows sent, on the run's clock."""

    first_utc_ns: int
    last_utc_ns: int
    """The time from the first payload packet sent to the last one seen anywhere."""
    direction: str
    """The direction of the first flow."""
    arrived: Callable[[], Traffic]
    """The payload that arrived in that direction, as far as it was seen."""

    def fault_of(self, name: str, table: pd.DataFrame) -> str | None:
        """Return a sentence if the times of a source are those of another run."""
        if table["utc_ns"].isna().all():
            return None
        begins = int(table["utc_ns"].min())
        ends = int(table["utc_ns"].max())
        if "duration_ns" in table:
            ends += int(table["duration_ns"].iloc[-1])
        if ends >= self.first_utc_ns and begins <= self.last_utc_ns:
            return None
        return (
            f"The samples of {name} are from {_utc(begins)} to {_utc(ends)}, the traffic from "
            f"{_utc(self.first_utc_ns)} to {_utc(self.last_utc_ns)}: they are of another run, or "
            "of a clock that is wrong. They are left out."
        )


def _utc(ns: int) -> str:
    return datetime.fromtimestamp(ns / 1e9, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
