# SPDX-License-Identifier: Apache-2.0
"""The native packet reader (ddu/packets, in Rust)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from ddu.readers.packets.native.split import NativeConnections
from ddu.readers.packets.native.stream import PacketStream
from ddu.readers.packets.tables import Capture

__all__ = ["read", "split"]

split = NativeConnections


def read(path: Path, columns: Sequence[str] | None) -> Capture:
    """Read all packets; see ddu.readers.packets.capture."""
    stream = PacketStream(path, columns=columns)
    packets = pa.Table.from_batches(stream, stream.schema).unify_dictionaries()
    return Capture(packets, stream.flows, stream.skipped_count, stream.truncated_at)
