# SPDX-License-Identifier: Apache-2.0
"""Connections of a capture whose packets are wanted, and the form in which a reader gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from ddu.readers.packets.segments import Direction


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


class Connections(Protocol):
    """The connections of one capture, as a packet reader finds them."""

    flows: pd.DataFrame
    """The rows of Capture.flows with `origin`, the number of the stream's first byte, and
    `wire_ip_bytes`, headers once per segment of a super-packet."""
    packet_count: int
    truncated_at: int | None

    def rows(self, flow: int) -> Rows | None:
        """Return the packets of a direction; None if it is not a wanted one."""
