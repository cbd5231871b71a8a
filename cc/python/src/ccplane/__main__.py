# SPDX-License-Identifier: Apache-2.0
"""`python -m ccplane check FILE`, and `run`, which ccu starts with the kernel's plane.

Both print one JSON line to standard output: the parameters (`ready`), or what is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from functools import partial
from pathlib import Path
from types import FrameType

from ccplane.changes import Changes
from ccplane.kernel import Files, Kernel, Maps, Pipes
from ccplane.loop import Loop
from ccplane.policy_file import Policy, load
from ccplane.problem import PolicyError, of_exception
from ccplane.trace import Trace

_FAILED, _REFUSED = 1, 2


class _Stopped(BaseException):
    """SIGTERM."""


def main() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.action == "run" and not (arguments.files or arguments.maps or arguments.pipes):
        parser.error("run: give --maps, --files or --pipes")
    parameters = dict(one.split("=", 1) for one in arguments.param)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # Standard output is for our line alone.
            policy = load(arguments.file.absolute(), parameters)
    except PolicyError as problem:
        print(problem.as_json())
        return _REFUSED
    if arguments.action == "check":
        try:
            for one in arguments.change:
                policy.changed(dict([one.split("=", 1)]))
        except PolicyError as problem:
            print(problem.as_json())
            return _REFUSED
        print(_ready(policy))
        return 0
    return _run(arguments, policy)


def _parser() -> argparse.ArgumentParser:
    # With a width: asking for the terminal's loads libraries for archives, and in virtual time each
    # page of them costs.
    form = partial(argparse.HelpFormatter, width=100)
    parser = argparse.ArgumentParser(prog="ccplane", description=__doc__, formatter_class=form)
    parser.add_argument("action", choices=("check", "run"))
    parser.add_argument("file", type=Path, help="the policy")
    parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--change", action="append", default=[], metavar="NAME=VALUE",
                        help="check that this parameter can change while flows run")  # fmt: skip
    parser.add_argument("--changes", metavar="FILE",
                        help="changes of parameters, JSON; -: standard input")  # fmt: skip
    parser.add_argument("--maps", type=int, nargs=2, metavar=("REPORTS", "COMMANDS"),
                        help="descriptors of the BPF program's maps")  # fmt: skip
    parser.add_argument("--pipes", type=int, nargs=2, metavar=("REPORTS", "COMMANDS"),
                        help="descriptors of the pipes of a program that sends")  # fmt: skip
    parser.add_argument("--files", type=Path, metavar="FOLDER", help="/proc/nr-link/plane-NAME")
    parser.add_argument("--seed", type=int, default=1, help="the run's seed")
    parser.add_argument("--trace", type=Path, help="the file for every report and its answer")
    parser.add_argument("--ended", type=Path, help="the file that says why it ended")
    return parser


def _parameters(policy: Policy) -> dict[str, object]:
    return {"period_ms": policy.period_ms, "think_ms": policy.think_ms, **policy.parameters}


def _ready(policy: Policy) -> str:
    return json.dumps({"event": "ready", "parameters": _parameters(policy)}, default=str)


def _ended(policy: Policy, reason: str, line: int | None, code: int) -> str:
    said = {"reason": reason, "line": line, "code": code, "parameters": _parameters(policy)}
    return json.dumps(said, default=str)


def _run(arguments: argparse.Namespace, policy: Policy) -> int:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _Stopped

    kernel = _kernel(arguments)
    trace = Trace(arguments.trace) if arguments.trace else None
    _take_priority()
    reason, line, code = "the run ended", None, 0
    try:
        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(_ready(policy), flush=True)
        os.dup2(2, 1)  # Whoever waits for this line sees the end of it.
        Loop(policy, kernel, trace, arguments.seed, _changes(arguments.changes)).run()
    except _Stopped:
        pass
    except BaseException as error:
        problem = of_exception(error, str(arguments.file.absolute()))
        reason, line, code = problem.rule, problem.line, _FAILED
        sys.excepthook(type(error), error, error.__traceback__)
    if trace:
        trace.flush()
    if arguments.ended:
        arguments.ended.write_text(_ended(policy, reason, line, code))
    return code


def _kernel(arguments: argparse.Namespace) -> Kernel:
    if arguments.files:
        return Files(arguments.files)
    return Pipes(*arguments.pipes) if arguments.pipes else Maps(*arguments.maps)


def _changes(file: str | None) -> Changes | None:
    if file is None:
        return None
    if file == "-":
        return Changes(0, is_signalled=True)
    return Changes(os.open(file, os.O_RDONLY | os.O_NONBLOCK), is_signalled=False)


def _take_priority() -> None:
    """Go before ordinary programs where that is allowed: a late command is a wrong one."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


if __name__ == "__main__":
    sys.exit(main())
