# SPDX-License-Identifier: Apache-2.0
"""Connections of a capture by the native reader, in some 25 bytes a packet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ddu import _packets
from ddu.readers.packets.connections import Rows, Wanted
from ddu.readers.packets.native.faults import faults_of
from ddu.readers.packets.segments import Acks, Direction, Segments, Stamps

_Wanted = tuple[Any, int | None, Any, int | None, bool, bool]


class NativeConnections:
    """The connections of a capture; see ddu.readers.packets.connections."""

    def __init__(self, file: Path, wanted: Sequence[Wanted], mtu_bytes: int) -> None:
        tuples = [both for one in wanted for both in _both_directions(one)]
        with faults_of(file):
            self._split = _packets.split(file, tuples, mtu_bytes)
        self.flows: pd.DataFrame = pa.record_batch(self._split.flows).to_pandas()
        self.packet_count = self._split.packet_count
        self.truncated_at = self._split.truncated_at

    def rows(self, flow: int) -> Rows | None:
        """Return the packets of a direction, without a copy; None if it is not a wanted one."""
        batches = self._split.connection(flow)
        if batches is None:
            return None
        payload, acks, tsval, tsecr = (_arrays(batch) for batch in batches[:4])
        digest = payload.pop("digest", np.zeros(0, dtype=np.uint64))
        payload.setdefault("seq", np.zeros(len(digest), dtype=np.int64))
        direction = Direction(
            payload=Segments(**payload, digest=digest),
            acks=Acks(**acks | {"is_pure": acks["is_pure"].view(np.bool_)}),
            tsval=Stamps(**tsval),
            tsecr=Stamps(**tsecr),
        )
        return Rows(direction, origin=batches[4], ack_origin=batches[5])


_address = lru_cache(ip_address)
"""Many flows share few of them."""


def _both_directions(wanted: Wanted) -> tuple[_Wanted, _Wanted]:
    src, dst = _address(wanted.src), _address(wanted.dst)
    forth = (src, wanted.sport, dst, wanted.dport, True, False)
    return forth, (dst, wanted.dport, src, wanted.sport, False, True)


def _arrays(batch: object) -> dict[str, Any]:
    table = pa.record_batch(batch)
    return {name: table[name].to_numpy(zero_copy_only=True) for name in table.schema.names}
