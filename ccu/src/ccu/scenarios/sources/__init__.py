# SPDX-License-Identifier: Apache-2.0
"""What scenarios can be made of: add a module with a reader, and its line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ccu.scenarios.sources import android, lumos5g, mahimahi, oai, seconds_mbps, taps, ucc5g
from ccu.scenarios.sources.found import Found, Wanted


class Format(NamedTuple):
    summary: str
    read: Callable[[Path, Wanted], Found]
    """Raises RefusedError with file, line, rule and mend."""


FORMATS: dict[str, Format] = {
    "mahimahi": Format("a trace of delivery opportunities: whole ms, one a line", mahimahi.read),
    "seconds-mbps": Format("lines of `second Mbit/s`", seconds_mbps.read),
    "lumos5g": Format("the CSV of Lumos5G: throughput, or RSRP and SINR, of one run", lumos5g.read),
    "ucc5g": Format("a CSV of UCC's 5G dataset: RSRP and SNR, or bit rates", ucc5g.read),
    "taps": Format("CSV of 1 to 4 complex taps over time, as channel emulators have", taps.read),
    "oai": Format("a finished run, or what OpenAirInterface's gNB printed", oai.read),
    "android": Format("stamped `dumpsys telephony.registry` of a phone", android.read),
}

__all__ = ["FORMATS", "Format", "Found", "Wanted"]
