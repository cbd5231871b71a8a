# SPDX-License-Identifier: Apache-2.0
"""The UTC times of a source that has its own clock, with their uncertainty."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ddu.readers.timestamps import DAY_NS
from ddu.schema.arrays import Int


@dataclass(frozen=True)
class Anchor:
    """`utc = offset_ns + rate · source`, both in ns; `source` names the clock of the log."""

    source: str
    """`radio` (Frame.Slot), `uptime` (CLOCK_MONOTONIC), `local` or `time of day`."""
    method: str
    offset_ns: int
    rate: float
    uncertainty_ns: int
    correlation: float | None = None
    """The correlation of bytes per report with the capture, where the method compares them."""

    def utc_ns(self, source_ns: Int) -> Int:
        """Instants in UTC. The rate is applied to the distance from the first instant, so that
        float64 keeps nanoseconds."""
        if not len(source_ns):
            return source_ns
        first = int(source_ns[0])
        scaled = np.round((source_ns - first) * self.rate).astype(np.int64)
        return scaled + round(first * self.rate) + self.offset_ns

    def as_dict(self) -> dict[str, Any]:
        """Return the anchor for summary.json and a table's metadata."""
        return asdict(self)


def by_file_time(source: str, last_ns: int, written_utc_ns: int, period_ns: int) -> Anchor:
    """The last report was written when the file was: uncertain by a report's period, and by what
    was printed after it. Copies that do not keep times make this wrong; it is the last resort."""
    return Anchor(
        source,
        "the file's time of last modification is that of its last report",
        written_utc_ns - last_ns,
        1.0,
        max(period_ns, 1_000_000_000),
    )


def by_zone(source: str, instants_ns: Int, first_utc_ns: int, last_utc_ns: int) -> Anchor | None:
    """A local time, or a time of day, beside a capture whose UTC is known.

    The zone (a multiple of 15 min from UTC) and the date are those that bring the middle of the
    samples nearest to the middle of the capture. None: none brings them within 7.5 min, or the
    samples do not overlap the capture then.
    """
    quarter_ns = 15 * 60 * 1_000_000_000
    middle = (int(instants_ns.min()) + int(instants_ns.max())) // 2
    wanted = (first_utc_ns + last_utc_ns) // 2 - middle
    offset = round(wanted / quarter_ns) * quarter_ns
    overlap = min(int(instants_ns.max()) + offset, last_utc_ns) - max(
        int(instants_ns.min()) + offset, first_utc_ns
    )
    if overlap <= 0:
        return None
    zone_min = -(offset % DAY_NS) // 60_000_000_000
    zone_min = zone_min + 1440 if zone_min < -720 else zone_min
    sign = "-" if zone_min < 0 else "+"
    hours, minutes = divmod(abs(zone_min), 60)
    return Anchor(
        source,
        f"date and zone (UTC{sign}{hours:02d}:{minutes:02d}) are those of the capture's time",
        offset,
        1.0,
        1_000_000,
    )
