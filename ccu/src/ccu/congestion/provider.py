# SPDX-License-Identifier: Apache-2.0
"""The interface of providers of congestion controls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ccu.host.resources import Resources
from ccu.host.supervisor import Supervisor
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
    reference: str | None = None
    """The paper or RFC that it follows."""
    proof: str | None = None
    """The test that compares it with that source, or with the kernel's own; None: there is none."""
    passed: str | None = None
    """Whether that test has passed on this machine (`proofs.state`)."""


@dataclass(frozen=True)
class InVirtualTime:
    """The files that the kernel of the virtual testbed needs for one congestion control."""

    policy: tuple[str, ...] = ()
    """The program that decides, with its arguments; it runs inside, in the run's raw folder."""
    modules: tuple[Path, ...] = ()
    """Kernel modules to load."""


class Setup(Protocol):
    """The run that a provider serves; a testbed's `Site` is one."""

    @property
    def experiment(self) -> Experiment: ...
    @property
    def raw(self) -> Path:
        """The run's folder for raw data."""
        ...

    @property
    def supervisor(self) -> Supervisor: ...
    @property
    def resources(self) -> Resources: ...


class Provider(Protocol):
    """A source of congestion controls."""

    takes_parameters: bool
    """Whether `--cc-param` means anything to its congestion controls."""
    suffix: str | None
    """The end of the names of files that become its congestion controls; None: it takes none."""

    def controls(self) -> Mapping[str, Control]:
        """Return its congestion controls by name; changes nothing."""
        ...

    def check(self, name: str, parameters: Mapping[str, str]) -> None:
        """Raise RefusedError if `name` cannot be loaded, or a parameter is not valid.

        `parameters`: those of `--cc-param`; empty unless `takes_parameters`.
        """
        ...

    def loaded(self, name: str, setup: Setup) -> AbstractContextManager[dict[str, Any]]:
        """Have the kernel offer `name` while the context lasts.

        Returns what run.json says of the implementation: `kind`, `parameters`, and more of its own.
        When the context ends it may add to that; sentences under `problems` make the run degraded.
        A trace goes to `trace_file(setup.raw, name)`.
        """
        ...


class FileProvider(Provider, Protocol):
    """A provider with a `suffix`: files of users become congestion controls."""

    suffix: str

    def sources(self) -> Mapping[str, Path]:
        """Return the files that have a name of their own, without folder and suffix."""
        ...

    def of_file(self, file: Path) -> Control:
        """Return the congestion control that `file` is here."""
        ...

    def check_file(
        self, name: str, file: Path, parameters: Mapping[str, str], *, virtual: bool
    ) -> None:
        """Raise RefusedError if `file` cannot become `name` (in virtual time), or a parameter is
        not valid."""
        ...

    def in_virtual_time(self, name: str, file: Path, setup: Setup) -> InVirtualTime:
        """Put what the kernel in virtual time needs into `setup.raw`."""
        ...

    def account(
        self, name: str, file: Path, setup: Setup, counters: Mapping[str, int] | None
    ) -> dict[str, Any]:
        """Return what run.json says after a run in virtual time, as `loaded` does.

        `counters`: what that kernel counted of a policy."""
        ...
