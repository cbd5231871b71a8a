# SPDX-License-Identifier: Apache-2.0
"""Users' YAML: what parsers cannot read safely is refused at its line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from ccu.campaigns import definition
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


def bomb(levels: int, width: int) -> str:
    lines = ["l0: &l0 [x]"]
    lines += [f"l{n + 1}: &l{n + 1} [{', '.join([f'*l{n}'] * width)}]" for n in range(levels)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        (bomb(9, 9), 7, "more than 200000 values, aliases written out"),
        (bomb(40, 2), 18, "more than 200000 values"),
        ("a: &a [*a]\n", 1, "an alias of what it stands in"),
        (f"seed: {'9' * 200_000}\n", 1, "a number of more than 100 characters"),
        (f"prb: 106\nseed: 0x{'f' * 5_000}\n", 2, "a number of more than 100 characters"),
        (f"seed: 1{':59' * 5_000}\n", 1, "a number of more than 100 characters"),
        ("- x\n" * 300_000, 200_000, "more than 200000 values"),
    ],
)
def test_text_that_holds_up_the_process_is_refused(
    tmp_path: Path, text: str, line: int, rule: str
) -> None:
    file = tmp_path / "bomb.yaml"
    file.write_text(text)
    with pytest.raises(RefusedError, match=f"bomb.yaml:{line}: .*{rule}"):
        read_mapping(file)


@pytest.mark.parametrize("path", ["pipe", "/dev/zero", "/dev/null"])
def test_what_is_not_a_regular_file_is_refused(tmp_path: Path, path: str) -> None:
    """A named pipe hung, and /dev/zero took all memory."""
    file = tmp_path / path
    if path == "pipe":
        os.mkfifo(file)
    with pytest.raises(RefusedError, match="not a regular file"):
        read_mapping(file)


def test_a_file_larger_than_people_write_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as sparse:
        sparse.truncate(1 << 40)
    with pytest.raises(RefusedError, match="has 1099511627776 bytes"):
        read_mapping(file)


@pytest.mark.parametrize(
    ("factors", "repeats", "rule"),
    [
        ({f"f{n}": range(30) for n in range(6)}, 1, "factors: has 729000000 points"),
        ({"seed": range(101)}, 10_000, "repeats: makes 1010000 runs"),
    ],
)
def test_a_campaign_that_cannot_be_listed_is_refused(
    tmp_path: Path, factors: dict[str, range], repeats: int, rule: str
) -> None:
    """30⁶ points took minutes, and all memory."""
    lines = [f"  {name}: {list(levels)}" for name, levels in factors.items()]
    file = tmp_path / "wide.yaml"
    text = f"title: wide\nrepeats: {repeats}\nfactors:\n" + "\n".join(lines) + "\n"
    file.write_text(text)
    with pytest.raises(RefusedError, match=rule):
        definition.read(file)
