# SPDX-License-Identifier: Apache-2.0
"""The peak rates of the radios by name, computed from TS 38.306 clause 4.1.2, and what nr-link
carries in a channel without noise. Nothing here is taken from nr-link's code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ccu.scenarios import radios
from ccu.scenarios.play import experiment, play
from ddu.installation import CHECKOUT

QUIET = """\
schema: rf-scenario/1
name: quiet
summary: No noise.
sources: [chosen]
license: Apache-2.0
duration_s: 1
radio:
  ss_pbch_block_power_dbm: 0
  level: {rsrp_dbm: -60}
  noise: {sinr_db: 60}
  noise_ul: {floor_dbm_per_re: -130}
"""
DIRECTIONS = ("dl", "ul")
# "Qm is the maximum supported modulation order", "Rmax = 948/1024".
QM = {"64qam": 6, "256qam": 8}
R_MAX = 948 / 1024
# "OH is the overhead": 0.14 and 0.18 for FR1 and FR2 downlink, 0.08 and 0.10 uplink.
OVERHEAD = {"dl": (0.14, 0.18), "ul": (0.08, 0.10)}
FR2_GHZ = 24.25
LEAST_OVERHEAD = {"dl": 24 / 168, "ul": 12 / 168}
"""The overhead of nr-link in a full slot (docs/nr-link-model.md), with up to two layers."""
BLOCK_SIZE_STEP = 0.02
"""Sizes of transport blocks have steps (TS 38.214 clause 5.1.3.2): up to 2 % from the formula."""
HEADERS = 0.005
"""The share of SDAP, PDCP, RLC and MAC headers in packets of 1500 bytes: 7 bytes."""


class Carrier(NamedTuple):
    """A component carrier of one direction."""

    prb: int
    mu: int
    ghz: float
    pattern: str
    special_dl: int

    def symbols_ratio(self, direction: str) -> float:
        """Return the share of the symbols that the direction has for data."""
        if self.pattern == "fdd":
            return 1.0
        slots = self.pattern.count("D") if direction == "dl" else self.pattern.count("U")
        special = self.pattern.count("S") * self.special_dl / 14 if direction == "dl" else 0
        return (slots + special) / len(self.pattern)

    def data_elements(self, direction: str, layers: int) -> float:
        """Return the resource elements with data of a PRB and slot, on average over the pattern,
        by what docs/nr-link-model.md says of PDCCH and DM-RS."""
        dmrs = 12 if layers > 2 else 6
        if direction == "ul":
            ratio = 1.0 if self.pattern == "fdd" else self.pattern.count("U") / len(self.pattern)
            return ratio * (14 * 12 - 2 * dmrs)
        whole = 13 * 12 - 2 * dmrs
        if self.pattern == "fdd":
            return whole
        # Two DM-RS symbols where the data reach the eighth symbol.
        special = (self.special_dl - 1) * 12 - (2 if self.special_dl >= 8 else 1) * dmrs
        sums = self.pattern.count("D") * whole + self.pattern.count("S") * special
        return sums / len(self.pattern)


def carriers(radio: dict[str, Any], direction: str) -> Iterator[Carrier]:
    """Yield the carriers of a preset that the direction has."""
    groups = [{"count": 1}, *radio.get("secondary", [])]
    for group in groups:
        if direction == "ul" and group.get("uplink") is False:
            continue
        own = {**radio, **group}
        tdd = own["duplex"]["tdd"] if own["duplex"] != "fdd" else {"pattern": "fdd"}
        special = tdd.get("special", {"dl_symbols": 6})["dl_symbols"]
        one = Carrier(*(own["prb"], own["numerology"], own["carrier_ghz"], tdd["pattern"], special))
        yield from [one] * group.get("count", 1)


def bits_per_element(radio: dict[str, Any], direction: str) -> float:
    return float(radio["layers"][direction] * QM[radio["mcs_table"]] * R_MAX)


def peak_mbps(radio: dict[str, Any], direction: str) -> float:
    """Return the data rate of clause 4.1.2, Mbit/s, for the symbols of the direction."""
    rate = 0.0
    for carrier in carriers(radio, direction):
        symbol_s = 1e-3 / (14 * 2**carrier.mu)
        overhead = OVERHEAD[direction][carrier.ghz >= FR2_GHZ]
        elements_per_s = carrier.prb * 12 / symbol_s * carrier.symbols_ratio(direction)
        rate += 1e-6 * bits_per_element(radio, direction) * elements_per_s * (1 - overhead)
    return rate


def stated_mbps(radio: dict[str, Any], direction: str) -> float:
    """Return the same with the overheads that nr-link documents."""
    elements_per_s = sum(
        one.prb * one.data_elements(direction, radio["layers"][direction]) * 1000 * 2**one.mu
        for one in carriers(radio, direction)
    )
    return 1e-6 * bits_per_element(radio, direction) * elements_per_s


def played_mbps(name: str, folder: Path) -> dict[str, float]:
    """Return what nr-link carries over the radio when the link has settled."""
    file = folder / "quiet.yaml"
    file.write_text(QUIET)
    # A UE that is strong enough for the highest MCS: the clause knows no power.
    loud = {"radio.uplink": {"pcmax_dbm": 60, "target_snr_db": 55}}
    flags: dict[str, Any] = {"radio": name, **loud}
    rows = play(experiment(str(file), flags), seconds=0.6, interval_ms=100)
    settled = rows[rows["t_s"] >= 0.3]
    return {way: float(settled[f"{way}_capacity_mbps"].mean()) for way in DIRECTIONS}


@pytest.mark.parametrize("name", list(radios.library()))
def test_a_radio_reaches_its_peak_rate(name: str, tmp_path: Path) -> None:
    radio, _ = radios.read("radio", name)
    played = played_mbps(name, tmp_path)
    for direction in DIRECTIONS:
        ratio = played[direction] / stated_mbps(radio, direction)
        assert 1 - BLOCK_SIZE_STEP - HEADERS < ratio < 1 + BLOCK_SIZE_STEP, (direction, ratio)
        # No more than the clause says, but for the overhead that it assumes and nr-link has not.
        overhead = OVERHEAD[direction][radio["carrier_ghz"] >= FR2_GHZ]
        most = max(1.0, (1 - LEAST_OVERHEAD[direction]) / (1 - overhead)) * (1 + BLOCK_SIZE_STEP)
        of_clause = played[direction] / peak_mbps(radio, direction)
        assert of_clause < most, (direction, of_clause)


def test_the_documentation_has_the_peak_rates() -> None:
    page = (CHECKOUT / "docs" / "scenarios.md").read_text()
    for name in radios.library():
        radio, _ = radios.read("radio", name)
        peaks = " | ".join(f"{peak_mbps(radio, way):.0f}" for way in DIRECTIONS)
        assert f"| `{name}` | {peaks} |" in page
