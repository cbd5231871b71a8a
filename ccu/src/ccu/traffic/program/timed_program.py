# SPDX-License-Identifier: Apache-2.0
"""Runs one end of a sender program for as long as its flow lasts.

`python timed_program.py SECONDS LOG [NAME=VALUE …] -- COMMAND …`: after SECONDS the command and
its children get SIGTERM, two seconds later SIGKILL. The exit code is 0 if it lasted so long or
ended well, else 1 with the last lines of its log.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

_PATIENCE_S = 2.0
_LAST_LINES = 5


def main(seconds: str, log: str, *arguments: str) -> int:
    """Run the command; standard output and error go to LOG."""
    at = arguments.index("--")
    environment = dict(one.split("=", 1) for one in arguments[:at])
    command = arguments[at + 1 :]
    with Path(log).open("wb") as output:
        try:
            program = subprocess.Popen(
                command,
                cwd=Path(command[0]).parent,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            return _failed(f"{command[0]} cannot be started: {error.strerror}", log)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        code = program.wait(float(seconds))
    except subprocess.TimeoutExpired:
        return 0
    finally:
        _end(program)
    return _failed(f"{' '.join(command)} ended with code {code}", log) if code else 0


def _end(program: subprocess.Popen[bytes]) -> None:
    """End the command, and whatever it has started."""
    _signal(program, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(_PATIENCE_S)
    _signal(program, signal.SIGKILL)
    program.wait()


def _signal(program: subprocess.Popen[bytes], sent: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # All of them have ended.
        os.killpg(program.pid, sent)


def _failed(why: str, log: str) -> int:
    with Path(log).open("a") as output:
        output.write(f"{why}\n")
    print(last_lines(Path(log)), file=sys.stderr)
    return 1


def last_lines(log: Path) -> str:
    """Return the end of the log, for a message."""
    return "\n  ".join(log.read_text(errors="replace").strip().splitlines()[-_LAST_LINES:])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
