# SPDX-License-Identifier: Apache-2.0
"""A capture in batches, for files larger than memory and files that grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from ddu import _packets
from ddu.readers.packets.native.faults import faults_of
from ddu.readers.packets.tables import chosen_schema

BATCH_PACKETS = 65_536
"""Some 5 MB of columns."""


class PacketStream(Iterator[pa.RecordBatch]):
    """The packets of a capture, batch by batch.

    At the end of the file the iteration stops; iterating again gives what has been written since.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        columns: Sequence[str] | None = None,
        batch_packets: int = BATCH_PACKETS,
    ) -> None:
        self.path = Path(path)
        self.schema = chosen_schema(columns)
        with faults_of(self.path):
            self._reader = _packets.PacketReader(self.path, self.schema.names, batch_packets)

    def __next__(self) -> pa.RecordBatch:
        with faults_of(self.path):
            batch = self._reader.next_batch()
        if batch is None:
            raise StopIteration
        return pa.record_batch(batch)

    @property
    def flows(self) -> pa.Table:
        """The flows of the packets so far; see Capture.flows."""
        return pa.Table.from_batches([pa.record_batch(self._reader.flows())])

    @property
    def skipped_count(self) -> int:
        """See Capture.skipped_count."""
        return self._reader.skipped_count

    @property
    def truncated_at(self) -> int | None:
        """See Capture.truncated_at; meaningful once the iteration has stopped."""
        return self._reader.truncated_at
