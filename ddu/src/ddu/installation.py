# SPDX-License-Identifier: Apache-2.0
"""This installation: the data of its packages, and the checkout that it is used from, if any."""

from __future__ import annotations

import sys
from importlib import metadata, resources
from pathlib import Path


def _checkout() -> Path | None:
    above = Path(__file__).resolve().parents[3]
    return above if (above / "setup" / "python-environment").is_file() else None


CHECKOUT = _checkout()
"""The checkout that this package is installed from in editable mode (make build does so)."""


def version() -> str:
    """Return the version of the wheel `over5g`, or of the checkout's packages."""
    for distribution in ("over5g", "ddu"):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return "unknown"


def data(package: str, name: str) -> Path:
    """Return a file or folder of a package's data.

    In a checkout they are links to the folders at its top; the path has these resolved.
    """
    return Path(str(resources.files(package))).joinpath("data", name).resolve()


def install_hint() -> str:
    """Return an instruction that completes this installation."""
    return f"run `make build` in {CHECKOUT}" if CHECKOUT else "install this package again"


def build_hint() -> str:
    """Return an instruction that brings back a missing program of this project."""
    there = "" if CHECKOUT else f": the program belongs into {Path(sys.executable).parent}"
    return install_hint() + there
