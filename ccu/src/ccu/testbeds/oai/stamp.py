# SPDX-License-Identifier: Apache-2.0
"""A program that prints each line of a growing file with its time of arrival, as `docker logs -t`.

`python stamp.py FILE PID` ends when the process has ended and the file is read.
"""

from __future__ import annotations

import sys
import time
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
                print(f"{_now()} {line.rstrip(chr(13))}", file=out)
            if text:
                out.flush()
            elif not alive:
                if rest:
                    print(f"{_now()} {rest}", file=out)
                return
            else:
                time.sleep(_POLL_S)


def _now() -> str:
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{nanoseconds:09d}Z"


if __name__ == "__main__":
    follow(Path(sys.argv[1]), int(sys.argv[2]), sys.stdout)
