# SPDX-License-Identifier: Apache-2.0
"""ACK blocks: how often the direction of transmission changes, and how much each change carries.

A block is one or more ACKs between which the sender sent no payload, in the sender's capture
(Lin et al., section 6.1.1 and its note 5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ddu.readers.packets.segments import Acks, Segments, highest_before
from ddu.schema.arrays import Float, Int


@dataclass(frozen=True)
class AckBlocks:
    """The blocks of a flow, each at its first ACK."""

    utc_ns: Int
    packets: Float
    """Segments that the block newly acknowledges: bytes over the flow's mean segment."""


def ack_blocks(sent: Segments, acks: Acks) -> AckBlocks:
    """Return the blocks of ACKs without payload of their own."""
    pure = acks.where(acks.is_pure)
    sent_before = np.searchsorted(sent.utc_ns, pure.utc_ns, side="left")
    opens = np.ones(len(pure), dtype=bool)
    np.not_equal(sent_before[1:], sent_before[:-1], out=opens[1:])
    first = np.flatnonzero(opens)
    before = highest_before(pure.ack)
    advance = np.maximum(pure.ack - before, 0)
    acknowledged = np.add.reduceat(advance, first) if len(first) else advance
    segment_bytes = sent.payload_bytes.sum() / max(int(sent.segment_count.sum()), 1)
    return AckBlocks(pure.utc_ns[first], acknowledged / max(float(segment_bytes), 1.0))
