# SPDX-License-Identifier: Apache-2.0
"""Sets of measured traces: a folder with an index, and a scenario for each trace.

The index of a set that this project knows is part of it; the traces belong to others, and stay
where their users put them with `ccu scenario dataset`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ccu.spec.yaml_places import read_mapping
from ddu.console.problems import RefusedError, Where, refusal
from ddu.console.suggestions import unknown
from ddu.console.validation import invalid_values
from ddu.installation import data

MEASURED = data("ccu", "scenarios") / "measured"
"""The folder of the sets that this project knows."""
INDEX = "index.yaml"

Text = Annotated[str, Field(min_length=1)]


class Index(BaseModel):
    """The content of a set's index."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    form: Literal["scenario-set/1"] = Field("scenario-set/1", alias="schema")
    summary: Text
    format: Text
    """The format of `ccu scenario import` that its traces have."""
    sources: Annotated[tuple[Text, ...], Field(min_length=1)]
    license: Text
    get: Text
    """The place where the traces can be had."""
    traces: Annotated[
        dict[Text, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]], Field(min_length=1)
    ]
    """The SHA-256 of each trace as it is published, by name, in the order in which seeds draw."""


def known() -> dict[str, str]:
    """Return the names and summaries of the sets that this project knows."""
    files = sorted(MEASURED.glob(f"*/{INDEX}"))
    return {file.parent.name: index(file.parent).summary for file in files}


def folder_of(name: str) -> Path | None:
    """Return the folder of the set `name`, a known one or the path of one's own; None if there is
    no such set."""
    folder = Path(name) if "/" in name else MEASURED / name
    return folder if (folder / INDEX).is_file() else None


def index(folder: Path) -> Index:
    """Return the index of the set in `folder`. Raises RefusedError with file, line and rule."""
    file = folder / INDEX
    content, lines = read_mapping(file)
    try:
        return Index.model_validate(content)
    except ValidationError as error:
        allowed = {one.alias or name for name, one in Index.model_fields.items()}
        raise RefusedError(
            one.at(Where(str(file), lines.get((one.where.key or "").split(".")[0]), one.where.key))
            for one in invalid_values(error, Index, allowed)
        ) from None


def drawn(folder: Path, seed: int) -> Path:
    """Return the scenario that `seed` draws: seeds 1 to N draw each of N traces once."""
    names = list(index(folder).traces)
    return trace(folder, names[(seed - 1) % len(names)])


def trace(folder: Path, name: str) -> Path:
    """Return the scenario of trace `name`. Raises RefusedError, which says where to get it."""
    ours = index(folder)
    if name not in ours.traces:
        raise RefusedError(unknown(f"trace of {folder.name}", name, ours.traces))
    file = folder / f"{name}.yaml"
    if not file.is_file():
        raise refusal(f"{folder.name}: its traces are not on this machine", how_to_get(folder))
    return file.resolve()


def how_to_get(folder: Path) -> str:
    """Return the sentence that says where traces are, and what to do with them."""
    return f"get them ({index(folder).get}), then: ccu scenario dataset {folder.name} FOLDER"


def is_absent(name: str) -> bool:
    """Return whether scenario `name` is of a set whose traces are not on this machine."""
    folder = containing(name)
    return folder is not None and not any(
        (folder / f"{one}.yaml").is_file() for one in index(folder).traces
    )


def containing(name: str) -> Path | None:
    """Return the folder of the set that scenario `name` is or is drawn from."""
    head, _, tail = name.rpartition("/")
    unnumbered, _, number = name.rpartition("-")
    if folder := folder_of(name):
        return folder
    if len(number) > 1 and number.isdecimal() and (folder := folder_of(unnumbered)):
        return folder
    return folder_of(head) if head and tail else None
