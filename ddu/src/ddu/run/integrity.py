# SPDX-License-Identifier: Apache-2.0
"""Digests of a run's files, in the records that name them (docs/run-directory.md#integrity).

A record (run.json, summary.json, campaign.json, cell.json) has its own digest, and those of the
files that it describes, under `integrity`. They show accidents: a disk that lost writes, a copy
that broke off, results of two analyses. They do not stop whoever may write in the directory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ddu.console.input_file import opened
from ddu.errors import UnreadableInput

KEY = "integrity"
RAW_KEY = "raw_sha256"
"""In the `integrity` of results: the digest of the list of the raw data that they were made of."""
CHANGED = "was changed after it was written"
_BLOCK_BYTES = 1 << 20


class Damage(NamedTuple):
    """A file that is not what its record describes."""

    file: str
    rule: str


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with opened(file) as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def described(directory: Path, files: Iterable[Path]) -> list[dict[str, Any]]:
    """Return name, size and digest of each file; names are relative to `directory`."""
    return [
        {
            "file": str(file.relative_to(directory)),
            "bytes": file.stat().st_size,
            "sha256": sha256_of(file),
        }
        for file in sorted(files)
    ]


def regular_files(folder: Path) -> list[Path]:
    """Return the files in a folder and below, without links."""
    return sorted(one for one in folder.rglob("*") if one.is_file() and not one.is_symlink())


def sealed(content: Mapping[str, Any], files: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return a record with its digest, and `files`: as `described`, or as the record has them."""
    record = {name: value for name, value in content.items() if name != KEY}
    covered = _covered(content) | ({} if files is None else {"files": files})
    return {**record, KEY: {"sha256": digest_of({**record, KEY: covered}), **covered}}


def is_intact(content: Mapping[str, Any]) -> bool | None:
    """Return whether a record is as it was sealed; None if it never was."""
    integrity = content.get(KEY)
    if integrity is None:
        return None
    if not isinstance(integrity, dict) or not _are_described(integrity.get("files")):
        return False
    try:
        return bool(integrity.get("sha256") == digest_of({**content, KEY: _covered(content)}))
    except RecursionError:  # Nested too deep for a record of ours.
        return False


def _are_described(files: object) -> bool:
    """Return whether these are files as `described` returns them, or none."""
    if files is None:
        return True
    return isinstance(files, list) and all(
        isinstance(one, dict) and {"file", "bytes", "sha256"} <= one.keys() for one in files
    )


def need_intact(file: Path, content: Mapping[str, Any], fix: str) -> None:
    """Raise UnreadableInput for a record that was changed after it was sealed."""
    if is_intact(content) is False:
        raise UnreadableInput(file, CHANGED, fix)


def files_of(content: Mapping[str, Any]) -> dict[str, dict[str, Any]] | None:
    """Return the described files of a record by their names; None if it describes none."""
    files = _integrity_of(content).get("files")
    return None if files is None else {str(one["file"]): one for one in files}


def digest_of_raw(content: Mapping[str, Any]) -> str | None:
    """Return the digest of the list of a run's raw data, by its run.json; None if it has none."""
    files = _integrity_of(content).get("files")
    return None if files is None else digest_of(files)


def raw_of(results: Mapping[str, Any]) -> str | None:
    """Return the digest of the raw data of the run whose summary.json this is; None if it is older
    than it, or the run is."""
    raw: str | None = _integrity_of(results).get(RAW_KEY)
    return raw


def _covered(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a record's digest covers of `integrity`: all but the digest itself."""
    return {name: value for name, value in _integrity_of(content).items() if name != "sha256"}


def _integrity_of(content: Mapping[str, Any]) -> Mapping[str, Any]:
    integrity = content.get(KEY)
    return integrity if isinstance(integrity, dict) else {}


def damages(directory: Path, files: Iterable[Mapping[str, Any]]) -> Iterator[Damage]:
    """Yield the described files that are missing or different."""
    for one in files:
        name = Path(str(one["file"]))
        outside = name.is_absolute() or ".." in name.parts
        if rule := "is outside of the run" if outside else difference(directory / name, one):
            yield Damage(str(name), rule)


def damages_of_run(
    run: Path, content: Mapping[str, Any], dropped: Collection[str] = ()
) -> Iterator[Damage]:
    """Yield which raw data are not as run.json, whose `content` this is, describes them, but for
    the files that were dropped. What has no digest is not checked."""
    files = files_of(content) or {}
    yield from damages(run, (one for name, one in files.items() if name not in dropped))


def difference(file: Path, described: Mapping[str, Any]) -> str | None:
    """Return how a file differs from its description; None if it does not."""
    try:
        size = file.stat().st_size
        if size != described["bytes"]:
            return f"has {size} bytes, not {described['bytes']}"
        if sha256_of(file) != described["sha256"]:
            return "has another SHA-256"
    except (FileNotFoundError, NotADirectoryError):
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None


def digest_of(content: object) -> str:
    """Return the digest of a JSON value as a reader gets it, for any order of keys and spaces."""
    read = json.loads(json.dumps(content))
    return hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()
