# SPDX-License-Identifier: Apache-2.0
"""The effect of the radio's keys on traffic: layers, carriers, RLC mode, and radios by name."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ddu.run.manifest import read_manifest
from ddu.run.radio import described
from testsupport.runs import Runs, command

GOOD = ("--scenario", "static", "--prb", "24", "--duration", "1s", "--no-capture")
"""A channel in which every layer has the highest MCS."""
OVERLOAD = ("--traffic", "udp:400M")
BAD = ("--scenario", "cell-edge", "--prb", "24", "--duration", "2s", "--no-capture")


def samples(run: Path, column: str) -> list[int]:
    """Return the values of a counter in the MAC's samples of 10 ms."""
    with (run / "raw/mac.csv").open() as rows:
        return [int(row[column]) for row in csv.DictReader(rows)]


def carried_bytes(experiments: Runs, *options: object) -> int:
    """Return what the link carries in half a second while more traffic waits than it can carry."""
    run = experiments(*GOOD, *OVERLOAD, *options)
    queued, carried = (samples(run, f"mac_dl_{one}") for one in ("rlc_queue_packets", "sdu_bytes"))
    begin = next(at for at, packets in enumerate(queued) if packets > 1000) + 10
    assert min(queued[begin : begin + 50]) > 1000
    return carried[begin + 50] - carried[begin]


@pytest.mark.parametrize("factor", [2, 4])
def test_layers_multiply_the_rate_in_a_good_channel(factor: int, experiments: Runs) -> None:
    """Less the second half of the DM-RS from three layers on: 132 of 144 resource elements."""
    ratio = carried_bytes(experiments, "--layers", factor) / carried_bytes(experiments)
    assert ratio == pytest.approx(factor * (132 / 144 if factor > 2 else 1), rel=0.03)


def test_carriers_multiply_the_rate(experiments: Runs) -> None:
    ratio = carried_bytes(experiments, "--carriers", 8) / carried_bytes(experiments)
    assert ratio == pytest.approx(8, rel=0.03)


def test_unacknowledged_mode_loses_what_acknowledged_mode_does_not(
    experiments: Runs, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """HARQ gives up where the MCS is too high for the channel."""
    file = tmp_path_factory.mktemp("radio") / "e.yaml"
    file.write_text("radio: {link_adaptation: {fixed_mcs: 20}}\n")
    lost = {}
    for mode in ("am", "um"):
        run = experiments(*BAD, "--traffic", "udp:3M", "-f", file, "--rlc", mode)
        lost[mode] = samples(run, "mac_dl_rlc_loss_count")[-1]
    assert lost["am"] == 0
    assert lost["um"] > 0


def test_a_run_says_what_its_radio_was_and_is_repeated(experiments: Runs, tmp_path: Path) -> None:
    options = ("--radio", "n258-8x100MHz", "--scheduler", "proportional_fair")
    words = ("--cc", "cubic", "--scenario", "static", "--duration", "1s", "--no-capture")
    run = experiments(*words, *options)
    assert described(read_manifest(run).experiment) == (
        "66 PRB at 120 kHz, 8 carriers, 26 GHz, TDD DDDSU, 2/2 layers, 64QAM, "
        "scheduler proportional_fair"
    )
    again = command("ccu", "rerun", str(run), "--output", str(tmp_path))
    assert (again.returncode, "identical to" in again.stdout) == (0, True), again.stderr
