# SPDX-License-Identifier: Apache-2.0
"""Bytes in flight, as the sender's capture shows them."""

from __future__ import annotations

import numpy as np

from ddu.align.bins import Bins
from ddu.readers.packets.segments import Acks, Segments
from ddu.schema.arrays import Float, Int


def inflight_bytes(bins: Bins, data: Segments, acks: Acks) -> Float:
    """Return highest byte sent minus highest byte acknowledged (not SACKed) at each bin's end.

    Null before the first payload packet. After it the state is known at every instant.
    """
    ends = bins.edges_utc_ns[1:]
    sent = _reached(ends, data.utc_ns, data.end)
    acknowledged = _reached(ends, acks.utc_ns, acks.ack)
    started = ends > data.utc_ns[0] if len(data) else np.zeros(bins.count, dtype=bool)
    return np.where(started, np.maximum(sent - acknowledged, 0.0), np.nan)


def _reached(instants: Int, utc_ns: Int, numbers: Int) -> Float:
    """Return the highest number seen before each instant, 0 before any."""
    highest = np.concatenate([[0], np.maximum.accumulate(np.maximum(numbers, 0))])
    index = np.searchsorted(utc_ns, instants, side="left")
    return highest[index].astype(np.float64)
