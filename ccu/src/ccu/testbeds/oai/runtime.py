# SPDX-License-Identifier: Apache-2.0
"""The interface to a container runtime, Docker or LXC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ccu.host.resources import Resource


class Runtime(Protocol):
    def resources(self) -> list[Resource]:
        """Return the resources that it makes on this machine, in order of creation."""
        ...

    def check(self) -> None:
        """Raise RefusedError if the runtime or an image is missing."""
        ...

    def start(self, services: Sequence[str]) -> None:
        """Start services. Raises RunFailed."""
        ...

    def restart(self, service: str) -> None: ...

    def pid(self, service: str) -> int | None:
        """Return the pid of the container's first process; None if it does not run."""
        ...

    def log_command(self, service: str) -> list[str]:
        """Return a command that prints the container's output with timestamps until it ends."""
        ...

    def shell_command(self, service: str) -> list[str]: ...

    def how_it_ended(self, service: str) -> str | None:
        """Return how the container's first process ended; None if it runs, or is not known."""
        ...

    def stop(self, services: Sequence[str]) -> None:
        """Stop services by SIGTERM; the containers stay for inspection."""
        ...
