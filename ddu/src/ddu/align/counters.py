# SPDX-License-Identifier: Apache-2.0
"""Cumulative counters: which columns are counters, and their growth."""

from __future__ import annotations

import numpy as np

from ddu.schema.arrays import Float


def is_counter(name: str) -> bool:
    """Return whether a column is cumulative: counts and bytes are, except those of a queue."""
    return name.endswith(("_count", "_bytes", "_bytes_scheduled")) and "_queue_bytes" not in name


def increments(counter: Float) -> Float:
    """Return the growth of a cumulative counter per interval; only here are counters differenced.

    The counter is 0 when the link starts. One that falls has been restarted: it grew by its new
    value. An interval without a value has a null increment, and the next one gets what came since.
    """
    known = ~np.isnan(counter)
    values = counter[known]
    grown = np.diff(values, prepend=0.0)
    result = np.full(len(counter), np.nan)
    result[known] = np.where(grown < 0, np.where(values < 0, grown + 2.0**32, values), grown)
    return result
