# SPDX-License-Identifier: Apache-2.0
"""The columns of mac.csv: nr-link writes them, ddu declares what they are."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from ccu.host import programs
from ddu.schema.columns import Column, source_columns


def written() -> list[str]:
    words = [programs.require("nr-link"), "list", "columns"]
    names: list[str] = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
    return names


def declared(name: str) -> Column | None:
    of_all = (one for section in ("time", "mac", "phone") for one in source_columns(section))
    for column in of_all:
        pattern = re.escape(column.name).replace(r"\{direction\}", "(dl|ul)")
        if re.fullmatch(pattern.replace(r"\{n\}", "[0-9]+"), name):
            return column
    return None


@pytest.mark.parametrize("name", written())
def test_ddu_declares_each_column_that_nr_link_writes(name: str) -> None:
    column = declared(name)
    assert column, f"declare {name} in ddu/src/ddu/schema/columns.yaml"
    assert column.unit
    assert column.definition


def test_both_directions_have_the_same_columns() -> None:
    of = {way: [n[7:] for n in written() if n.startswith(f"mac_{way}_")] for way in ("dl", "ul")}
    assert len(set(written())) == len(written())
    # SNR and rank of the uplink are columns of the UE.
    assert [name for name in of["ul"] if name not in ("snr_db", "ri")] == of["dl"]
