# SPDX-License-Identifier: Apache-2.0
"""The radio's time from the gNB's stdout, for versions whose telnet server does not report it.

The gNB prints `Frame.Slot F.S` every 128 frames of 10 ms; frames count modulo 1024.
"""

from __future__ import annotations

import re
from pathlib import Path

from ccu.testbeds.oai.stamp import utc_ns_of

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
            newest = self._frames * FRAME_S, utc_ns_of(match[1])
        return newest
