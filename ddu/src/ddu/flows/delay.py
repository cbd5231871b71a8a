# SPDX-License-Identifier: Apache-2.0
"""One-way delay: the same byte in both captures."""

from __future__ import annotations

from ddu.flows.rtt import Samples, sending_of
from ddu.readers.packets.segments import Segments
from ddu.schema.arrays import Int, UInt32


def one_way_delay(
    sent: Segments, received: Segments, resent: tuple[Int, Int]
) -> tuple[Samples, UInt32]:
    """Return the delay of each received packet, at the time when it is received, and how many
    segments it stands for.

    Segmentation offloads cut and merge packets differently at the two ends, so packets are matched
    by byte: from the packet that sent a received packet's last byte to its reception. Bytes that
    were sent more than once are left out, as it is not known which copy arrived.
    """
    sent_utc_ns, known = sending_of(received.end - 1, sent, resent)
    received_utc_ns = received.utc_ns[known]
    delay = Samples(received_utc_ns, (received_utc_ns - sent_utc_ns) / 1e6)
    return delay, received.segment_count[known]


def one_way_instants(
    sent: Segments, received: Segments, resent: tuple[Int, Int]
) -> tuple[Int, Int]:
    """Return when each received packet was sent, and received, where that is known (see above)."""
    sent_utc_ns, known = sending_of(received.end - 1, sent, resent)
    return sent_utc_ns, received.utc_ns[known]
