# SPDX-License-Identifier: Apache-2.0
"""The radio's time from the gNB's stdout, for versions whose telnet server does not report it.

The gNB prints `Frame.Slot F.S` every 128 frames of 10 ms; frames count modulo 1024.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path

FRAME_S = 0.01
_FRAMES = 1024
_LINE = re.compile(r"^(\S+Z) .*Frame\.Slot (\d+)\.\d+", re.MULTILINE)


class FrameClock:
    """A reader of new lines in the gNB's log, which begin with their time of arrival."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = 0
        self._frames: int | None = None

    def latest(self) -> tuple[float, int] | None:
        """Return (radio's seconds, UTC ns of arrival) of the newest line since the last call, if
        any."""
        with self._log.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        newest = None
        for match in _LINE.finditer(whole.decode(errors="replace")):
            frame = int(match[2])
            before = self._frames
            # More than one period between two lines cannot be detected: 10 s without output.
            step = (frame - (before or 0)) % _FRAMES
            self._frames = frame if before is None else before + step
            newest = self._frames * FRAME_S, _utc_ns(match[1])
        return newest


def _utc_ns(stamp: str) -> int:
    """Return the UTC ns of an RFC 3339 timestamp with nanoseconds, in UTC."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    seconds = datetime.fromisoformat(whole).replace(tzinfo=timezone.utc).timestamp()
    return round(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9] or 0)
