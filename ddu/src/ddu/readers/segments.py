# SPDX-License-Identifier: Apache-2.0
"""A capture, split into the connections it holds."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ddu.errors import UnreadableInput
from ddu.packets import Reader, read_packets
from ddu.tables.bins import Int
from ddu.transport.segments import SYN, Segments, unwrap

COLUMNS = (
    "utc_ns",
    "flow",
    "proto",
    "ip_bytes",
    "tcp_seq",
    "tcp_ack",
    "tcp_flags",
    "tcp_payload_bytes",
    "ts_val",
    "ts_ecr",
    "udp_payload_bytes",
)


class SplitCapture:
    """The packets of one capture, found by connection in time that does not grow with flows.

    `clock_offset_ns` is what this host's clock is ahead of the run's; it is taken off every time.
    Raises UnreadableInput when the file cannot be read or holds no packet.
    """

    def __init__(self, file: Path, reader: Reader, clock_offset_ns: int, mtu_bytes: int) -> None:
        capture = read_packets(file, reader=reader, columns=COLUMNS)
        if not capture.packets.num_rows:
            raise UnreadableInput(file, "a capture without a packet", "was there any traffic?")
        self.file = file
        self.truncated_at = capture.truncated_at
        self.connections: pd.DataFrame = capture.flows.to_pandas()
        self._packets = capture.packets
        self._offset_ns = clock_offset_ns
        self._mtu_bytes = mtu_bytes

    def connection(self, src: str, sport: int, dst: str, dport: int) -> int | None:
        """Row of `connections` with this 5-tuple (TCP or UDP), the largest of two."""
        rows = self.connections
        found = rows[
            (rows["src"] == src)
            & (rows["sport"] == sport)
            & (rows["dst"] == dst)
            & (rows["dport"] == dport)
        ]
        return None if found.empty else int(found["ip_bytes"].idxmax())

    def origin(self, connection: int) -> int:
        """Sequence number of the stream's first byte, as the header has it."""
        rows = self._rows[self._begins[connection] : self._begins[connection + 1]]
        seq, flags = self._column("tcp_seq")[rows], self._column("tcp_flags")[rows]
        syn = np.flatnonzero(flags & SYN)
        if len(syn):
            return int((seq[syn[0]] + 1) % 2**32)
        return int(seq[0]) if len(seq) else 0

    def segments(self, connection: int | None, origin: int, ack_origin: int) -> Segments:
        """One direction's packets, sequence numbers counted from the origins."""
        if connection is None:
            return _NONE
        rows = self._rows[self._begins[connection] : self._begins[connection + 1]]
        tcp_payload = self._column("tcp_payload_bytes")[rows]
        payload = tcp_payload + self._column("udp_payload_bytes")[rows]
        length = self._column("ip_bytes")[rows]
        seq = unwrap(self._column("tcp_seq")[rows], origin)
        flags = self._column("tcp_flags")[rows]
        headers = length - payload
        count = np.maximum(-(-payload // np.maximum(self._mtu_bytes - headers, 1)), 1)
        return Segments(
            utc_ns=self._column("utc_ns")[rows] - self._offset_ns,
            seq=seq,
            payload_bytes=payload,
            ip_bytes=payload + count * headers,
            segment_count=count,
            ack=unwrap(self._column("tcp_ack")[rows], ack_origin),
            flags=flags,
            tsval=self._column("ts_val", -1)[rows],
            tsecr=self._column("ts_ecr", -1)[rows],
        )

    def total_ip_bytes(self, dst: str) -> int:
        """IP bytes of every packet to `dst`, headers once per segment of a super-packet."""
        to = self.connections.index[self.connections["dst"] == dst]
        return sum(int(self.segments(int(row), 0, 0).ip_bytes.sum()) for row in to)

    def _column(self, name: str, null: int = 0) -> Int:
        if name not in self._columns:
            column = self._packets.column(name).cast(pa.int64())
            self._columns[name] = pc.fill_null(column, null).to_numpy()
        return self._columns[name]

    @cached_property
    def _columns(self) -> dict[str, Int]:
        return {}

    @cached_property
    def _rows(self) -> Int:
        flow: Int = self._packets.column("flow").to_numpy()
        return np.argsort(flow, kind="stable").astype(np.int64)

    @cached_property
    def _begins(self) -> Int:
        counts = self.connections["packets_count"].to_numpy(dtype=np.int64)
        return np.concatenate([[0], np.cumsum(counts)])


_EMPTY = np.zeros(0, dtype=np.int64)
_NONE = Segments(*([_EMPTY] * 9))
