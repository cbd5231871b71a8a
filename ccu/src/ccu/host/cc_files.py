# SPDX-License-Identifier: Apache-2.0
"""The files that congestion controls are made of: where they are."""

from __future__ import annotations

import os
from pathlib import Path

from ddu.console.input_file import why_none
from ddu.console.problems import refusal
from ddu.installation import data

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
        file.name: file.resolve() if file.is_symlink() else file
        for folder in folders()
        for file in sorted(folder.resolve().glob(f"*{suffix}"))
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
    fix = "give a file, or a name of `ccu list cc`"
    raise refusal(f"{written}: {why_none(given)}", fix, key="cc")
