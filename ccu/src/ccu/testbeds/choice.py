# SPDX-License-Identifier: Apache-2.0
"""The testbed of experiments that name none: the preferred one that can carry them here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ccu.spec import testbed as registry
from ccu.spec.experiment import Experiment
from ccu.testbeds import drivers
from testbed_console.problems import NOWHERE, RefusedError, problems_of

Resolve = Callable[[str], Sequence[Experiment]]
"""A function of a testbed's name: the experiments on it. Raises RefusedError."""


class Choice(NamedTuple):
    """The testbed of experiments that name none."""

    testbed: str
    passed_over: str = ""
    """Why a preferred one was not taken, in one line; none: there is no such."""

    @property
    def notice(self) -> str:
        """Return the line for users; empty if the preferred testbed is taken."""
        return f"testbed {self.testbed}, not {self.passed_over}" if self.passed_over else ""


def choose(resolve: Resolve) -> Choice:
    """Return the first testbed, by preference, that can carry all experiments on this machine.

    If none can, the first that runs on this machine: its own refusal says what is wrong.
    """
    passed_over: dict[str, str] = {}
    here = []
    for name in registry.preferred():
        on_machine, on_experiments = _refusals(name, resolve)
        if not on_machine:
            here.append(name)
            if not on_experiments:
                return _choice(name, passed_over)
        passed_over[name] = on_machine or on_experiments
    return _choice(here[0] if here else registry.default(), passed_over)


def _choice(testbed: str, refusals: Mapping[str, str]) -> Choice:
    """Return the choice; why the most preferred one was refused is the reason for any other."""
    first, why = next(iter(refusals.items()), (testbed, ""))
    return Choice(testbed) if first == testbed else Choice(testbed, f"{first}: {why}")


def _refusals(name: str, resolve: Resolve) -> tuple[str, str]:
    """Return why the testbed refuses this machine, and why the experiments; empty: it does not."""
    driver = drivers()[name]
    try:
        experiments = resolve(name)
    except RefusedError as error:
        return "", error.problems[0].rule
    problems = problems_of(partial(driver.check_machine, experiments[0]))
    if problems:
        return str(problems[0].at(NOWHERE)), ""
    refused = (problems_of(partial(driver.carries, one)) for one in experiments)
    return "", next((problems[0].rule for problems in refused if problems), "")
