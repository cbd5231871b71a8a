# SPDX-License-Identifier: Apache-2.0
"""What a provider of congestion controls is."""

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
    """Where it comes from, for people: `kernel`, `kernel module`, `BPF program`."""
    obstacle: str | None = None
    """Why it cannot run now, and how to change that; None: it can."""
    temporary: bool = False
    """The obstacle goes away with another run."""


class Setup(Protocol):
    """What a provider works with; a testbed's `Site` is one."""

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
        A trace goes to `trace_file(setup.raw, name)`.
        """
        ...
