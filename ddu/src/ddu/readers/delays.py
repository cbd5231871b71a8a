# SPDX-License-Identifier: Apache-2.0
"""`delays.npy` of a run: what the link says of each packet's delay (docs/run-directory.md)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.lib import format as npy

from ddu.errors import UnreadableInput

FILE = "delays.npy"
_NEEDED = {
    *("sent_utc_ns", "received_utc_ns", "entered_utc_ns", "left_utc_ns", "sent_frame"),
    *("received_frame", "ip_bytes", "seq", "ack", "sport", "dport", "ue", "direction", "protocol"),
}


@dataclass(frozen=True)
class LinkDelays:
    """A row for each packet that left the link, in that order."""

    table: pd.DataFrame
    truncated_at: int | None
    """Byte offset of a row that the file's end cuts off, or None."""


def read_delays(raw: Path) -> LinkDelays | None:
    """Read the file in folder `raw`; None if the run has none. Raises UnreadableInput."""
    file = raw / FILE
    if not file.exists():
        return None
    try:
        with file.open("rb") as opened:
            npy.read_magic(opened)
            _, _, dtype = npy.read_array_header_1_0(opened)
            begins = opened.tell()
            rest = os.fstat(opened.fileno()).st_size - begins
            rows = np.fromfile(opened, dtype, count=rest // dtype.itemsize)
    except (OSError, ValueError) as error:
        raise UnreadableInput(file, f"not an array of delays ({error})", "repeat the run") from None
    if missing := _NEEDED - {*(dtype.names or ())}:
        rule = f"it has no {', '.join(sorted(missing))}"
        raise UnreadableInput(file, rule, "use the version that recorded it")
    cut = None if rest % dtype.itemsize == 0 else begins + rest - rest % dtype.itemsize
    table = pd.DataFrame({name: rows[name] for name in dtype.names or ()})
    return LinkDelays(table, cut)


def parts_of(table: pd.DataFrame) -> list[str]:
    """Return the columns that are parts of a delay, in the link's order."""
    return [name for name in table.columns if name.startswith("delay_") and name.endswith("_ns")]
