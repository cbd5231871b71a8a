# SPDX-License-Identifier: Apache-2.0
"""The version of a record, which a newer testbed may have written."""

from __future__ import annotations

from pathlib import Path

from ddu.errors import FutureSchema


def need_known(file: Path, version: object, newest: int) -> None:
    """Raise FutureSchema for a record whose `schema_version` is newer than those known here."""
    if isinstance(version, int) and version > newest:
        raise FutureSchema(
            file,
            f"schema_version {version} is newer than {newest}, the newest that this version reads",
            "use the version that recorded it, or a later one",
        )
