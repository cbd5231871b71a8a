# SPDX-License-Identifier: Apache-2.0
"""The statistics files that the gNB rewrites about once per second: every version is kept.

docs/run-directory.md defines the format of the result.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from ccu.spec.experiment import Direction
from ccu.testbeds.oai import container_file
from ccu.testbeds.oai.background import Background

NAMES = ("nrMAC_stats.log", "nrL1_stats.log", "nrRRC_stats.log")
_WORKING_FOLDERS = ("opt/oai-gnb", "")
"""The images' working folder, and the root, that of a container without one."""
_PATIENCE_S = 10.0
_POLL_S = 0.1
_COUNTERS: dict[Direction, tuple[re.Pattern[str], ...]] = {
    "dl": (
        re.compile(r"dlsch_total_bytes (\d+)"),
        re.compile(r"\bMAC:\s+TX\s+(\d+) RX\s+\d+ bytes"),
    ),
    "ul": (
        re.compile(r"ulsch_total_bytes_received (\d+)"),
        re.compile(r"\bMAC:\s+TX\s+\d+ RX\s+(\d+) bytes"),
    ),
}


def places_of(name: str) -> list[str]:
    """Return where a file in the working folder of a container may be, below its root folder."""
    return [str(Path(folder, name)) for folder in _WORKING_FOLDERS]


class GnbFiles(Background):
    """A thread that polls the files; `pid` returns the gNB's process.

    `now_ns` returns the time of a reading, UTC; readings are not kept while it is None.
    """

    def __init__(
        self,
        pid: Callable[[], int | None],
        folder: Path,
        now_ns: Callable[[], int | None] = time.time_ns,
    ) -> None:
        super().__init__()
        self._pid = pid
        self._folder = folder
        self._now_ns = now_ns
        self._seen: dict[str, tuple[int, int]] = {}
        self._latest: dict[str, str] = {}
        self._written_ns = 0  # when the gNB wrote the latest version of the MAC's file
        self._counted_ns = 0  # the same, once all files are kept that were there with it

    def finish(self) -> None:
        self._end()

    def _run(self) -> None:
        while not self._stop.wait(_POLL_S):
            pid = self._pid()
            if pid is None:
                continue
            looks = [self._look(pid, name) for name in NAMES]
            # Not before all are kept: what waits for it may end the readings' time next.
            if all(looks):
                self._counted_ns = self._written_ns

    def _look(self, pid: int, name: str) -> bool:
        """Keep the file's version if it is new; return False if the gNB is about to write it."""
        for place in places_of(name):
            try:
                with container_file.opened(pid, place) as file:
                    stat = os.fstat(file.fileno())
                    mark = (stat.st_mtime_ns, stat.st_size)
                    if mark == self._seen.get(name):
                        return stat.st_size > 0 or name not in self._latest
                    text = io.TextIOWrapper(file, errors="replace").read()
            except OSError:
                continue
            self._seen[name] = mark
            if not text:  # The gNB empties it before it writes it again.
                return name not in self._latest
            self._latest[name] = text
            if name == NAMES[0]:
                self._written_ns = stat.st_mtime_ns
            now_ns = self._now_ns()
            if now_ns is None:
                return True
            with (self._folder / name).open("a") as kept:
                seconds, nanoseconds = divmod(now_ns, 10**9)
                kept.write(f"### {seconds}.{nanoseconds:09d}\n{text}")
                if not text.endswith("\n"):
                    kept.write("\n")
            return True
        return True  # The gNB has no such file.

    def wait_for_counters(self) -> None:
        """Wait until the latest version of the MAC's file has all that was counted until now.

        The first version that is written from now on may have been composed before; the second was
        composed after the first was written. Raises TimeoutError.
        """
        now_ns = time.time_ns()
        deadline = time.monotonic() + _PATIENCE_S
        since: set[int] = set()
        while len(since) < 2:
            if time.monotonic() > deadline:
                raise TimeoutError
            time.sleep(_POLL_S)
            if (counted_ns := self._counted_ns) > now_ns:
                since.add(counted_ns)

    def mac_bytes(self, direction: Direction) -> int | None:
        """Return the MAC's byte counter over all UEs; None if this version has none."""
        return mac_bytes(self._latest.get("nrMAC_stats.log", ""), direction)


def mac_bytes(text: str, direction: Direction) -> int | None:
    """Return the sum of the byte counters of a MAC block: 2023's lines, or `MAC: TX n RX n
    bytes`."""
    for pattern in _COUNTERS[direction]:
        if counts := pattern.findall(text):
            return sum(map(int, counts))
    return None
