# SPDX-License-Identifier: Apache-2.0
"""Processes forked from this one, which has imported what commands import: milliseconds each."""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from testsupport import forking

_PATIENCE_S = 600
"""A command takes a second of CPU, which is minutes with `nice` on a busy machine."""
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Ended:
    """The end of a command."""

    code: int
    """The exit code; of a signal, minus its number."""
    printed: str
    """Standard output and standard error."""


class HangsError(Exception):
    """A process did not end."""


def command(words: list[str], folder: Path, before: Callable[[], None]) -> Ended:
    """Run `ccu` or `ddu` to its end in `folder`, after `before` in its process."""
    output = folder / ".printed"

    def become() -> int:
        descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(descriptor, stream)
        os.close(descriptor)
        os.chdir(folder)
        _stay_cheap(folder)
        sys.argv = words
        main = importlib.import_module(f"{words[0]}.cli.main").main
        before()
        try:
            main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        return 0

    code = _end(_begin(become))
    return Ended(code, output.read_text(errors="replace"))


def result_of(function: Callable[[], Any]) -> Any:
    """Return what a function returns in a process of its own. Raises AssertionError as it does."""
    reading, writing = os.pipe()

    def send() -> int:
        os.close(reading)
        os.chdir("/")
        with os.fdopen(writing, "wb") as to:
            try:
                answer = "", function()
            except AssertionError as error:
                answer = str(error), None
            pickle.dump(answer, to)
        return 0

    pid = _begin(send)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        answer = answers.read()
    code = _end(pid)
    assert code == 0, f"a check ended with code {code}"
    complaint, result = pickle.loads(answer)
    assert not complaint, complaint
    return result


def _stay_cheap(folder: Path) -> None:
    """Let the command fork its processes, and keep its records apart from those of others."""
    from ccu.host import resources

    forking.fork_children()
    resources.FOLDER = folder / ".records"
    resources.FOLDER.mkdir(exist_ok=True)


def _begin(work: Callable[[], int]) -> int:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        _end_with(work)
    return pid


def _end_with(work: Callable[[], int]) -> NoReturn:
    code = 1
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            code = code or 1
        os._exit(code)


def adopt_orphans() -> None:
    """Let the kernel give this process what killed commands leave, so that it sees their ends."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end(pid: int) -> int:
    """Wait for a process and what it started; return its exit code. Raises HangsError."""
    ended = os.pidfd_open(pid)
    try:
        if not select.select([ended], [], [], _PATIENCE_S)[0]:
            raise HangsError(f"did not end within {_PATIENCE_S} s")
    except BaseException:  # SystemExit as well: this process is being ended.
        _kill_children()
        raise
    finally:
        os.close(ended)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    deadline = time.monotonic() + _PATIENCE_S / 4
    while _has_children():
        if time.monotonic() > deadline:
            _kill_children()
            raise HangsError("left a process running")
        time.sleep(0.002)
    return code


def _has_children() -> bool:
    """Reap what has ended; return whether something has not."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _kill_children() -> None:
    while _has_children():
        for child in Path("/proc/self/task", str(os.getpid()), "children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        time.sleep(0.01)
