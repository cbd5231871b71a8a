# SPDX-License-Identifier: Apache-2.0
"""What is told to who names something that there is not."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from testbed_console.suggestions import keys_at, near, no_such, no_such_key, slip

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
def test_what_is_near(written: str, meant: list[str]) -> None:
    assert near(written, NAMES) == meant


def test_every_name_is_nearest_to_itself_without_a_letter() -> None:
    for name in NAMES:
        for at in range(len(name)):
            assert near(name[:at] + name[at + 1 :], NAMES)[0] == name


def test_few_names_are_listed_and_of_many_only_those_near() -> None:
    few = no_such("scenario", "rome", NAMES, "or a file")
    assert few.startswith("no scenario 'rome'; did you mean rome-moderate? There are high-speed")
    assert few.endswith("static (or a file)")
    assert no_such("key", "x", ["prb"]) == "no key 'x'; there are prb"
    many = [f"name-{number}" for number in range(100)]
    assert no_such("name", "nam-7", many) == (
        "no name 'nam-7'; did you mean name-7, name-17 or name-27?"
    )
    assert "name-99" in no_such("name", "xyz", many)


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid")
    rate_mbps: float = 1


class Radio(BaseModel):
    model_config = ConfigDict(extra="forbid")
    prb: int = 1
    table: Literal["64qam", "256qam"] = "64qam"


class Both(BaseModel):
    model_config = ConfigDict(extra="forbid")
    link: Literal["none"] | Wire = "none"
    radios: tuple[Radio, ...] = ()


def errors(**written: object) -> list[object]:
    with pytest.raises(ValidationError) as caught:
        Both.model_validate(written)
    return list(caught.value.errors())


def test_keys_are_those_of_the_value_that_the_wrong_one_is_in() -> None:
    (_, of_wire) = errors(link={"rate_mbit": 3})
    assert no_such_key(Both, of_wire).startswith("no key 'rate_mbit'; did you mean rate_mbps?")
    (of_radio,) = errors(radios=[{"prb": 3}, {"prbs": 4}])
    assert no_such_key(Both, of_radio).endswith("did you mean prb? There are prb, table")
    assert keys_at(Both, []) == ["link", "radios"]


def test_a_slip_in_one_of_a_few_words() -> None:
    (error,) = errors(radios=[{"table": "256-qam"}])
    assert slip(error) == "; did you mean 256qam?"
    (error,) = errors(radios=[{"table": "qpsk"}])
    assert slip(error) == ""
