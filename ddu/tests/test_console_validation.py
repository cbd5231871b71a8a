# SPDX-License-Identifier: Apache-2.0
"""The conversion of pydantic's errors to problems by key."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ddu.console.problems import InvalidValue, Problem, RefusedError, Where, problems_of
from ddu.console.suggestions import keys_at
from ddu.console.validation import invalid_values


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid")
    rate_mbps: float = 1


class Radio(BaseModel):
    model_config = ConfigDict(extra="forbid")
    prb: int = 1
    table: Literal["64qam", "256qam"] = "64qam"

    @field_validator("prb", mode="before")
    @classmethod
    def _is_even(cls, written: int) -> int:
        if written == 7:
            raise InvalidValue(Problem("7 is odd", "write 8"))
        return written


class Both(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    link: Literal["none"] | Wire = "none"
    radios: Annotated[tuple[Radio, ...], Field(min_length=1)] = (Radio(),)

    @model_validator(mode="after")
    def _names_differ(self) -> Both:
        if self.name == "radios":
            where = Where(key="radios")
            raise InvalidValue(Problem("is a name", "choose another", where), Problem("too long"))
        return self


def problems(**written: object) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        Both.model_validate({"name": "x", **written})
    return [str(one) for one in invalid_values(caught.value, Both)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"name": None}, ["name: None is not text"]),
        ({"link": {"rate_mbit": 3}}, ["link.rate_mbit: unknown key. Did you mean rate_mbps?"]),
        ({"radios": [{"prb": 3}, {"prbs": 4}]}, ["radios.1.prbs: unknown key. Did you mean prb?"]),
        ({"radios": [{"prb": 7}]}, ["radios.0.prb: 7 is odd. Write 8"]),
        ({"radios": [{"prb": "x" * 99}]}, [f"radios.0.prb: '{'x' * 59}… is"]),
        ({"radios": []}, ["radios: Tuple should have at least 1 item"]),
        ({"radios": [{"table": "256-qam"}]}, ["radios.0.table: '256-qam' is not '64qam' or "
         "'256qam'. Did you mean 256qam?"]),
        ({"radios": [{"table": "qpsk"}]}, ["radios.0.table: 'qpsk' is not '64qam' or '256qam'"]),
        ({"name": "radios"}, ["radios: is a name. Choose another", "too long"]),
        ({"nam": 1}, ["nam: unknown key. Did you mean name? There are link, name, radios"]),
    ],
)  # fmt: skip
def test_each_mistake_is_a_problem_at_its_key(
    written: dict[str, object], expected: list[str]
) -> None:
    printed = problems(**written)
    assert len(printed) == len(expected)
    assert all(one.startswith(begin) for one, begin in zip(printed, expected, strict=True)), printed


def test_a_missing_key_is_reported_with_the_fix() -> None:
    with pytest.raises(ValidationError) as caught:
        Both.model_validate({})
    assert [str(one) for one in invalid_values(caught.value, Both)] == ["name: is missing. Add it"]


def test_keys_are_those_of_the_value_that_the_wrong_one_is_in() -> None:
    assert keys_at(Both, []) == ["name", "link", "radios"]
    assert keys_at(Both, ["radios", 1]) == ["prb", "table"]


def test_a_problem_survives_being_passed_between_programs() -> None:
    problem = Problem("is 107", "choose 106", Where("e.yaml", 3, "prb"))
    assert Problem.from_json(problem.to_json()) == problem
    assert str(problem) == "e.yaml:3: prb: is 107. Choose 106"
    without = Problem("disk full")
    assert Problem.from_json({**without.to_json(), "fix": None}) == without
    assert str(without) == "disk full"


def test_a_refusal_says_each_problem_once() -> None:
    problem = Problem("is 107", "choose 106", Where(key="--prb"))

    def refuse() -> None:
        raise RefusedError([problem, problem, Problem("disk full")])

    assert problems_of(refuse) == [problem, problem, Problem("disk full")]
    with pytest.raises(RefusedError, match=r"^--prb: is 107\. Choose 106\ndisk full$"):
        refuse()
    assert problems_of(lambda: None) == []
