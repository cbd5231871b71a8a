# SPDX-License-Identifier: Apache-2.0
"""Users' YAML: what parsers cannot read safely is refused at its line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ccu.spec import yaml_text
from ccu.spec.yaml_places import read_mapping
from ddu.console.problems import RefusedError


def nested(levels: int) -> str:
    return f"prb: 106\ncc: {'[' * levels}{']' * levels}\n"


def test_like_the_reference_parser() -> None:
    text = "base: &a {rtt: 20ms, n: [1, 2.5, null]}\nother: {<<: *a, n: 2026-01-02}\n" + nested(49)
    assert yaml_text.load(text) == yaml.safe_load(text)


@pytest.mark.parametrize("levels", [50, 5_000, 1_000_000])  # A parser in C ends the process.
def test_deep_nesting_is_refused(tmp_path: Path, levels: int) -> None:
    file = tmp_path / "deep.yaml"
    file.write_text(nested(levels))
    with pytest.raises(RefusedError, match=r"deep.yaml:2: .*50 levels deep"):
        read_mapping(file)
