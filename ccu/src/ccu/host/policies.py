# SPDX-License-Identifier: Apache-2.0
"""ccplane, the program that checks and runs a policy (docs/congestion-controls.md)."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from ccu.host import processes
from ccu.host.contain import Rights, contained
from ddu import interpreter
from ddu.console.problems import RefusedError, refusal

_MOST_S = 60.0


def command(action: str, file: Path, parameters: Mapping[str, str]) -> list[str]:
    """Return the command that checks or runs a policy."""
    given = [text for key, value in parameters.items() for text in ("--param", f"{key}={value}")]
    return [*interpreter.of_package("ccplane"), action, str(file), *given]


def check_syntax(file: Path) -> None:
    """Raise RefusedError if the file is not Python; executes nothing."""
    try:
        compile(file.read_bytes(), str(file), "exec")
    except OSError as error:
        raise refusal(f"cannot be read ({error.strerror})", "name a file", file=file) from None
    except SyntaxError as error:
        rule = f"syntax error: {error.msg}"
        raise refusal(rule, "correct the line", file=file, line=error.lineno) from None
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, a tower of brackets
        rule = f"is not Python: {error or 'nested too deep'}"
        raise refusal(rule, "write Python source", file=file) from None


def try_out(
    file: Path,
    parameters: Mapping[str, str],
    reads: Iterable[str] = (),
    changes: Mapping[str, str] | None = None,
) -> None:
    """Load and make a policy, contained. Raises RefusedError if it cannot run.

    `reads`: the files that it may read besides its own; `changes`: the parameters that change
    while flows run.
    """
    checking = command("check", file, parameters)
    for key, value in (changes or {}).items():
        checking += ["--change", f"{key}={value}"]
    rights = Rights(reads=(str(file), *reads))
    try:
        tried = answered(contained(checking, rights), _MOST_S)
    except subprocess.TimeoutExpired:
        rule = f"is not loaded and made within {_MOST_S:g} s"
        fix = "leave what takes long out of the module and of __init__"
        raise refusal(rule, fix, file=file) from None
    if tried.returncode:
        raise _refused(tried.stdout, tried.stderr, file)


def answered(command: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    """Execute a command to its end, without a terminal. Raises subprocess.TimeoutExpired."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        start_new_session=True,
        preexec_fn=processes.end_with_parent(signal.SIGKILL),
    )


def _refused(said: str, log: str, file: Path) -> RefusedError:
    """Return the refusal of a policy that `ccplane` printed."""
    try:
        problem = json.loads(said.splitlines()[-1])
    except (ValueError, IndexError):
        why = (log.strip().splitlines() or ["no reason given"])[-1]
        return refusal(f"cannot be checked: {why}", "correct the policy", file=file)
    return refusal(problem["rule"], problem["fix"], file=file, line=problem["line"])
