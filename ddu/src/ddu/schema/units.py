# SPDX-License-Identifier: Apache-2.0
"""Units: which one a name's suffix stands for, its decimals in CSV, and how people read it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Unit:
    """A unit of a column or of a number in summary.json."""

    name: str = ""
    """The unit in `ddu schema`; "1" for a ratio or a count, empty where it is not known."""
    digits: int | None = None
    """Decimals that CSV files keep; None for all of them."""
    shown: str = ""
    """The unit in reports and plots, in which a value is `scale` times as large."""
    scale: float = 1.0
    shown_digits: int = 1


_BY_SUFFIX = {
    "_utc_ns": Unit("ns since 1970-01-01T00:00:00Z", 0),
    "utc_ns": Unit("ns since 1970-01-01T00:00:00Z", 0),
    "_ns": Unit("ns", 0, "ns", 1, 0),
    # A host stamps packets to the microsecond at best.
    "_us": Unit("µs", 3, "µs"),
    "_ms": Unit("ms", 4, "ms"),
    "_s": Unit("s", 9, "s"),
    "_bps": Unit("bit/s", 0, "Mbit/s", 1e-6),
    "_bytes_per_s": Unit("B/s", 0, "kB/s", 1e-3),
    "_per_s": Unit("1/s", 3, "1/s"),
    # Shares of a sample that overlaps two bins: tenths of a byte, thousandths of a packet.
    "_bytes": Unit("B", 1, "kB", 1e-3, 0),
    "_packets": Unit("packets", 3, "packets", 1, 0),
    "_count": Unit("1", 3, "", 1, 0),
    "_ratio": Unit("1", 6, "%", 100),
    "_dbm": Unit("dBm", 3, "dBm"),
    "_db": Unit("dB", 3, "dB"),
    "_prb": Unit("PRB", 3, "PRB"),
    "_khz": Unit("kHz", 3, "kHz", 1, 0),
    "_c": Unit("°C", 3, "°C"),
}
_BY_NAME = {
    "1": Unit("1", 6, "", 1, 3),
    "1/s": Unit("1/s", 3, "1/s"),
    "segments": Unit("segments", 3, "segments", 1, 0),
    "datagrams": Unit("datagrams", 3, "datagrams", 1, 0),
    "packets": Unit("packets", 3, "packets", 1, 0),
    "slots": Unit("slots", 3, "slots", 1, 0),
    "blocks": Unit("blocks", 3, "blocks", 1, 0),
    "PRB·slots": Unit("PRB·slots", 3, "PRB·slots", 1, 0),
    "index": Unit("index", 3, "index"),
    "layers": Unit("layers", 3, "layers"),
    "bit/symbol": Unit("bit/symbol", 3, "bit/symbol"),
    "B": Unit("B", 1, "kB", 1e-3, 0),
}


@cache  # Every table that is written asks for the units of all its columns.
def unit_of(name: str, declared: str = "") -> Unit:
    """Return the declared unit, else the one that the suffix of `name` stands for."""
    if declared:
        return _BY_NAME.get(declared, Unit(declared, None, declared))
    suffix = stem(name)[1]
    return _BY_SUFFIX[suffix] if suffix else Unit()


def stem(name: str) -> tuple[str, str]:
    """Return the name without the suffix of its unit, and that suffix."""
    suffix = max((each for each in _BY_SUFFIX if name.endswith(each)), key=len, default="")
    return name.removesuffix(suffix), suffix
