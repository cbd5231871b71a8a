# SPDX-License-Identifier: Apache-2.0
"""The files that congestion controls are made of: where a run keeps them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from ddu.console.problems import refusal
from ddu.run.integrity import sha256_of


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


def kept_parameter(raw: Path, name: str, key: str, written: str) -> Path:
    """Return where a run keeps the file that is parameter `key` of congestion control `name`."""
    return raw / f"cc-{name}-{key}{Path(written).suffix}"


def keep_parameters(raw: Path, name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Copy the files among the parameters (values with a folder) into the run; return the
    parameters as the run's folder has them."""
    in_run = dict(given)
    for key, written in among(given).items():
        kept = kept_parameter(raw, name, key, written)
        shutil.copyfile(written, kept)
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
