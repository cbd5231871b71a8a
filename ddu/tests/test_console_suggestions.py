# SPDX-License-Identifier: Apache-2.0
"""The suggestions for unknown names."""

from __future__ import annotations

import pytest

from ddu.console.suggestions import near, unknown

NAMES = ["rome-moderate", "static", "highway", "high-speed-train", "mmwave-walking"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("rome", ["rome-moderate"]),
        ("Rome_Moderate", ["rome-moderate"]),
        ("statik", ["static"]),
        ("high", ["high-speed-train", "highway"]),
        ("mmwave-walkin", ["mmwave-walking"]),
        ("xyz", []),
        ("", []),
    ],
)
def test_similar_names(written: str, meant: list[str]) -> None:
    assert near(written, NAMES) == meant


def test_every_name_is_nearest_to_itself_without_a_letter() -> None:
    for name in NAMES:
        for at in range(len(name)):
            assert near(name[:at] + name[at + 1 :], NAMES)[0] == name


def suggestion(what: str, name: str, there: list[str], see: str = "") -> str:
    return str(unknown(what, name, there, see))


def test_few_names_are_listed_and_of_many_only_similar_ones() -> None:
    few = suggestion("scenario", "rome", NAMES, "or a file")
    assert few.startswith("no scenario 'rome'. Did you mean rome-moderate? There are high-speed")
    assert few.endswith("static (or a file)")
    assert suggestion("key", "x", ["prb"]) == "no key 'x'. There are prb"
    many = [f"name-{number}" for number in range(100)]
    assert suggestion("name", "nam-7", many) == (
        "no name 'nam-7'. Did you mean name-7, name-17 or name-27?"
    )
    assert "name-99" in suggestion("name", "xyz", many)
