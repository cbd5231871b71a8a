# SPDX-License-Identifier: Apache-2.0
"""The packets of one flow in one capture, with sequence numbers that no longer wrap.

The columns are as narrow as their values: a run at 1 Gbit/s has tens of millions of packets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ddu.schema.arrays import Int, UInt32

SYN, ACK = 0x02, 0x10
"""TCP flags (RFC 9293, section 3.1)."""

Correction = Callable[[Int], Int]
"""A map from instants on one clock to those on another (ns)."""


@dataclass(frozen=True)
class Stamps:
    """Values of the timestamps option (RFC 7323) at the packets where they change."""

    utc_ns: Int
    value: UInt32


@dataclass(frozen=True)
class Segments:
    """Packets with payload of one direction of a TCP or UDP flow, in the order of capture.

    A packet may be a super-packet that the host's segmentation offload has yet to cut (GSO) or
    has already merged (GRO): `segment_count` says how many packets it is on a wire.
    """

    utc_ns: Int
    seq: Int
    """First payload byte, counted from the first byte of the stream (TCP), without wrapping."""
    payload_bytes: UInt32
    segment_count: UInt32
    header_bytes: npt.NDArray[np.uint16]
    """IP headers and those of the transport, of each segment."""
    digest: npt.NDArray[np.uint64]
    """UDP only: by which a datagram is known again in the other capture. TCP: empty."""

    def __len__(self) -> int:
        return len(self.utc_ns)

    @property  # not kept: it would be a third of the memory of a long run's packets
    def end(self) -> Int:
        return self.seq + self.payload_bytes

    @property
    def ip_bytes(self) -> UInt32:
        """Bytes on a wire, IP headers included, once per segment of a super-packet."""
        size: UInt32 = self.segment_count * self.header_bytes + self.payload_bytes
        return size

    def where(self, mask: npt.NDArray[np.bool_]) -> Segments:
        return _where(self, mask)


@dataclass(frozen=True)
class Acks:
    """Packets with the ACK flag of one direction of a TCP flow, in the order of capture."""

    utc_ns: Int
    ack: Int
    """Next byte of the other direction that is expected, without wrapping."""
    sacked_bytes: UInt32
    """The distance from `ack` to the end of the highest SACK block (RFC 2018); 0 without one."""
    is_pure: npt.NDArray[np.bool_]
    """Without payload, SYN, FIN and RST."""

    def __len__(self) -> int:
        return len(self.utc_ns)

    def where(self, mask: npt.NDArray[np.bool_]) -> Acks:
        return _where(self, mask)


_COLUMNS = {kind: tuple(part.name for part in fields(kind)) for kind in (Segments, Acks)}
_Rows = TypeVar("_Rows", Segments, Acks)
_Timed = TypeVar("_Timed", Segments, Acks, Stamps)


@dataclass(frozen=True)
class Direction:
    """One direction of a connection in one capture."""

    payload: Segments
    acks: Acks
    tsval: Stamps
    """The timestamps of packets with payload."""
    tsecr: Stamps
    """The echoed timestamps of packets with the ACK flag."""

    def on(self, corrected: Correction) -> Direction:
        """The same packets with their times corrected."""
        return Direction(
            payload=_on(corrected, self.payload),
            acks=_on(corrected, self.acks),
            tsval=_on(corrected, self.tsval),
            tsecr=_on(corrected, self.tsecr),
        )

    def since(self, shift: int, ack_shift: int) -> Direction:
        """The numbers counted from other origins."""
        payload, acks = self.payload, self.acks
        return replace(
            self,
            payload=replace(payload, seq=payload.seq + shift) if shift else payload,
            acks=replace(acks, ack=acks.ack + ack_shift) if ack_shift else acks,
        )


def _on(corrected: Correction, rows: _Timed) -> _Timed:
    return replace(rows, utc_ns=corrected(rows.utc_ns))


def unwrap(numbers: npt.NDArray[np.generic], origin: int) -> Int:
    """32-bit sequence numbers as distances from `origin`, neighbours never 2³¹ or more apart."""
    wrapped = np.concatenate([[np.uint32(origin)], numbers.astype(np.uint32)])
    steps = np.diff(wrapped).astype(np.int32)
    return np.cumsum(steps, dtype=np.int64)


def highest_before(end: Int) -> Int:
    """Return for each packet the highest sequence number that packets before it reached."""
    before = np.empty_like(end)
    if len(end):
        before[0] = 0
        np.maximum.accumulate(end[:-1], out=before[1:])
        np.maximum(before, 0, out=before)
    return before


def _where(rows: _Rows, mask: npt.NDArray[np.bool_]) -> _Rows:
    columns = [getattr(rows, name) for name in _COLUMNS[type(rows)]]
    return type(rows)(*[column[mask] if len(column) else column for column in columns])
