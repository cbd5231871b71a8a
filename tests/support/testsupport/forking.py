# SPDX-License-Identifier: Apache-2.0
"""The processes of a command's own, forked from one that has imported what they import.

`ccu` spawns them, with an interpreter and imports of their own, which is most of what a short run
costs. Only a command that itself was forked, without a display or threads, can fork them."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkContext
from typing import Any, ClassVar, NoReturn

from ccu.host import child, policies
from ccu.host.contain import __main__ as contain
from ddu import interpreter
from ddu.campaign import analysis


def fork_children() -> None:
    """Let this process fork what `ccu.host.child.Child` would spawn, what tries a policy, and what
    analyses the runs of a campaign."""
    child.get_context = lambda _method: _Forking()  # type: ignore[assignment,return-value]
    analysis.get_context = lambda _method: ForkContext()  # type: ignore[assignment,return-value]
    policies.answered = _answered


class _Forking(ForkContext):
    """Forks processes that see, as spawned ones do, when their parent closes the connection."""

    outer: ClassVar[list[Connection]] = []

    def Pipe(self, duplex: bool = True) -> tuple[Connection, Connection]:  # noqa: N802
        ends = super().Pipe(duplex)
        self.outer.append(ends[0])
        return ends

    def Process(self, *args: Any, target: Callable[..., object], **named: Any) -> Any:  # noqa: N802
        def apart(*given: Any) -> None:
            for end in self.outer:
                with suppress(OSError):
                    end.close()
            target(*given)

        return super().Process(*args, target=apart, **named)


def _answered(command: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Contain a module of ours as `ccu.host.contain` does, in forks in place of interpreters."""
    rights_and_words = command[len(interpreter.of_package("")) :]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:

        def contained() -> None:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os.execvpe = _execute_here  # type: ignore[assignment]
            contain.main(*rights_and_words)

        process = ForkContext().Process(target=contained)
        process.start()
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, timeout_s)
        streams = (os.pread(one.fileno(), 1 << 20, 0).decode() for one in (out, err))
        return subprocess.CompletedProcess(command, process.exitcode, *streams)


def _execute_here(_: str, command: tuple[str, ...], environment: dict[str, str]) -> NoReturn:
    """Do what the command of a package (`ddu.interpreter`) would."""
    before = len(interpreter.of_package("")) - 1
    module, *words = command[before:]
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *words]
    sys.dont_write_bytecode = True
    code = 0
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 0
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
