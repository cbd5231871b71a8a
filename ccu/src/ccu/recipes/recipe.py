# SPDX-License-Identifier: Apache-2.0
"""A recipe: one value, as its file has it (docs/recipes.md)."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ddu.console.input_file import read_json
from ddu.console.problems import RefusedError, refusal
from ddu.console.validation import refused_file
from ddu.errors import unwritable
from ddu.run.manifest import json_text

SCHEMA = "ccu-recipe/1"
_MOST_BYTES = 64 << 20
"""The most of one file that a run needs, unpacked: a recipe may claim anything."""

Made = Literal["run", "comparison", "campaign"]


def _inside(name: str) -> str:
    parts = PurePosixPath(name).parts
    if not parts or parts[0] == "/" or ".." in parts or not name.isprintable():
        raise ValueError(f"{name!r} is not a file below a directory")
    return name


FileName = Annotated[str, AfterValidator(_inside)]


def _unpackable(packed: str) -> str:
    _unpacked(packed)
    return packed


Packed = Annotated[str, AfterValidator(_unpackable)]
"""The content of a file, compressed (zlib) in base64."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunOf(_Value):
    """A run as a campaign keeps its summary: what repeats it, and the digests of the rest."""

    manifest: dict[str, Any]
    """run.json; `kept.dropped` has the digests of the raw data."""
    files: dict[FileName, Packed] = {}
    """The files that the run was made from."""
    bin_ms: float = 20.0
    """The width of the bins of its tables."""

    def write(self, folder: Path) -> None:
        """Write it as a run directory. Raises RefusedError for names that exclude each other."""
        folder.mkdir(parents=True)
        (folder / "run.json").write_text(json_text(self.manifest))
        for name, packed in self.files.items():
            file = folder / name
            content = _unpacked(packed)
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            except OSError as error:
                raise unwritable(file, "cannot be written", error) from None


class Recipe(_Value):
    """The runs, versions and digests of one figure or table."""

    schema_: Literal["ccu-recipe/1"] = Field("ccu-recipe/1", alias="schema")
    file: FileName
    """The figure or table, in the run, comparison or campaign."""
    sha256: str
    made_by: Made
    software: dict[str, Any]
    """The versions that made it."""
    seeds: list[int]
    runs: Annotated[list[RunOf], Field(min_length=1)]
    options: dict[str, Any] = {}
    """The options of `ddu compare`."""
    campaign: dict[str, Any] | None = None
    """The definition of the campaign."""
    cells: list[FileName] = []
    """The cell of each run of a campaign."""

    def text(self) -> str:
        """Return the file's content."""
        return json_text(self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
                         | {"schema": SCHEMA})  # fmt: skip


def packed(content: bytes) -> str:
    """Return a file's content for a recipe."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


def _unpacked(packed: str) -> bytes:
    """Return the content. Raises ValueError."""
    try:
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(base64.b64decode(packed, validate=True), _MOST_BYTES)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"cannot be unpacked ({error}): get the recipe again") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError("is cut off, or too large: get the recipe again")
    return content


def read(file: Path) -> Recipe:
    """Return the recipe in a file. Raises RefusedError."""
    how = "name what `ccu recipe` wrote"
    try:
        content = read_json(file)
    except OSError as error:
        raise refusal(f"cannot be read ({error.strerror})", how, file=file) from None
    except ValueError as error:
        raise refusal(f"is not a recipe ({error})", how, file=file) from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        said = content.get("schema") if isinstance(content, dict) else None
        raise refusal(f"is not a recipe of {SCHEMA} (schema: {said})", how, file=file)
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        raise RefusedError(refused_file(error, Recipe, file).problems[0]) from None
