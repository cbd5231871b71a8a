# SPDX-License-Identifier: Apache-2.0
"""An OAI log as a sequence of reports, each with the times that the log gives for it.

Two forms. stdout prints a line `Frame.Slot F.S` before each report. A statistics file holds the
newest report only; whoever collects it writes a line `### <seconds since 1970>` before each
reading (docs/run-directory.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ddu.readers.logs import Line, known_times, lines_of
from ddu.readers.timestamps import unix_ns

_READING = re.compile(r"^### (\d{9,10})(?:\.(\d{1,9}))?\s*$")
_FRAME = re.compile(r"\bFrame\.Slot (\d{1,4})\.(\d{1,3})\s*$")
COMPONENT = re.compile(r"^\[[A-Z0-9_]+\](?: +[A-Z](?= ))? +")
"""The component that printed the line, and its level."""
FRAMES = 1024
"""A system frame number has ten bits (3GPP TS 38.331, MIB)."""
FRAME_NS = 10_000_000
SLOTS_PER_FRAME = 20
"""At 30 kHz, as OAI's rfsim configurations have it; OAI prints its reports at slot 0."""

_REPORT_FRAMES = 128
"""Frames between two reports of stdout."""


@dataclass
class Report:
    """The lines between two marks; times are None where the log gives none."""

    lines: list[Line] = field(default_factory=list)
    utc_ns: int | None = None
    uptime_ns: int | None = None
    radio_ns: int | None = None
    is_reading: bool = False
    """A reading of a statistics file, whose end may be what an earlier report left there."""

    @property
    def times(self) -> dict[str, int]:
        """The known times, by the name of their column."""
        return known_times(utc_ns=self.utc_ns, uptime_ns=self.uptime_ns, radio_ns=self.radio_ns)


class RadioTime:
    """System frame numbers without wrapping; consecutive ones are less than 10.24 s apart.

    Where the lines have a time, it shows how often the number wrapped in a longer gap.
    """

    def __init__(self) -> None:
        self._frames: int | None = None
        self._wall_ns: int | None = None

    def at(self, frame: int, slot: int, wall_ns: int | None) -> int:
        """Radio time in ns since the frame with number 0 before the first one seen."""
        if self._frames is None:
            self._frames = frame
        else:
            step = (frame - self._frames) % FRAMES
            self._frames += step
            # One report after the other: the radio was slow, and no report is missing.
            if step != _REPORT_FRAMES:
                self._frames += FRAMES * self._missed(wall_ns)
        self._wall_ns = wall_ns
        return self._frames * FRAME_NS + slot * FRAME_NS // SLOTS_PER_FRAME

    def _missed(self, wall_ns: int | None) -> int:
        """Whole wraps of 10.24 s in a gap; only where it is much longer than a report's period,
        for rfsim's radio time runs at its own pace."""
        if wall_ns is None or self._wall_ns is None:
            return 0
        return max((wall_ns - self._wall_ns) // (FRAMES * FRAME_NS), 0)


def reports_of(text: str) -> Iterator[Report]:
    """The reports of a log, in order. Lines before the first mark are a report of their own."""
    current, radio = Report(), RadioTime()
    for line in lines_of(text):
        if match := _READING.match(line.text):
            yield current
            current = Report(utc_ns=unix_ns(match[1], match[2]), is_reading=True)
        elif match := _FRAME.search(line.text):
            yield current
            wall_ns = line.uptime_ns if line.uptime_ns is not None else line.utc_ns
            at = radio.at(int(match[1]), int(match[2]), wall_ns)
            current = Report([], line.utc_ns, line.uptime_ns, at)
        else:
            current.lines.append(_without_component(line))
    yield current


def _without_component(line: Line) -> Line:
    text = COMPONENT.sub("", line.text)
    return Line(line.number, text, line.utc_ns, line.uptime_ns)
