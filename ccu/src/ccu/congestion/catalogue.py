# SPDX-License-Identifier: Apache-2.0
"""All congestion controls of all providers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ccu.congestion.provider import Control, Provider, Setup
from ccu.spec.experiment import Experiment
from testbed_console.problems import RefusedError, Where, refusal
from testbed_console.suggestions import unknown

_GROUP = "ccu.congestion"
_KERNEL = "kernel"


@cache
def _providers() -> tuple[Provider, ...]:
    """Return the kernel's own first: what others provide goes before it."""
    found = sorted(entry_points(group=_GROUP), key=lambda one: (one.name != _KERNEL, one.name))
    return tuple(one.load() for one in found)


def _catalogue() -> dict[str, tuple[Control, Provider]]:
    return {
        name: (control, provider)
        for provider in _providers()
        for name, control in provider.controls().items()
    }


def available() -> dict[str, str]:
    """Return the source of every congestion control that can run here now."""
    found = _catalogue().items()
    return {name: control.source for name, (control, _) in found if control.obstacle is None}


def available_later() -> set[str]:
    """Return the names of those, and of what only another run keeps from running now."""
    found = _catalogue().items()
    return {name for name, (one, _) in found if one.obstacle is None or one.temporary}


def unavailable() -> dict[str, str]:
    """Return why each congestion control that cannot run now cannot."""
    found = _catalogue().items()
    return {name: one.obstacle for name, (one, _) in found if one.obstacle is not None}


def describe() -> dict[str, str]:
    """Return the source of every congestion control, or why it cannot run now."""
    return {
        name: f"not now: {control.obstacle}" if control.obstacle else control.source
        for name, (control, _) in _catalogue().items()
    }


def check(experiment: Experiment, *, now: bool = True) -> None:
    """Raise RefusedError if a congestion control cannot run here or does not take the parameters.

    Without `now`, what another run uses counts as available: that run will end.
    """
    if experiment.traffic.kind == "udp":
        if experiment.cc_params:
            raise refusal("UDP has no congestion control", "leave it out", key="cc_params")
        return
    there = _catalogue()
    for name in experiment.servers_ccs:
        _check_control(name, there, now)
    providers = {name: there[name][1] for name in experiment.servers_ccs}
    if experiment.cc_params and not any(one.takes_parameters for one in providers.values()):
        raise refusal(f"{experiment.cc} takes no parameters", "leave it out", key="cc_params")
    for name, provider in providers.items():
        provider.check(name, experiment.cc_params if provider.takes_parameters else {})


def check_names(experiment: Experiment) -> None:
    """Raise RefusedError if nobody provides a congestion control, whether it can run now or not."""
    there = _catalogue()
    for name in experiment.servers_ccs:
        if name not in there:
            raise RefusedError(unknown("congestion control", name, there, where=Where(key="cc")))


def _check_control(name: str, there: dict[str, tuple[Control, Provider]], now: bool) -> None:
    ready = sorted(available() if now else available_later())
    if name in ready:
        return
    if name in there:
        obstacle = there[name][0].obstacle
        others = ", ".join(ready)
        rule = f"{name} cannot run here: {obstacle}"
        raise refusal(rule, f"choose one that can: {others}", key="cc")
    raise RefusedError(
        unknown("congestion control", name, ready, "on this machine", where=Where(key="cc"))
    )


@contextmanager
def loaded(setup: Setup) -> Iterator[dict[str, Any]]:
    """Have the kernel offer every congestion control of the experiment while the context lasts.

    Returns what run.json says of each implementation, by name.
    """
    there = _catalogue()
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(there[name][1].loaded(name, setup))
            for name in setup.experiment.servers_ccs
        }


def trace_file(raw: Path, name: str) -> Path:
    """Return where the trace of a congestion control goes (docs/run-directory.md)."""
    return raw / f"cc-{name}.csv"


def traced(setup: Setup) -> dict[str, str] | None:
    """Return run.json's `cc_trace`: the first congestion control that left a trace."""
    for name in setup.experiment.servers_ccs:
        file = trace_file(setup.raw, name)
        if file.exists():
            return {"cc": name, "file": f"raw/{file.name}"}
    return None
