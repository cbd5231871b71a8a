# SPDX-License-Identifier: Apache-2.0
"""The programs of a policy: ccplane, which runs it, and the plane, compiled for its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ccu.congestion import files
from ccu.congestion.catalogue import trace_file
from ccu.host.setup import Setup
from ddu.console.problems import RefusedError, refusal
from ddu.installation import data

PLANE = data("ccu", "cc/plane") / "plane.bpf.c"


def arguments(action: str, file: Path, parameters: Mapping[str, str]) -> list[str]:
    """Return the arguments of Python that check or run a policy."""
    given = [text for key, value in parameters.items() for text in ("--param", f"{key}={value}")]
    # Without bytecode files: nothing but the trace is written.
    return ["-B", "-m", "ccplane", action, str(file), *given]


def run_arguments(name: str, kept: Path, setup: Setup) -> list[str]:
    """Return the arguments that run a policy in the run's raw folder, where its source is kept."""
    given = setup.experiment.cc_params_of(name)
    own = arguments("run", Path(kept.name), files.keep_parameters(setup.raw, name, given))
    own += ["--seed", str(setup.experiment.seed)]
    return [*own, "--trace", trace_file(setup.raw, name).name, "--ended", ended_file(name)]


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


def ended_file(name: str) -> str:
    """Return the file below the raw folder in which a policy says how it ended."""
    return f"logs/cc-{name}-ended.json"


def writes_of(raw: Path, name: str) -> tuple[str, ...]:
    """Return the files that a policy writes."""
    return str(trace_file(raw, name)), str(raw / ended_file(name))


def refused(said: str, log: str, file: Path) -> RefusedError:
    """Return the refusal of a policy that `ccplane` printed."""
    try:
        problem = json.loads(said.splitlines()[-1])
    except (ValueError, IndexError):
        why = (log.strip().splitlines() or ["no reason given"])[-1]
        return refusal(f"cannot be checked: {why}", "correct the policy", file=file)
    return refusal(problem["rule"], problem["fix"], file=file, line=problem["line"])


def defines(name: str) -> list[str]:
    """Return what the plane is compiled with."""
    return [f'PLANE_NAME="{name}"']
