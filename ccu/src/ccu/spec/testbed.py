# SPDX-License-Identifier: Apache-2.0
"""A testbed's options, and the drivers that declare them, found by entry points.

A driver is named in the group `ccu.testbeds` of its package's metadata, so that it may come from
any package (docs/extending.md). It is imported when an experiment is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from ccu.spec.option import Written, written
from ddu.console.extensions import extensions, incomplete

if TYPE_CHECKING:
    from ccu.spec.experiment import Experiment

GROUP = "ccu.testbeds"


class Value(BaseModel):
    """A part of an experiment: immutable, and strict about its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class TestbedOptions(Value):
    """The options that only one kind of testbed understands. A driver declares its own subclass.

    `name` is the discriminator: a subclass narrows it to the literal names that it is for.
    """

    __test__ = False  # pytest collects classes whose name begins so.

    section: ClassVar[str] = ""
    """The key under which run.json has the options; none: there are no options."""
    unsupported: ClassVar[frozenset[str]] = frozenset()
    """Fields of an experiment that this testbed cannot set; run.json has null for them."""
    unsupported_reason: ClassVar[str] = "this testbed does not have it"
    foreign_ccs: ClassVar[Mapping[str, str]] = {}
    """The name of the congestion control, by direction, of senders that are not hosts of ours."""
    changes: ClassVar[bool] = False
    """Its link and its hosts can change during a run (`Experiment.changes`)."""
    has_places: ClassVar[bool] = False
    """Its owner carries it around: a campaign asks where each block is (`at_place`)."""

    name: str

    def refuse(self, experiment: Experiment) -> None:
        """Raise InvalidValue for what this testbed cannot carry, by the values alone.

        The key of the problem is that of the experiment.
        """

    @classmethod
    def of_record(cls, recorded: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options of a run.json with what an older ccu had and did not write."""
        return recorded

    def at_place(self, place: str, note: str) -> TestbedOptions:
        """Return the options with the place where the testbed is. Only with `has_places`."""
        raise NotImplementedError

    @property
    def most_bytes(self) -> int | None:
        """Return the limit of a run over a network that costs money; None: nothing is charged."""
        return None


@cache
def drivers() -> dict[str, Any]:
    """Return every testbed's driver (`ccu.testbeds.Driver`) by its name, the preferred first."""
    items = extensions(GROUP).items()
    return dict(sorted(items, key=lambda item: (-item[1].preference, item[0])))


def preferred() -> list[str]:
    """Return the testbeds that an experiment may have that names none, the preferred first."""
    return [name for name, driver in drivers().items() if driver.preference > 0]


def default() -> str:
    """Return the testbed of an experiment that names none, whatever the machine has.

    Raises RefusedError.
    """
    names = preferred()
    if not names:
        raise incomplete(GROUP)
    return names[-1]


def options_of(testbed: str) -> type[TestbedOptions] | None:
    """Return the options of the testbed; None if there is no such testbed."""
    driver = drivers().get(testbed)
    return driver.options if driver else None


def every_options() -> list[type[TestbedOptions]]:
    """Return the options of all drivers, each once."""
    return list(dict.fromkeys(driver.options for driver in drivers().values()))


def testbeds_with(options: type[TestbedOptions]) -> list[str]:
    """Return the names of the testbeds that have these options."""
    return [name for name, driver in drivers().items() if driver.options is options]


def keys(options: type[TestbedOptions]) -> dict[str, Written]:
    """Return the options by the key that people write."""
    return {one.key: one for one in written(options)}
