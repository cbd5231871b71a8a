# SPDX-License-Identifier: Apache-2.0
"""Reading all packets of a capture file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow.compute as pc

from ddu.errors import UnreadableInput
from ddu.readers.packets.implementations import Reader, implementation
from ddu.readers.packets.tables import TCP, Capture


def read_packets(
    path: Path | str,
    *,
    reader: Reader = "native",
    columns: Sequence[str] | None = None,
    expect_tcp: bool = False,
) -> Capture:
    """Read a whole capture; `columns` (None: all) keeps memory to what is needed.

    Raises UnreadableInput, naming file and byte, when it is missing, empty, not a capture, damaged,
    of an unknown link type, or, with `expect_tcp`, without TCP.
    A file that is merely cut off gives what is whole.
    """
    path = Path(path)
    capture = implementation(reader).read(path, columns)
    if expect_tcp and not pc.any(pc.equal(capture.flows["proto"], TCP)).as_py():
        raise UnreadableInput(
            path,
            f"a capture without TCP ({capture.packets.num_rows} IP packets of other protocols, "
            f"{capture.skipped_count} frames that are not IP)",
            "was the right interface captured, and its traffic not filtered out?",
        )
    return capture
