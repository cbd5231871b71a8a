# SPDX-License-Identifier: Apache-2.0
"""The measured links, as parts of link.yaml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ONE_WAY_MS = 10.0
_NR_SYMBOLS_PER_MS = 14


def given(folder: Path, mbps: float, buffer_bytes: int) -> dict[str, Any]:
    """No radio: a constant rate each way."""
    rate = {"constant_mbps": mbps}
    return _link(folder, {"capacity": {"dl": rate, "ul": rate}}, buffer_bytes, buffer_bytes)


def radio(folder: Path, carrier: dict[str, Any], sinr_db: float) -> dict[str, Any]:
    """Return a static channel. The uplink's queue is short, as its delay is that of the ACKs."""
    static = {
        "ss_pbch_block_power_dbm": 0,
        "level": {"rsrp_dbm": -60},
        "noise": {"sinr_db": sinr_db},
    }
    return {**_link(folder, {"radio": static}, 20_000_000, 200_000), "radio": carrier}


def carrier(prb: int, layers: int, mcs_table: str, duplex: Any) -> dict[str, Any]:
    """At 30 kHz and 3.6 GHz."""
    return {
        "carrier_ghz": 3.6,
        "numerology": 1,
        "prb": prb,
        "duplex": duplex,
        "layers": {"dl": layers, "ul": 1},
        "mcs_table": mcs_table,
    }


def mmwave(carriers: int) -> dict[str, Any]:
    """Return carriers of 400 MHz at 120 kHz and 28 GHz, two layers, one slot in five for uplink."""
    return {
        "carrier_ghz": 28,
        "numerology": 3,
        "prb": 264,
        "secondary": [{"count": carriers - 1}],
        "duplex": {"tdd": {"pattern": "DDDSU", "special": {"dl_symbols": 10, "ul_symbols": 2}}},
        "layers": {"dl": 2, "ul": 1},
        "mcs_table": "256qam",
    }


TDD = {"tdd": {"pattern": "DDDDDDDSUU", "special": {"dl_symbols": 6, "ul_symbols": 4}}}
FOUR_LAYER_ELEMENTS = {"FDD": 132.0, "TDD": (7 * 132 + 48) / 10}
"""Downlink data elements of a PRB and slot with four layers (docs/nr-link-model.md, overhead).

A special slot has six symbols, one of them PDCCH, one DM-RS.
"""
_SLOT_ELEMENTS = 14 * 12


def peak_mbps(prb: int, layers: int, numerology: int, elements: float) -> float:
    """TS 38.306 clause 4.1.2 with the overhead of `elements`; 8 bits a symbol, no scaling."""
    symbols_per_s = _NR_SYMBOLS_PER_MS * 1000.0 * 2.0**numerology
    share = elements / _SLOT_ELEMENTS
    return layers * 8 * (948 / 1024) * prb * 12 * symbols_per_s * share * 1e-6


def _link(folder: Path, source: dict[str, Any], dl_bytes: int, ul_bytes: int) -> dict[str, Any]:
    scenario = {
        "schema": "rf-scenario/1",
        "name": "benchmark",
        "summary": "What is measured.",
        "sources": ["chosen"],
        "license": "Apache-2.0",
        "duration_s": 60,
        **source,
    }
    (folder / "scenario.yaml").write_text(json.dumps(scenario))
    return {
        "schema": "nr-link/1",
        "seed": 1,
        "mtu_bytes": 1500,
        "scenario": "scenario.yaml",
        "path": {side: {"delay_ms": ONE_WAY_MS} for side in ("dl", "ul")},
        "queue": {"dl": {"bytes": dl_bytes}, "ul": {"bytes": ul_bytes}},
        "samples": {"interval_ms": 10},
    }
