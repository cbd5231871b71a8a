# SPDX-License-Identifier: Apache-2.0
"""The radio of a run in one line."""

from __future__ import annotations

from typing import Any

import pytest

from ddu.run.manifest import Experiment
from ddu.run.radio import described

CARRIER = {
    **{"prb": 66, "numerology": 3, "carrier_ghz": 26.0, "mcs_table": "64qam"},
    "duplex": {"tdd": {"pattern": "DDDSU", "special": {"dl_symbols": 10, "ul_symbols": 2}}},
    "gnb_profile": "ideal",
}


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ({"prb": None}, None),
        ({"prb": 24}, "24 PRB"),
        (CARRIER, "66 PRB at 120 kHz, 26 GHz, TDD DDDSU, 64QAM"),
        ({"prb": 52, "numerology": 0, "duplex": "fdd"}, "52 PRB at 15 kHz, FDD"),
        ({"prb": 106, "gnb_profile": "oai-2026.w11"}, "106 PRB, gNB oai-2026.w11"),
        (
            CARRIER
            | {
                "radio": {
                    "secondary": [{"count": 1}, {"count": 6, "uplink": False}],
                    "layers": {"dl": 4, "ul": 1},
                    "rlc": {"mode": "um"},
                    "scheduler": {"proportional_fair": {"window_slots": 50}},
                }
            },
            "66 PRB at 120 kHz, 8 carriers, 26 GHz, TDD DDDSU, 4/1 layers, 64QAM, rlc mode um, "
            "scheduler proportional_fair window_slots 50",
        ),
    ],
)
def test_the_line_has_what_run_json_says(written: dict[str, Any], line: str | None) -> None:
    assert described(Experiment.model_validate({"direction": "dl", **written})) == line
