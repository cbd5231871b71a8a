# SPDX-License-Identifier: Apache-2.0
"""The packet readers that users may choose from; nothing else knows their names or modules.

`native` reads captures in bulk (ddu/packets, in Rust). `dpkt`, the reference, was written apart
from it: it is slow, and there to check the native one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, cast

if TYPE_CHECKING:  # the command line imports the names alone
    from ddu.readers.packets.connections import Connections, Wanted
    from ddu.readers.packets.tables import Capture

Reader = Literal["native", "dpkt"]
_MODULES: dict[Reader, str] = {
    "native": "ddu.readers.packets.native",
    "dpkt": "ddu.readers.packets.reference",
}


class Implementation(Protocol):
    """The functions of a packet reader, each in the package of that reader."""

    def read(self, path: Path, columns: Sequence[str] | None) -> Capture:
        """Read all packets."""

    def split(self, path: Path, wanted: Sequence[Wanted], mtu_bytes: int) -> Connections:
        """Read the connections, and the packets of the wanted ones."""


def implementation(reader: Reader) -> Implementation:
    """Return a reader, imported when it is first asked for."""
    return cast(Implementation, import_module(_MODULES[reader]))
