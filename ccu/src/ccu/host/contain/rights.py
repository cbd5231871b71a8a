# SPDX-License-Identifier: Apache-2.0
"""The rights of a contained program."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

FEATURES = {
    "nobody": "a user other than root",
    "user": "a namespace of users",
    "mounts": "a read-only view of the files",
    "processes": "a namespace of processes",
    "ipc": "a namespace of shared memory and message queues",
    "network": "a namespace without a network",
    "filter": "a filter of system calls",
}
"""The means of containment that a machine may lack, in the order in which they are set up."""


class Rights(NamedTuple):
    """The rights of a contained program besides reading what its user may, and computing."""

    reads: tuple[str, ...] = ()
    """Paths that it needs, also below folders that its user may not enter."""
    writes: tuple[str, ...] = ()
    """Paths of files and folders that it may write; a missing file is made."""
    keeps_network: bool = False
    """It is in the network that it is started in; else it has none."""
    socket_families: tuple[int, ...] = ()
    """The kinds of sockets that it may make (socket(2))."""
    traces_children: bool = False
    """It may use ptrace(2), as User Mode Linux does."""
    goes_first: bool = False
    """It goes before ordinary programs, where root starts it."""
    unchanged: tuple[str, ...] = ()
    """Paths below those of `writes` that it may not write, as others do: it can put nothing in
    their place."""
    features: tuple[str, ...] = tuple(FEATURES)
    """The names in FEATURES of what this machine has."""

    def as_json(self) -> str:
        return json.dumps(self._asdict())

    @staticmethod
    def from_json(text: str) -> Rights:
        content: dict[str, Any] = {
            key: tuple(one) if isinstance(one, list) else one
            for key, one in json.loads(text).items()
        }
        return Rights(**content)
