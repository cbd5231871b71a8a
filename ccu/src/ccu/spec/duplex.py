# SPDX-License-Identifier: Apache-2.0
"""The pattern by which downlink and uplink share a carrier in time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ccu.spec.testbed import Value


class Special(Value):
    """Symbols of a special slot before and after the guard."""

    dl_symbols: Annotated[int, Field(ge=0, le=14)] = 6
    ul_symbols: Annotated[int, Field(ge=0, le=14)] = 4


class Tdd(Value):
    """Slots in turn: D, S and U (TS 38.213 clause 11.1)."""

    pattern: Annotated[str, Field(pattern=r"^[DSU]{1,80}$")] = "DDDDDDDSUU"
    special: Special = Special()


class TddDuplex(Value):
    tdd: Tdd
