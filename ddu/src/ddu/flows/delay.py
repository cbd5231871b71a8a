# SPDX-License-Identifier: Apache-2.0
"""One-way delay: the same byte in both captures."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ddu.flows.rtt import Samples, sending_of
from ddu.readers.packets.segments import Segments
from ddu.schema.arrays import Int


def one_way_delay(
    sent: Segments, received: Segments, resent: tuple[Int, Int]
) -> tuple[Samples, npt.NDArray[np.bool_]]:
    """Return the delay of received packets, at the time when each is received, and which of
    `received` these are.

    Segmentation offloads cut and merge packets differently at the two ends, so packets are matched
    by byte: from the packet that sent a received packet's last byte to its reception. Bytes that
    were sent more than once are left out, as it is not known which copy arrived.
    """
    sent_utc_ns, known = sending_of(received.end - 1, sent, resent)
    received_utc_ns = received.utc_ns[known]
    delay = Samples(received_utc_ns, (received_utc_ns - sent_utc_ns) / 1e6)
    return delay, known
