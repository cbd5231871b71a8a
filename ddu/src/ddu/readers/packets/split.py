# SPDX-License-Identifier: Apache-2.0
"""A capture, split into the connections it holds."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from ddu.errors import UnreadableInput
from ddu.readers.packets.connections import Wanted
from ddu.readers.packets.implementations import Reader, implementation
from ddu.readers.packets.segments import Acks, Correction, Direction, Segments, Stamps
from ddu.schema.arrays import Int


def _as_captured(utc_ns: Int) -> Int:
    return utc_ns


class SplitCapture:
    """The connections of one capture, and the packets of the wanted ones, both directions of each.

    Times are those of the host that captured, unless `on` gave a correction.
    Raises UnreadableInput when the file cannot be read or holds no packet.
    """

    def __init__(
        self, file: Path, reader: Reader, wanted: Sequence[Wanted], mtu_bytes: int
    ) -> None:
        self._source = implementation(reader).split(file, wanted, mtu_bytes)
        if not self._source.packet_count:
            raise UnreadableInput(file, "a capture without a packet", "was there any traffic?")
        self.file = file
        self.truncated_at = self._source.truncated_at
        self._corrected: Correction = _as_captured

    def on(self, corrected: Correction) -> SplitCapture:
        """The same capture with its times corrected."""
        same = copy(self)
        same._corrected = corrected
        return same

    @property
    def connections(self) -> pd.DataFrame:
        """One row per direction of a 5-tuple."""
        instants = {
            name: self._corrected(self._source.flows[name].to_numpy())
            for name in ("first_utc_ns", "last_utc_ns")
        }
        return self._source.flows.assign(**instants)

    @property
    def last_utc_ns(self) -> int:
        """The last packet of any connection."""
        return int(self._corrected(self._source.flows["last_utc_ns"].to_numpy()).max())

    def protocol(self, connection: int) -> int:
        """Return the IANA protocol number."""
        return int(self._numbers["proto"][connection])

    def connection(self, src: str, sport: int, dst: str, dport: int) -> int | None:
        """Row of `connections` with this 5-tuple (TCP or UDP), the largest of two."""
        return self._by_ends.get((src, sport, dst, dport))

    @cached_property
    def _by_ends(self) -> dict[tuple[object, ...], int]:
        """Rows by 5-tuple: the cost of a flow does not grow with their number."""
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
        return counted.on(self._corrected)

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


def _shift(numbers: Int, origin: int, wanted_origin: int) -> int:
    """Return what to add so that numbers count from the other origin, the first within ±2³¹."""
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
