# SPDX-License-Identifier: Apache-2.0
"""A source on the run's clock, and the steps that sources share on the way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ddu.readers.logs import LogTable
from ddu.readers.timestamps import DAY_NS
from ddu.schema.arrays import Int


@dataclass(frozen=True)
class Anchored:
    """A source on the run's clock; without a table where it cannot be brought onto it."""

    table: pd.DataFrame | None = None
    alignment: Mapping[str, Any] | None = None
    """The anchor that made its times UTC; None if they were UTC already."""
    events: pd.DataFrame | None = None
    """The changes that a phone went through."""
    faults: tuple[str, ...] = ()


def alignment_of(clock: Mapping[str, Any], log: LogTable) -> dict[str, Any]:
    """Return how the times of a log became UTC, with what the log itself says."""
    return {**clock, "file": log.file.name, "format": log.kind, "notes": log.notes}


def unwrapped(values: pd.Series, column: str) -> Int:
    """Return the known instants of a column; times of day (`of_day_ns`) go on over midnight."""
    at: Int = values.dropna().to_numpy(dtype=np.int64)
    if column != "of_day_ns" or len(at) < 2:
        return at
    days = np.concatenate([[0], np.cumsum(np.diff(at) < -DAY_NS // 2)])
    continued: Int = at + days * DAY_NS
    return continued
