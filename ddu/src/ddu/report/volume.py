# SPDX-License-Identifier: Apache-2.0
"""The time that flows of a given volume took, as people read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_UNITS = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))


def completed(summary: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the volume and the time that it took, as `100 MB` and `8.3`; None unless all flows
    had a volume, and completed it."""
    took_s = summary.get("completion_s")
    if took_s is None:
        return None
    volumes = [flow["volume_bytes"] for flow in summary["flows"]]
    one = _size(volumes[0]) if len({*volumes}) == 1 else _size(sum(volumes))
    several = len(volumes) > 1 and len({*volumes}) == 1
    took = f"{took_s:.3g}" if took_s < 999.5 else f"{took_s:.0f}"
    return (f"{len(volumes)} times {one}" if several else one), took


def _size(size_bytes: float) -> str:
    unit, scale = next(each for each in _UNITS if size_bytes >= each[1] or each[1] == 1)
    return f"{size_bytes / scale:.4g} {unit}"
