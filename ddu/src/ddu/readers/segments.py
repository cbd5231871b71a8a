# SPDX-License-Identifier: Apache-2.0
"""A capture, split into the connections it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.align.clocks.clock import RUN_CLOCK, Clock
from ddu.errors import UnreadableInput
from ddu.metrics.segments import Acks, Direction, Segments, Stamps
from ddu.packets import Reader
from ddu.tables.bins import Int


@dataclass(frozen=True)
class Wanted:
    """Connections whose packets are looked at one by one; a port of None stands for any."""

    src: str
    sport: int | None
    dst: str
    dport: int | None


@dataclass(frozen=True)
class Rows:
    """A direction's packets, and the header's numbers that theirs count from."""

    direction: Direction
    origin: int
    ack_origin: int


class Source(Protocol):
    """A reader's way to split a capture."""

    flows: pd.DataFrame
    """As `ddu.packets.Capture.flows`, with `origin`, the number of the stream's first byte, and
    `wire_ip_bytes`, headers once per segment of a super-packet."""
    packet_count: int
    truncated_at: int | None

    def rows(self, flow: int) -> Rows | None: ...


class SplitCapture:
    """The wanted connections of one capture, both directions of each, found at once.

    `clock` tells what this host's clock is ahead of the run's; every time is given on the run's.
    Raises UnreadableInput when the file cannot be read or holds no packet.
    """

    def __init__(
        self, file: Path, reader: Reader, wanted: Sequence[Wanted], mtu_bytes: int
    ) -> None:
        self._source = _source(file, reader, wanted, mtu_bytes)
        if not self._source.packet_count:
            raise UnreadableInput(file, "a capture without a packet", "was there any traffic?")
        self.file = file
        self.truncated_at = self._source.truncated_at
        self.clock: Clock = RUN_CLOCK

    @property
    def connections(self) -> pd.DataFrame:
        """One row per direction of a 5-tuple."""
        instants = {
            name: self.clock.corrected(self._source.flows[name].to_numpy())
            for name in ("first_utc_ns", "last_utc_ns")
        }
        return self._source.flows.assign(**instants)

    def protocol(self, connection: int) -> int:
        """IANA's number."""
        return int(self._numbers["proto"][connection])

    def connection(self, src: str, sport: int, dst: str, dport: int) -> int | None:
        """Row of `connections` with this 5-tuple (TCP or UDP), the largest of two."""
        return self._by_ends.get((src, sport, dst, dport))

    @cached_property
    def _by_ends(self) -> dict[tuple[object, ...], int]:
        """So that many flows cost no more each than few."""
        rows = self._source.flows.sort_values("ip_bytes", kind="stable")
        ends = zip(rows["src"], rows["sport"], rows["dst"], rows["dport"], strict=True)
        return dict(zip(ends, map(int, rows["flow"]), strict=True))

    def origin(self, connection: int) -> int:
        """Sequence number of the stream's first byte, as the header has it."""
        return int(self._numbers["origin"][connection])

    def direction(self, connection: int | None, origin: int, ack_origin: int) -> Direction:
        """One direction's packets, sequence numbers counted from the origins; empty if unwanted."""
        rows = None if connection is None else self._source.rows(connection)
        if rows is None:
            return NOTHING
        payload, acks = rows.direction.payload, rows.direction.acks
        counted = rows.direction.since(
            _shift(payload.seq, rows.origin, origin), _shift(acks.ack, rows.ack_origin, ack_origin)
        )
        return counted.on(self.clock)

    def wire_ip_bytes(self, connection: int | None) -> int:
        """IP bytes of a connection, headers once per segment of a super-packet."""
        return 0 if connection is None else int(self._numbers["wire_ip_bytes"][connection])

    @cached_property
    def _numbers(self) -> dict[str, npt.NDArray[np.generic]]:
        names = ("proto", "origin", "wire_ip_bytes")
        return {name: self._source.flows[name].to_numpy() for name in names}

    def total_ip_bytes(self, dst: str) -> int:
        """IP bytes of every packet to `dst`, headers once per segment of a super-packet."""
        rows = self._source.flows
        return int(rows["wire_ip_bytes"][rows["dst"] == dst].sum())


def _source(file: Path, reader: Reader, wanted: Sequence[Wanted], mtu_bytes: int) -> Source:
    from ddu.readers.split_dpkt import SplitByDpkt
    from ddu.readers.split_native import SplitNatively

    chosen: type[SplitByDpkt] | type[SplitNatively]
    chosen = SplitByDpkt if reader == "dpkt" else SplitNatively
    return chosen(file, wanted, mtu_bytes)


def _shift(numbers: Int, origin: int, wanted_origin: int) -> int:
    """What makes numbers from one origin such from the other, the first within ±2³¹ of it."""
    if not len(numbers) or origin == wanted_origin:
        return 0
    first = int(numbers[0])
    distance = np.uint32((origin + first - wanted_origin) % 2**32).astype(np.int32)
    return int(distance) - first


def _none(dtype: npt.DTypeLike) -> npt.NDArray[np.generic]:
    return np.zeros(0, dtype=dtype)


NOTHING = Direction(
    payload=Segments(*map(_none, ("i8", "i8", "u4", "u4", "u2", "u8"))),  # type: ignore[arg-type]
    acks=Acks(*map(_none, ("i8", "i8", "u4", "?"))),  # type: ignore[arg-type]
    tsval=Stamps(*map(_none, ("i8", "u4"))),  # type: ignore[arg-type]
    tsecr=Stamps(*map(_none, ("i8", "u4"))),  # type: ignore[arg-type]
)
"""The direction of a connection that the capture does not have."""
