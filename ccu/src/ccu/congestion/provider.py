# SPDX-License-Identifier: Apache-2.0
"""The contract of a provider of congestion controls, for this machine's kernel and for that in
virtual time."""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ccu.host.setup import Setup
from ccu.spec.experiment import Experiment


@dataclass(frozen=True)
class Control:
    """One congestion control on this machine, as it is now."""

    source: str
    """Its origin, for people: `kernel`, `kernel module`, `BPF program`."""
    obstacle: str | None = None
    """The reason why it cannot run now, and how to change that; None: it can."""
    temporary: bool = False
    """The obstacle goes away with another run."""
    summary: str | None = None
    """A line that says what it is."""
    reference: str | None = None
    """The paper or RFC that it follows."""


CAPACITY_FILE, START_FILE = "link-capacity.csv", "link-start"
"""The files in raw/ for a policy that knows the link: `until_s`, `bytes` and `certain_bytes`; the
UTC at which it began, in ns since 1970."""


@dataclass(frozen=True)
class NewParameters:
    """Other values of parameters from an instant of a run in virtual time on."""

    of_modules: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Parameters of kernel modules, by the module's name."""
    of_policy: Mapping[str, str] = field(default_factory=dict)
    """Parameters of the program that decides."""


@dataclass(frozen=True)
class InVirtualTime:
    """The needs of one congestion control in the plan of a run in virtual time.

    Files are relative to the run's raw folder.
    """

    policy: tuple[str, ...] = ()
    """The program that decides, with its arguments; it runs inside, in the raw folder."""
    policy_changes: tuple[str, ...] = ()
    """The arguments with which it takes other parameters on standard input."""
    modules: tuple[Path, ...] = ()
    """Kernel modules to load."""
    module_parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Parameters of the kernel's modules, by the module's name."""
    trace: str | None = None
    """The file for the trace that the kernel writes."""
    knows_the_link: bool = False
    """The policy reads CAPACITY_FILE and START_FILE."""
    changes: Mapping[float, NewParameters] = field(default_factory=dict)
    """Other values of its parameters, by the seconds of traffic from which on."""


def changed_values(name: str, before: Experiment, after: Experiment) -> dict[str, str]:
    """Return the parameters of a congestion control that are other ones afterwards."""
    old = before.cc_params_of(name)
    return {key: value for key, value in after.cc_params_of(name).items() if old.get(key) != value}


@dataclass(frozen=True)
class VirtualReport:
    """The report of the kernel in virtual time on a run that has ended."""

    counters: Mapping[str, int]
    """Its counters of the congestion control's policy."""
    module_parameters: Mapping[str, Mapping[str, str]]
    """The parameters of its modules, as far as the plan set any."""


class Provider:
    """A source of congestion controls.

    `file` is the source of a congestion control that is made of one, else None.
    """

    takes_parameters = False
    """Whether `--cc-param` means anything to its congestion controls."""
    changes_parameters = False
    """Whether they can have other values during a run (`--change`)."""
    suffix: str | None = None
    """The end of the names of files that become its congestion controls; None: it takes none."""

    def controls(self) -> Mapping[str, Control]:
        """Return its congestion controls for this machine's kernel; changes nothing."""
        raise NotImplementedError

    def sources(self) -> Mapping[str, Path]:
        """Return the files that have a name of their own, by that name."""
        return {}

    def of_file(self, file: Path) -> Control:
        """Return the congestion control that `file` is on this machine."""
        raise NotImplementedError

    def check(
        self, name: str, file: Path | None, parameters: Mapping[str, str], *, virtual: bool
    ) -> None:
        """Raise RefusedError if `name` cannot be loaded (in virtual time), or a parameter is not
        valid.

        `parameters`: those of `--cc-param`; empty unless `takes_parameters`.
        """

    def try_out(
        self,
        name: str,
        file: Path | None,
        parameters: Mapping[str, str],
        changes: Mapping[str, str] | None = None,
    ) -> None:
        """Execute a file of the user's as far as it shows whether it can run, and whether these
        parameters can change; called before a run, and not for a plan. Raises RefusedError."""

    def loaded(
        self, name: str, file: Path | None, setup: Setup
    ) -> AbstractContextManager[dict[str, Any]]:
        """Have this machine's kernel offer `name` while the context lasts.

        Returns what run.json says of the implementation: `kind`, `parameters`, and more of its own.
        When the context ends it may add to that; sentences under `problems` make the run degraded.
        A trace goes to `trace_file(setup.raw, name)`.
        """
        raise NotImplementedError

    def change(self, name: str, before: Experiment, after: Experiment, setup: Setup) -> None:
        """Give the parameters of `name`, which is loaded, their values of `after`, while flows run.
        Raises RunFailed. Only with `changes_parameters`."""
        raise NotImplementedError

    def new_parameters(self, name: str, before: Experiment, after: Experiment) -> NewParameters:
        """Return the same for the plan of a run in virtual time. Only with `changes_parameters`."""
        raise NotImplementedError

    def virtual_controls(self, kernel: Set[str]) -> Set[str]:
        """Return the names of its congestion controls in virtual time.

        `kernel`: the names that the kernel there has.
        """
        return self.sources().keys() - kernel

    def in_virtual_time(self, name: str, file: Path | None, setup: Setup) -> InVirtualTime:  # noqa: ARG002
        """Return what the plan needs; put files that it names into `setup.raw`."""
        return InVirtualTime()

    def account(
        self,
        name: str,  # noqa: ARG002
        file: Path | None,  # noqa: ARG002
        setup: Setup,  # noqa: ARG002
        report: VirtualReport,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return what run.json says after a run in virtual time, as `loaded` does."""
        return {"kind": "kernel", "parameters": {}}


@dataclass(frozen=True)
class Provided:
    """A congestion control of an experiment with its provider."""

    name: str
    provider: Provider
    file: Path | None = None
