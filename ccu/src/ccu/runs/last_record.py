# SPDX-License-Identifier: Apache-2.0
"""Space for the last run.json: a disk that a run, or somebody else, has filled does not keep it
out."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ddu.run import durable
from ddu.run.integrity import sealed
from ddu.run.manifest import json_text

_BYTES = 256 * 1024
"""More than a run.json without digests has, with the flows of 64 UEs."""


class LastRecord:
    """A file of allocated blocks (posix_fallocate(3)) that becomes run.json by a rename."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._file = run / ".run.json.reserved"

    def reserve(self) -> None:
        """Take the space. Raises OSError if there is none."""
        with self._file.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _BYTES)

    def write(self, content: dict[str, Any]) -> None:
        """Write run.json in the reserved space. Raises OSError if there is none."""
        text = json_text(sealed(content)).encode()
        with self._file.open("r+b") as file:
            file.write(text)
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        durable.rename_durably(self._file, self._run / "run.json")

    def release(self) -> None:
        """Give the space back."""
        with suppress(OSError):
            self._file.unlink()
