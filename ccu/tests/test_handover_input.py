# SPDX-License-Identifier: Apache-2.0
"""Scenarios of several cells and settings of handover that cannot work: one message each, with the
place, the rule and the fix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ccu.scenarios import LIBRARY
from testsupport.prepared import command

ROUTE = [{"t_s": 0, "x_m": 0, "y_m": 0}, {"t_s": 40, "x_m": 200, "y_m": 0}]
CELLS = [{"x_m": 0, "y_m": 15}, {"x_m": 200, "y_m": 15}]


def asked(*words: str | Path) -> tuple[int, str]:
    """The exit code and the message of `ccu run --cc cubic --dry-run` with these words."""
    ended = command("ccu", "run", "--cc", "cubic", "--dry-run", *map(str, words))
    return ended.returncode, " ".join((ended.stdout + ended.stderr).split())


def scenario(folder: Path, **radio: Any) -> Path:
    """The scenario two-cells with other keys of its radio."""
    content = yaml.safe_load((LIBRARY / "two-cells.yaml").read_text())
    content["at_end"] = "stop"
    content["radio"] |= {"mobility": {"route": ROUTE}, **radio}
    (folder / "mine.yaml").write_text(yaml.safe_dump(content))
    return folder / "mine.yaml"


def test_cells_are_played(tmp_path: Path) -> None:
    assert asked("--scenario", scenario(tmp_path), "--handover", "cho")[0] == 0


@pytest.mark.parametrize(
    ("radio", "rule", "fix"),
    [
        (
            {"mobility": {"route": [ROUTE[0], {"t_s": 40, "x_m": 90_000, "y_m": 0}]}},
            "s the UE's path leaves all cells",
            "Place a cell there, or end the route before",
        ),
        (
            {"cells": [*CELLS, CELLS[1]]},
            "cells 1 and 2 have one position and one carrier",
            "Move one of them, or give them different carriers or bearings",
        ),
        (
            {"handovers": [{"t_s": 9, "cell": 1}, {"t_s": 5, "cell": 0}]},
            "the handover at 5 s does not come after the one at 9 s",
            "Sort the handovers by time",
        ),
        (
            {"handovers": [{"t_s": 9, "cell": 2}]},
            "there is no cell 2, of 2",
            "Write the number of a cell, from 0",
        ),
    ],
)
def test_cells_that_cannot_be_are_refused(
    radio: dict[str, Any], rule: str, fix: str, tmp_path: Path
) -> None:
    code, message = asked("--scenario", scenario(tmp_path, **radio))
    assert code == 2
    assert "mine.yaml" in message
    assert rule in message
    assert fix in message


def test_an_unknown_kind_of_handover_is_refused_with_those_that_exist() -> None:
    code, message = asked("--scenario", "two-cells", "--handover", "x2")
    assert code == 2
    assert all(word in message for word in ("--handover", "x2", "a3", "cho", "daps", "ltm", "off"))


def test_handover_needs_several_cells() -> None:
    code, message = asked("--scenario", "static", "--handover", "cho")
    assert code == 2
    assert "the scenario has one cell" in message


@pytest.mark.parametrize(
    ("event", "warns"),
    [
        ({"a4": {"threshold_dbm": -20}}, True),
        ({"a4": {"threshold_dbm": -80}}, False),
        ({"a3": {"offset_db": 3}}, False),
        ({"a5": {"serving_dbm": -150, "neighbour_dbm": -90}}, True),
    ],
)
def test_a_threshold_that_no_cell_reaches_is_warned_of(
    event: dict[str, Any], warns: bool, tmp_path: Path
) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(yaml.safe_dump({"scenario": "two-cells", "handover": {"event": event}}))
    code, message = asked("-f", file)
    (name,) = event
    assert code == 0
    assert ("warning: radio.handover.event: no cell ever fulfils" in message) == warns
    assert (f"condition of {name.upper()}" in message) == warns
