# SPDX-License-Identifier: Apache-2.0
"""Reminis on a path that becomes longer than its DTT, with the kernel module."""

from __future__ import annotations

import pandas as pd
import pytest

from testsupport.runs import Runs

LINK_BPS = 100e6
CHANGE_S = 3
ARGUMENTS = ("--cc", "reminis", "--scenario", "constant-100M", "--rtt", "20ms", "--seed", "1")
ARGUMENTS += ("--change", f"{CHANGE_S}s:rtt=60ms", "--duration", "9s")


@pytest.mark.parametrize("profile", ["paper", "nr"])
def test_its_option_finds_the_longer_path(experiments: Runs, profile: str) -> None:
    """Half of the link is a margin for growth; eight segments per RTT are 1.6 Mbit/s."""
    used = {}
    for new_path in ("off", "on"):
        choice = ("--cc-param", f"profile={profile}", "--cc-param", f"new_path={new_path}")
        run = experiments.analysed(*ARGUMENTS, *choice)
        table = pd.read_parquet(run / "tables" / "aligned.parquet")
        late = table[table["t_s"] > CHANGE_S + 3]
        used[new_path] = late["tcp_throughput_bps"].mean() / LINK_BPS
    print(f"utilisation after the change: {used}")
    assert used["on"] > 0.5
    assert used["off"] < 0.02
