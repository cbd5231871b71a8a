# SPDX-License-Identifier: Apache-2.0
"""One-way delay: the same byte in both captures."""

from __future__ import annotations

import numpy as np

from ddu.tables.bins import Int
from ddu.transport.ranges import contains
from ddu.transport.rtt import Samples
from ddu.transport.segments import Segments, highest_before


def one_way_delay(sent: Segments, received: Segments, resent: tuple[Int, Int]) -> Samples:
    """Delay of each received packet, seen when it is received.

    Segmentation offloads cut and merge packets differently at the two ends, so packets are matched
    by byte: from the packet that sent a received packet's last byte to its reception. Bytes that
    were sent more than once are left out, as nobody can say which copy arrived.
    """
    fresh = sent.where(sent.end > highest_before(sent.end))
    last_byte = received.end - 1
    index = np.searchsorted(fresh.end, last_byte, side="right")
    known = (index < len(fresh)) & (received.payload_bytes > 0) & ~contains(resent, last_byte)
    sent_utc_ns = fresh.utc_ns[index[known]]
    received_utc_ns = received.utc_ns[known]
    return Samples(received_utc_ns, (received_utc_ns - sent_utc_ns) / 1e6)
