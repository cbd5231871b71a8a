# SPDX-License-Identifier: Apache-2.0
"""The command of a policy, and the plane, compiled for its name."""

from __future__ import annotations

import ast
from pathlib import Path

from ccu.congestion import files
from ccu.congestion.catalogue import trace_file
from ccu.congestion.provider import CAPACITY_FILE, START_FILE
from ccu.host import policies
from ccu.host.setup import Setup
from ccu.spec.experiment import Direction, Experiment
from ddu.installation import data

_KNOWS = "KNOWS_THE_LINK"
PLANE = data("ccu", "cc/plane") / "plane.bpf.c"


def run_command(name: str, kept: Path, setup: Setup) -> list[str]:
    """Return the command that runs a policy in the run's raw folder, where its source is kept."""
    given = setup.experiment.cc_params_of(name)
    parameters = files.keep_parameters(setup.raw, name, given)
    own = policies.command("run", Path(kept.name), parameters)
    own += ["--seed", str(setup.experiment.seed)]
    return [*own, "--trace", trace_file(setup.raw, name).name, "--ended", ended_file(name)]


def knows_the_link(file: Path) -> bool:
    """Return whether a policy says that it needs the link's capacity; executes nothing."""
    try:
        module = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    names = [
        target.id
        for one in module.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    ]
    return _KNOWS in names


def link_arguments(experiment: Experiment) -> list[str]:
    """Return the parameters of a policy that knows the link, by the direction of its data."""
    there: Direction = experiment.directions[0]
    back: Direction = "ul" if there == "dl" else "dl"
    given = {
        "capacity": f"./{CAPACITY_FILE}",
        "start": f"./{START_FILE}",
        # Uplink data reach the queue, which is in the UE, at once.
        "there_ms": f"{experiment.delay_ms('dl') if there == 'dl' else 0.0:g}",
        "back_ms": f"{experiment.delay_ms(back) + (there == 'ul') * experiment.delay_ms('ul'):g}",
    }
    return [text for key, value in given.items() for text in ("--param", f"{key}={value}")]


def changes_pipe(raw: Path, name: str) -> Path:
    """Return the pipe by which a policy in real time gets changes of its parameters."""
    return raw / "logs" / f"cc-{name}-changes"


def ended_file(name: str) -> str:
    """Return the file below the raw folder in which a policy says how it ended."""
    return f"logs/cc-{name}-ended.json"


def writes_of(raw: Path, name: str) -> tuple[str, ...]:
    """Return the files that a policy writes."""
    return str(trace_file(raw, name)), str(raw / ended_file(name))


def defines(name: str) -> list[str]:
    """Return what the plane is compiled with."""
    return [f'PLANE_NAME="{name}"']
