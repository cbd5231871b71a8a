# SPDX-License-Identifier: Apache-2.0
"""The making of a set of scenarios from a folder of measured traces: the whole set, or nothing."""

from __future__ import annotations

import lzma
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml

from ccu.scenarios import sets
from ccu.scenarios.sets import INDEX, Index
from ccu.scenarios.sources import FORMATS, ImportOptions
from ccu.scenarios.sources.unpacked import copy_xz
from ccu.scenarios.write import write
from ddu.console.problems import Problem, RefusedError, Where, refusal
from ddu.run import durable
from ddu.run.integrity import sha256_of

_PACKED = ".xz"


@dataclass(frozen=True)
class About:
    """The statement of the makers of traces about them."""

    sources: tuple[str, ...]
    license: str
    get: str


def fill(name: str, traces: Path) -> list[str]:
    """Make the scenarios of the known set `name` from the files in `traces`; return their names.

    Raises RefusedError with a line for each trace that is not there or not the published one.
    """
    folder = sets.MEASURED / name
    ours = sets.index(folder)
    there = {_name(file): file for file in _files(traces, "*")}
    problems = [
        Problem(f"no trace {one} of {name}", ours.get, Where(str(traces)))
        for one in ours.traces
        if one not in there
    ]
    problems += [
        Problem("is not the published trace: its SHA-256 differs", ours.get, Where(str(there[one])))
        for one, digest in ours.traces.items()
        if one in there and sha256_of(there[one]) != digest
    ]
    if problems:
        raise RefusedError(problems)
    _write(ours, {one: there[one] for one in ours.traces}, folder)
    return list(ours.traces)


def make(form: str, traces: Path, match: str, about: About, folder: Path) -> list[str]:
    """Make a set of one's own in `folder`; return the names of its traces, in the order in which
    seeds draw them: that of their SHA-256, which has nothing to do with what they contain.

    Raises RefusedError with a line for each trace that cannot be read.
    """
    if folder.exists():
        raise refusal("exists already", "give another --name or --output", file=folder)
    by_digest = {sha256_of(file): file for file in _files(traces, match)}
    ordered = {_name(file): (digest, file) for digest, file in sorted(by_digest.items())}
    if len(ordered) < len(by_digest):
        kept = {file for _, file in ordered.values()}
        other = next(file for file in by_digest.values() if file not in kept)
        rule = f"has the same name as {ordered[_name(other)][1].name}: {_name(other)}"
        raise refusal(rule, "rename one of them", file=other)
    index = Index(
        summary=f"{len(ordered)} measured traces of {traces.resolve().name}.",
        format=form,
        sources=about.sources,
        license=about.license,
        get=about.get,
        traces={name: digest for name, (digest, _) in ordered.items()},
    )
    _write(index, {name: file for name, (_, file) in ordered.items()}, folder)
    return list(ordered)


def _write(index: Index, files: dict[str, Path], folder: Path) -> None:
    """Write the scenarios of `files` and the index into `folder`, all or none."""
    problems: list[Problem] = []
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with durable.temporary_folder(folder.parent, ".dataset-") as held:
            part = held / "set"  # `held` is locked, and each import locks the folder it is for.
            part.mkdir()
            for name, file in files.items():
                try:
                    _one(index, name, file, Path(part))
                except RefusedError as error:
                    problems += error.problems
            if problems:
                raise RefusedError(problems)
            text = yaml.safe_dump(index.model_dump(by_alias=True, mode="json"), sort_keys=False)
            Path(part, INDEX).write_text(text)
            folder.mkdir(exist_ok=True)
            for made in Path(part).iterdir():
                if made.name != INDEX or not (folder / INDEX).exists():
                    shutil.move(made, folder / made.name)
    except OSError as error:
        raise refusal(f"{folder}: {error.strerror}", key="--output") from None


def _one(index: Index, name: str, file: Path, into: Path) -> None:
    with tempfile.TemporaryDirectory() as unpacked:
        plain = file
        if file.suffix == _PACKED:
            plain = Path(unpacked, file.stem)
            try:
                with plain.open("wb") as to:
                    copy_xz(file, to)
            except (lzma.LZMAError, EOFError) as error:
                raise refusal(f"is not xz ({error})", "get it again", file=file) from None
        try:
            imported = FORMATS[index.format].read(plain, ImportOptions(name))
        except RefusedError as error:
            raise RefusedError(
                one.at(Where(str(file), one.where.line)) for one in error.problems
            ) from None
        imported.sources.extend(index.sources)
        write(imported, name, index.license, into)


def _files(traces: Path, match: str) -> list[Path]:
    if not traces.is_dir():
        raise refusal("is not a folder", "give the folder of the traces", file=traces)
    files = [one for one in sorted(traces.glob(match)) if one.is_file() and one.name[0] != "."]
    if not files:
        raise refusal(f"has no file {match}", "give the folder of the traces", file=traces)
    return files


def _name(file: Path) -> str:
    """Return the trace's name: the file's without the suffix of a text or of a packed one."""
    name = re.sub(r"\.xz$", "", file.name)
    name = re.sub(r"\.(csv|txt|log|down|dat)$", "", name)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)
