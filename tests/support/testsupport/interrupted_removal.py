# SPDX-License-Identifier: Apache-2.0
"""A resource during whose removal a signal comes."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True)
class Slow:
    """A file whose removal takes long enough for somebody to press Ctrl-C, or to hang up."""

    kind: ClassVar[str] = "interrupted-removal"
    file: str
    by: signal.Signals

    def remove(self) -> list[str]:
        signal.raise_signal(self.by)
        Path(self.file).unlink(missing_ok=True)
        return []
