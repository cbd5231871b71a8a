# SPDX-License-Identifier: Apache-2.0
"""The formats that scenarios are imported from. To add one, add a reader and a line in FORMATS."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ccu.scenarios.sources import android, lumos5g, mahimahi, oai, seconds_mbps, taps, ucc5g
from ccu.scenarios.sources.imported_scenario import ImportedScenario, ImportOptions


class Format(NamedTuple):
    summary: str
    read: Callable[[Path, ImportOptions], ImportedScenario]
    """Read the file. Raises RefusedError with file, line, rule and fix."""


FORMATS: dict[str, Format] = {
    "mahimahi": Format(
        "a trace of delivery opportunities: one integer in ms per line", mahimahi.read
    ),
    "seconds-mbps": Format("lines of `second Mbit/s`", seconds_mbps.read),
    "lumos5g": Format("the CSV of Lumos5G: throughput, or RSRP and SINR, of one run", lumos5g.read),
    "ucc5g": Format("a CSV of UCC's 5G dataset: RSRP and SNR, or bit rates", ucc5g.read),
    "taps": Format("CSV of 1 to 4 complex taps over time, as of channel emulators", taps.read),
    "oai": Format("a finished run, or a log of OpenAirInterface's gNB", oai.read),
    "android": Format("`dumpsys telephony.registry` of a phone, with timestamps", android.read),
}

__all__ = ["FORMATS", "Format", "ImportOptions", "ImportedScenario"]
