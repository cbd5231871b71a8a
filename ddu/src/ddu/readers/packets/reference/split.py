# SPDX-License-Identifier: Apache-2.0
"""The same connections out of dpkt's packets: slow, to check the native reader's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from ddu.readers.packets.connections import Rows, Wanted
from ddu.readers.packets.reference.packets import read
from ddu.readers.packets.segments import ACK, SYN, Acks, Direction, Segments, Stamps, unwrap
from ddu.schema.arrays import Int

_FIN, _RST = 0x01, 0x04
_TCP = 6
_IPV4_AND_UDP, _IPV6_FRAGMENT_AND_UDP = 28, 56  # bytes of headers, without options


class ReferenceConnections:
    """The connections of a capture, wanted or not; see ddu.readers.packets.connections."""

    def __init__(self, file: Path, _wanted: Sequence[Wanted], mtu_bytes: int) -> None:
        capture = read(file, None)
        # pandas makes float64 of integers with nulls, which rounds digests.
        whole = {pa.uint64(): pd.UInt64Dtype()}.get
        table: pd.DataFrame = capture.packets.to_pandas(types_mapper=whole)
        self._groups = {int(flow): rows for flow, rows in table.groupby("flow")}  # type: ignore[arg-type]
        self._mtu_bytes = mtu_bytes
        self.packet_count = capture.packets.num_rows
        self.truncated_at = capture.truncated_at
        flows: pd.DataFrame = capture.flows.to_pandas()
        self.flows = flows.assign(
            wire_ip_bytes=[self._wire_bytes(flow) for flow in flows["flow"]],
            origin=[self._origin(flow) for flow in flows["flow"]],
        )

    def rows(self, flow: int) -> Rows:
        """Return the packets of a direction."""
        rows = self._groups[flow]
        is_tcp = self.flows["proto"].iloc[flow] == _TCP
        rows = rows[rows["tcp_seq" if is_tcp else "udp_payload_bytes"].notna()]
        reverse = self.flows["reverse_flow"].iloc[flow]
        ack_origin = 0 if pd.isna(reverse) else int(self.flows["origin"].iloc[int(reverse)])
        origin = int(self.flows["origin"].iloc[flow])
        payload = rows[_payload(rows) > 0]
        acks = rows[(_ints(rows, "tcp_flags") & ACK) != 0]
        direction = Direction(
            payload=self._segments(payload, origin, is_tcp),
            acks=_acks(acks, ack_origin),
            tsval=_stamps(payload, "ts_val"),
            tsecr=_stamps(acks, "ts_ecr"),
        )
        return Rows(direction, origin, ack_origin)

    def _segments(self, rows: pd.DataFrame, origin: int, is_tcp: bool) -> Segments:
        payload, headers, count = self._sizes(rows)
        # A SYN takes a number itself: payload in it (TCP Fast Open) begins after.
        first = (_ints(rows, "tcp_seq") + ((_ints(rows, "tcp_flags") & SYN) != 0)) % 2**32
        return Segments(
            utc_ns=rows["utc_ns"].to_numpy(),
            seq=unwrap(first, origin) if is_tcp else np.zeros_like(payload),
            payload_bytes=payload.astype(np.uint32),
            segment_count=count.astype(np.uint32),
            header_bytes=headers.astype(np.uint16),
            digest=np.zeros(0, dtype=np.uint64) if is_tcp else _digests(rows),
        )

    def _sizes(self, rows: pd.DataFrame) -> tuple[Int, Int, Int]:
        payload, is_part = _payload(rows), _is_part(rows)
        of_part = np.where(_ints(rows, "ip_version") == 4, _IPV4_AND_UDP, _IPV6_FRAGMENT_AND_UDP)
        headers = np.where(is_part, of_part, _ints(rows, "ip_bytes") - payload)
        room = np.maximum(self._mtu_bytes - headers, 1)
        return payload, headers, np.where(is_part, 1, np.maximum(-(-payload // room), 1))

    def _wire_bytes(self, flow: int) -> int:
        rows = self._groups[flow]
        payload, headers, count = self._sizes(rows)
        on_wire = np.where(_is_part(rows), _ints(rows, "ip_bytes"), payload + count * headers)
        return int(on_wire.sum())

    def _origin(self, flow: int) -> int:
        rows = self._groups[flow]
        rows = rows[rows["tcp_seq"].notna()]
        syn = rows[(_ints(rows, "tcp_flags") & SYN) != 0]
        if len(syn):
            return (int(syn["tcp_seq"].iloc[0]) + 1) % 2**32
        return int(rows["tcp_seq"].iloc[0]) if len(rows) else 0


def _acks(rows: pd.DataFrame, origin: int) -> Acks:
    ack = _ints(rows, "tcp_ack")
    flags, payload = _ints(rows, "tcp_flags"), _payload(rows)
    sacked = [_above(sack, number) for sack, number in zip(rows["sack"], ack, strict=True)]
    return Acks(
        utc_ns=rows["utc_ns"].to_numpy(),
        ack=unwrap(ack, origin),
        sacked_bytes=np.array(sacked, dtype=np.uint32),
        is_pure=(payload == 0) & ((flags & (SYN | _FIN | _RST)) == 0),
    )


def _above(sack: Any, ack: int) -> int:
    """Return how far above the ACK its highest block ends; one below is a D-SACK (RFC 2883)."""
    edges = [] if sack is None else [int(edge) for edge in sack[1::2]]
    distances = [(edge - int(ack)) % 2**32 for edge in edges]
    return max((distance for distance in distances if distance < 2**31), default=0)


def _stamps(rows: pd.DataFrame, name: str) -> Stamps:
    rows = rows[rows[name].notna()]
    value = _ints(rows, name)
    changes = np.concatenate([[True], value[1:] != value[:-1]])[: len(value)]
    return Stamps(rows["utc_ns"].to_numpy()[changes], value[changes].astype(np.uint32))


def _digests(rows: pd.DataFrame) -> npt.NDArray[np.uint64]:
    digests: npt.NDArray[np.uint64] = rows["udp_digest"].to_numpy(dtype=np.uint64)
    return digests


def _is_part(rows: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which rows are a datagram's first fragment: the length in UDP is the whole one's."""
    return (rows["fragment"] & rows["udp_payload_bytes"].notna()).to_numpy(dtype=bool)


def _payload(rows: pd.DataFrame) -> Int:
    return _ints(rows, "tcp_payload_bytes") + _ints(rows, "udp_payload_bytes")


def _ints(rows: pd.DataFrame, name: str) -> Int:
    values: Int = rows[name].fillna(0).to_numpy().astype(np.int64)
    return values
