# SPDX-License-Identifier: Apache-2.0
"""The files that congestion controls are made of: where they are, and where a run keeps them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from ddu.console.problems import refusal
from ddu.installation import data
from ddu.run.integrity import sha256_of

PATH_VARIABLE = "CCU_CC_PATH"
SHIPPED = data("ccu", "cc/bpf")
POLICIES = data("ccu", "cc/policies")


def folders() -> list[Path]:
    """Return where names are looked up; the user's folders (CCU_CC_PATH) go before the shipped."""
    named = filter(None, os.environ.get(PATH_VARIABLE, "").split(":"))
    return [SHIPPED, POLICIES, *(Path(one) for one in named)]


def sources(suffix: str) -> dict[str, Path]:
    """Return the files that can be named without their folder, by name."""
    return {
        file.name: file.resolve()
        for folder in folders()
        for file in sorted(folder.glob(f"*{suffix}"))
    }


def by_name(suffix: str) -> dict[str, Path]:
    """Return those files by their name without the suffix."""
    return {name.removesuffix(suffix): file for name, file in sources(suffix).items()}


def locate(written: str) -> Path:
    """Return the file that a user wrote: a path, or the name of one in `folders`. Raises
    RefusedError."""
    given = Path(written).expanduser()
    places = [given] if "/" in written else [given, *(one / written for one in folders()[::-1])]
    if file := next((one for one in places if one.is_file()), None):
        return file.resolve()
    what = "is a directory" if given.is_dir() else "no such file"
    raise refusal(f"{written}: {what}", "give a file, or a name of `ccu list cc`", key="cc")


def kept_source(raw: Path, name: str, written: str) -> Path:
    """Return where a run keeps the source of congestion control `name`."""
    suffix = Path(written).name.partition(".")[2]
    return raw / f"cc-{name}.{suffix}"


def keep(source: Path, raw: Path, name: str) -> tuple[Path, dict[str, str]]:
    """Copy the source into the run; return the copy, and what run.json says of it."""
    kept = kept_source(raw, name, source.name)
    shutil.copyfile(source, kept)
    return kept, said_of(kept)


def said_of(kept: Path) -> dict[str, str]:
    """Return what run.json says of a kept source."""
    return {"source": f"raw/{kept.name}", "sha256": sha256_of(kept)}


def keep_parameters(raw: Path, name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Copy the files among the parameters (values with a folder) into the run; return the
    parameters as the run's folder has them."""
    in_run = dict(given)
    for key, written in among(given).items():
        file = Path(written)
        kept = raw / f"cc-{name}-{key}{file.suffix}"
        shutil.copyfile(file, kept)
        in_run[key] = f"./{kept.name}"
    return in_run


def among(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters that are files: their values have a folder."""
    written = {key: Path(value).expanduser() for key, value in parameters.items() if "/" in value}
    return {key: str(file) for key, file in written.items() if file.is_file()}


def check_paths(parameters: Mapping[str, str]) -> None:
    """Refuse parameters that name a file which is not there. A contained policy could only say that
    it may not look."""
    for key, value in parameters.items():
        if value.startswith(("/", "./", "../", "~")) and not Path(value).expanduser().exists():
            raise refusal(f"{value}: no such file", "give a file", key=f"cc_params.{key}")
