# SPDX-License-Identifier: Apache-2.0
"""A program that prints each line of a growing file with its time of arrival, as `docker logs -t`.

`python stamp.py FILE PID` ends when the process has ended and the file is read.
"""

from __future__ import annotations

import sys
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import IO

_POLL_S = 0.05


def follow(file: Path, pid: int, out: IO[str]) -> None:
    """Print complete lines; print a last, incomplete line when the process has ended."""
    rest = ""
    with file.open(newline="", errors="replace") as log:
        while True:
            alive = Path(f"/proc/{pid}").exists()
            text = log.read()
            *lines, rest = (rest + text).split("\n")
            for line in lines:
                print(f"{stamp_of(time.time_ns())} {line.rstrip(chr(13))}", file=out)
            if text:
                out.flush()
            elif not alive:
                if rest:
                    print(f"{stamp_of(time.time_ns())} {rest}", file=out)
                return
            else:
                time.sleep(_POLL_S)


def stamp_of(utc_ns: int) -> str:
    """Return the time as RFC 3339 has it, in UTC with nanoseconds."""
    seconds, nanoseconds = divmod(utc_ns, 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{nanoseconds:09d}Z"


def utc_ns_of(stamp: str) -> int:
    """Return the UTC ns of such a time, whose fraction may be shorter."""
    whole, _, fraction = stamp.rstrip("Z").partition(".")
    seconds = datetime.fromisoformat(whole).replace(tzinfo=timezone.utc).timestamp()
    return round(seconds) * 10**9 + int(fraction.ljust(9, "0")[:9] or 0)


if __name__ == "__main__":
    follow(Path(sys.argv[1]), int(sys.argv[2]), sys.stdout)
