# SPDX-License-Identifier: Apache-2.0
"""Quantities as people write them, read once at the edge; inside, units stand in the names."""

from __future__ import annotations

import re

from ccu.spec.socket_buffers import LEAST_BYTES, MOST_BYTES, STOCK
from ddu.console.problems import invalid
from ddu.console.quantities import TIME_S, quantity
from ddu.console.quantities import seconds as seconds
from ddu.console.validation import word

_RATE_BPS = {"bit/s": 1.0, "bps": 1.0, "k": 1e3, "kbit/s": 1e3, "kbps": 1e3, "M": 1e6}
_RATE_BPS |= {"Mbit/s": 1e6, "Mbps": 1e6, "G": 1e9, "Gbit/s": 1e9, "Gbps": 1e9}
# SI prefixes are decimal, IEC ones binary (IEC 80000-13).
_SIZE_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE_BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_PACKETS = ("pkt", "pkts", "packets")


def words(pairs: object) -> object:
    """A mapping of names to text; anything else as it is."""
    if not isinstance(pairs, dict):
        return pairs
    return {str(name): word(value) for name, value in pairs.items()}


def milliseconds(text: object) -> float:
    """A duration in milliseconds: `20ms`. Raises ValueError with the fix, as do all of these."""
    return round(quantity(text, TIME_S, "20ms") * 1e3, 6)


def bits_per_second(text: object) -> float:
    """A rate in bit/s: `100M`, `1.5Gbit/s`."""
    return round(quantity(text, _RATE_BPS, "100M"), 6)


def buffer(text: object) -> object:
    """A queue's limit, in packets (`3200pkt`) or bytes (`2.5MB`); a mapping as it is."""
    if isinstance(text, dict):
        return text
    units = {**dict.fromkeys(_PACKETS, 1.0), **{k: float(v) for k, v in _SIZE_BYTES.items()}}
    value = round(quantity(text, units, "3200pkt or 2.5MB"), 6)
    if value != int(value):
        raise invalid(
            f"{text!r} is not a whole number of packets or bytes",
            "write for example 3200pkt or 2.5MB",
        )
    kind = "packets" if str(text).strip().endswith(_PACKETS) else "bytes"
    return {kind: int(value)}


def size_bytes(text: object, example: str = "500MB") -> int:
    """A number of bytes: `500MB`, `2GiB`."""
    return round(quantity(text, {k: float(v) for k, v in _SIZE_BYTES.items()}, example))


def socket_buffer(text: object) -> object:
    """A limit of socket buffers: `stock`, or bytes (`64MiB`)."""
    if isinstance(text, int) or text == STOCK:
        return text
    limit = size_bytes(text, "stock or 64MiB")
    if not LEAST_BYTES <= limit <= MOST_BYTES:
        raise invalid(f"{text!r} is not between 64KiB and 1GiB", "write for example stock or 64MiB")
    return limit


def loss(text: object) -> object:
    """A share of packets, `0.01` or `1%`; or a mapping with one for `dl` and one for `ul`."""
    if isinstance(text, dict):
        return {way: _share(value) for way, value in text.items()}
    return {"dl": _share(text), "ul": _share(text)}


def _share(text: object) -> float:
    written = str(text).strip()
    try:
        value = float(written.removesuffix("%")) / (100 if written.endswith("%") else 1)
    except ValueError:
        raise invalid(
            f"{text!r} is not a ratio or percentage", "write for example 0.01 or 1%"
        ) from None
    if not 0 <= value <= 1:
        raise invalid(f"{text!r} is not between 0 and 1", "write for example 0.01 or 1%")
    return round(value, 15)


def flows(text: object) -> list[dict[str, object]]:
    """Congestion controls with start times: `cubic@0,./mine.py@10` or `cubic@0,reno@10s`."""
    items = text if isinstance(text, list) else str(text).split(",")
    return [item if isinstance(item, dict) else _flow(str(item)) for item in items]


def _flow(item: str) -> dict[str, object]:
    cc, at, start = item.strip().rpartition("@")
    if not at:
        cc, start = start, ""
    bare = re.fullmatch(r"\d+(\.\d*)?", start.strip())
    if not cc or (at and not start):
        raise invalid(f"{item!r} is not a flow", "write CC@SECONDS, for example cubic@0,reno@10")
    return {"cc": cc.strip(), "start_s": (float(start) if bare else seconds(start)) if at else 0.0}
