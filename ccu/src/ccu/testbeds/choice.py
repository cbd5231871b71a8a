# SPDX-License-Identifier: Apache-2.0
"""The choices that experiments leave to this machine: their testbed, and options of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ccu.spec import testbed as registry
from ccu.spec.experiment import Experiment
from ccu.spec.option import Written
from ccu.testbeds import check_traffic_is_carried, driver_of, drivers
from ddu.console.problems import NOWHERE, RefusedError, problems_of

TESTBED = "testbed"

Resolve = Callable[[Mapping[str, Any]], Sequence[Experiment]]
"""A function of further keys: the experiments with them. Raises RefusedError."""


class Choice(NamedTuple):
    """The value of a key that the experiments do not say."""

    key: str
    value: Any
    shown: str
    """The value as people write it."""
    passed_over: str = ""
    """The preferred value and why it was not taken, in one line; none: it was."""
    decided: bool = True
    """False if this machine can carry the experiments with no value yet."""

    @property
    def notice(self) -> str:
        """Return the line for users; empty if the preferred value is taken."""
        return f"{self.key} {self.shown}, not {self.passed_over}" if self.passed_over else ""


def keys() -> set[str]:
    """Return every key that may be left to the machine."""
    return {TESTBED}.union(*(driver.preferred for driver in drivers().values()))


def choose(said: Mapping[str, Any], resolve: Resolve) -> list[Choice]:
    """Return what experiments that say `said`, by the keys of YAML, leave to this machine.

    A testbed of None is that of experiments that name several: they say their options themselves.
    """
    chosen = [] if TESTBED in said else [choose_testbed(resolve)]
    testbed = chosen[0].value if chosen else said[TESTBED]
    driver = drivers().get(testbed) if isinstance(testbed, str) else None
    if driver is None:
        return chosen
    given = {one.key: one.value for one in chosen}
    options = registry.keys(driver.options)
    section = said.get(driver.options.section)
    inside = section if isinstance(section, Mapping) else {}
    return chosen + [
        _option(options[key], preferred, lambda more: resolve({**given, **more}))
        for key, preferred in driver.preferred.items()
        if key not in said and options[key].name not in inside
    ]


def choose_testbed(resolve: Resolve) -> Choice:
    """Return the first testbed, by preference, that can carry all experiments on this machine.

    If none can, the first that runs on this machine: its own refusal says what is wrong.
    """
    passed_over: dict[str, str] = {}
    here = []
    for name in registry.preferred():
        on_machine, on_experiments = _refusals(resolve, {TESTBED: name})
        if not on_machine:
            here.append(name)
            if not on_experiments:
                return _choice(name, passed_over)
        passed_over[name] = on_machine or on_experiments
    return _choice(here[0] if here else registry.default(), passed_over)


def _choice(testbed: str, refusals: Mapping[str, str]) -> Choice:
    """Return the choice; why the most preferred one was refused is the reason for any other."""
    first, why = next(iter(refusals.items()), (testbed, ""))
    passed_over = "" if first == testbed else f"{first}: {why}"
    return Choice(TESTBED, testbed, testbed, passed_over)


def _option(option: Written, preferred: object, resolve: Resolve) -> Choice:
    """Return the preferred value, or the default if only that can be carried here.

    If neither can, the default: the refusal of the experiments says what is wrong.
    """
    default = option.field.default
    why = next(filter(None, _refusals(resolve, {option.key: preferred})), "")
    if not why:
        return Choice(option.key, preferred, option.shown(preferred))
    if any(_refusals(resolve, {option.key: default})):
        return Choice(option.key, default, option.shown(default), decided=False)
    return Choice(option.key, default, option.shown(default), f"{option.shown(preferred)}: {why}")


def _refusals(resolve: Resolve, more: Mapping[str, Any]) -> tuple[str, str]:
    """Return why this machine is refused, and why the experiments; empty: they are not."""
    try:
        experiments = resolve(more)
    except RefusedError as error:
        return "", error.problems[0].rule
    driver = driver_of(experiments[0])
    for one in experiments:
        if problems := problems_of(partial(check_traffic_is_carried, one)):
            return "", problems[0].rule
    problems = problems_of(partial(driver.check_machine, experiments[0]))
    if problems:
        return str(problems[0].at(NOWHERE)), ""
    refused = (problems_of(partial(driver_of(one).carries, one)) for one in experiments)
    return "", next((problems[0].rule for problems in refused if problems), "")
