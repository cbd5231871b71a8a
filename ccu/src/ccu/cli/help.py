# SPDX-License-Identifier: Apache-2.0
"""The help of a command with the options of many testbeds: those of the chosen one, or all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand, TyperOption

from ccu.spec import testbed as registry
from ccu.spec.keys import options
from ccu.spec.option import written

ALL = "--help-all"
_HELP = {"-h", "--help"}


class HelpOfTestbed(TyperCommand):
    """Its `--help` has the options of the testbed that the command line names, or of those that a
    run without a name may have; its `--help-all` has all."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ALL in args:
            return list(super().parse_args(ctx, ["--help"]))
        if _HELP & {*args}:
            named = [name for name in registry.drivers() if name in _testbeds(args)]
            hidden = _flags_of_others(named or registry.preferred())
            for parameter in self.params:
                assert isinstance(parameter, TyperOption)
                parameter.hidden = bool(hidden & {*parameter.opts})
        return list(super().parse_args(ctx, args))


def _testbeds(args: Sequence[str]) -> set[str]:
    """Return what the command line gives as a testbed."""
    after = {value for flag, value in pairwise(args) if flag == "--testbed"}
    return after | {one.partition("=")[2] for one in args if one.startswith("--testbed=")}


def _flags_of_others(testbeds: Sequence[str]) -> set[str]:
    """Return the flags that none of the testbeds takes."""
    taken = set[str]().union(*map(_own_flags, testbeds))
    others = set[str]().union(*map(_own_flags, registry.drivers())) - taken
    without = (registry.drivers()[name].options.unsupported for name in testbeds)
    lacking = frozenset[str].intersection(*without)
    return others | {flag for one in options() if one.name in lacking for flag in one.flags}


def _own_flags(testbed: str) -> set[str]:
    driver = registry.drivers()[testbed]
    flags = {flag for one in written(driver.options) for flag in one.flags}
    return flags | ({str(driver.elsewhere.flag)} if driver.elsewhere else set())
