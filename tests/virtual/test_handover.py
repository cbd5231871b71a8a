# SPDX-License-Identifier: Apache-2.0
"""TCP over the handovers of a drive, in virtual time: they take place, and the parts of each
packet's delay add up to what the captures show, also of packets that crossed Xn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from testsupport.drives import HANDOVERS, driven, events, handovers
from testsupport.explained import check

KINDS: dict[str, dict[str, Any]] = {
    **{kind: {"handover": kind} for kind in ("a3", "cho", "daps", "ltm")},
    "a3 without forwarding": {"handover": {"kind": "a3", "forwarding": False}},
    "a3 with DRX": {"handover": "a3", "drx": "interactive"},
}
MOST_UES = 64


@pytest.mark.parametrize("name", KINDS)
def test_a_drive_is_driven_and_each_delay_explained(
    kernel: Path, name: str, tmp_path: Path
) -> None:
    run = driven(tmp_path, testbed="virtual", explain=True, **KINDS[name])
    assert check(run) > 1000
    assert handovers(run, 0) == HANDOVERS
    discards = any(one["discarded_bytes"] > 0 for one in events(run, "data_forwarded"))
    assert discards == (name == "a3 without forwarding")


def test_64_ues_with_two_carriers_are_handed_over_with_their_data(
    kernel: Path, tmp_path: Path
) -> None:
    run = driven(tmp_path, testbed="virtual", explain=True, ues=MOST_UES, carriers=2)
    assert check(run) > 1000
    for ue in range(MOST_UES):
        assert handovers(run, ue) == HANDOVERS, f"UE {ue}"
    forwarded = events(run, "data_forwarded")
    assert {one["ue"] for one in forwarded} == set(range(MOST_UES))
    mac = pd.read_csv(run / "raw" / "mac.csv")
    assert mac["ue"].nunique() == MOST_UES
    assert not mac[["mac_dl_rlc_loss_count", "mac_ul_rlc_loss_count"]].to_numpy().any()
